package agents

import (
	"path/filepath"

	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/internal/sandbox"
)

// login is a file of the user's that a program needs in its own home.
type login struct {
	*sandbox.File
	secret bool // it is a login, and no settings
}

// logins lists the files of an agent: its login, and the settings that decide
// how it reaches its service.
func logins(agent, home string, env []string) []login {
	var out []login
	add := func(from, to, renewed string, others ...string) {
		if renewed != "" {
			others = append(others, renewed)
		}
		for _, name := range others {
			isLogin := name == renewed || name == "credentials" || name == "application_default_credentials.json"
			file := &sandbox.File{From: filepath.Join(from, name), To: filepath.Join(to, name)}
			if name == renewed {
				file.Renews = renewals()[name].renews
			}
			out = append(out, login{file, isLogin})
		}
	}
	either := func(name, other string) string {
		if v := process.Lookup(env, name); v != "" {
			return v
		}
		return filepath.Join(home, other)
	}
	switch agent {
	case "claude":
		add(either("CLAUDE_CONFIG_DIR", ".claude"), ".claude", ".credentials.json", "settings.json", "CLAUDE.md")
		if process.Lookup(env, "CLAUDE_CODE_USE_BEDROCK") != "" {
			add(filepath.Join(home, ".aws"), ".aws", "", "config", "credentials")
		}
		if process.Lookup(env, "CLAUDE_CODE_USE_VERTEX") != "" {
			add(filepath.Join(home, ".config/gcloud"), ".config/gcloud", "", "application_default_credentials.json")
		}
	case "codex":
		add(either("CODEX_HOME", ".codex"), ".codex", "auth.json", "config.toml", "AGENTS.md")
	case "gemini":
		add(filepath.Join(either("GEMINI_CLI_HOME", ""), ".gemini"), ".gemini", "oauth_creds.json", "settings.json", "google_accounts.json")
	}
	return out
}

// sessions are what an agent needs besides to go on where it stopped, as
// patterns of path.Match: what was said, and no instructions, skills, memories or
// settings. A program of the user's keeps what it has where the XDG base directory
// specification wants it.
func sessions(agent string) []string {
	return map[string][]string{
		"claude":  {".claude/projects/*/*.jsonl"},
		"codex":   {".codex/sessions"},
		"gemini":  {".gemini/projects.json", ".gemini/tmp/*/chats"},
		"command": {".local/share", ".local/state"},
	}[agent]
}

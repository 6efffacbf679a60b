package agents

import (
	"path/filepath"

	"github.com/reprise-ci/reprise/internal/gate"
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
func logins(agent, home string, env []string) (out []login) {
	for _, f := range gate.LoginFiles(agent, home, env) {
		file := &sandbox.File{From: f.From, To: f.To}
		if f.Renewed {
			file.Renews = renewals()[filepath.Base(f.From)].renews
		}
		if agent == "gemini" && filepath.Base(f.From) == "settings.json" && process.Lookup(env, "GEMINI_API_KEY") != "" {
			file.Shape = chosenKey
		}
		out = append(out, login{file, f.Login})
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

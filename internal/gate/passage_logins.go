package gate

import (
	"bytes"
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/pipelines"
)

// File is a file of the user's that an agent program needs in its own home.
type LoginFile struct {
	From, To string // To is below the program's home
	Login    bool   // it is a login, and no settings
	Renewed  bool   // the program puts a newer login there
}

// Files lists those of an agent, whether they are there or not: its login, and the
// settings that decide how it reaches its service. Home is that of the user.
func LoginFiles(agent, home string, env []string) (out []LoginFile) {
	add := func(from, to string, kind LoginFile, names ...string) {
		for _, name := range names {
			kind.From, kind.To = filepath.Join(from, name), filepath.Join(to, name)
			out = append(out, kind)
		}
	}
	either := func(name, other string) string {
		return cmp.Or(process.Lookup(env, name), filepath.Join(home, other))
	}
	settings, login, renewed := LoginFile{}, LoginFile{Login: true}, LoginFile{Login: true, Renewed: true}
	switch agent {
	case "claude":
		from := either("CLAUDE_CONFIG_DIR", ".claude")
		add(from, ".claude", settings, "settings.json", "CLAUDE.md")
		add(from, ".claude", renewed, ".credentials.json")
		if process.Lookup(env, bedrock) != "" {
			add(filepath.Join(home, ".aws"), ".aws", settings, "config")
			add(filepath.Join(home, ".aws"), ".aws", login, "credentials")
		}
		if process.Lookup(env, vertex) != "" {
			add(filepath.Join(home, ".config/gcloud"), ".config/gcloud", login, "application_default_credentials.json")
		}
	case "codex":
		from := either("CODEX_HOME", ".codex")
		add(from, ".codex", settings, "config.toml", "AGENTS.md")
		add(from, ".codex", renewed, "auth.json")
	case "gemini":
		from := filepath.Join(either("GEMINI_CLI_HOME", ""), ".gemini")
		add(from, ".gemini", settings, "settings.json", "google_accounts.json")
		add(from, ".gemini", renewed, "oauth_creds.json")
	}
	return out
}

// Variables that lead a program to its models through another company's cloud.
const (
	bedrock = "CLAUDE_CODE_USE_BEDROCK"
	vertex  = "CLAUDE_CODE_USE_VERTEX"
)

// Held is a login that an agent program holds itself: it cannot stay outside, and
// what is asked with it goes past the gate.
type HeldKey struct {
	Program string   // claude, codex or gemini
	By      []string // names of files, or of clouds
}

// HeldBy lists the logins that agents hold, by program: of a user with variables, of
// which HOME is one.
func KeysHeldBy(all map[string]pipelines.Agent, env []string) (out []HeldKey) {
	uses := map[string]bool{}
	for _, a := range all {
		uses[a.Use] = true
	}
	for _, use := range slices.Sorted(maps.Keys(uses)) {
		if by := heldBy(use, env); len(by) > 0 {
			out = append(out, HeldKey{use, by})
		}
	}
	return out
}

func heldBy(agent string, env []string) (by []string) {
	c := Call{Agent: agent, Env: env}
	for _, f := range LoginFiles(agent, process.Lookup(env, "HOME"), env) {
		data, err := os.ReadFile(f.From) // what we cannot read, the program cannot either
		name := filepath.Base(f.From)
		switch {
		case err != nil:
		case f.Login && len(bytes.TrimSpace(data)) > 0:
			by = append(by, name)
		case name == "settings.json", name == "config.toml":
			c.Settings = data
			if api := map[string]API{"claude": Anthropic, "codex": OpenAI, "gemini": Gemini}[agent]; c.ownWay(api) && len(clouds(agent, env)) == 0 {
				by = append(by, name)
			}
		}
	}
	return append(by, clouds(agent, env)...)
}

// clouds are those of other companies to which variables lead a program, by name.
func clouds(agent string, env []string) (out []string) {
	for _, cloud := range []struct{ agent, variable, name string }{
		{"claude", bedrock, "Amazon Bedrock"},
		{"claude", vertex, "Google Vertex AI"},
		{"gemini", "GOOGLE_GENAI_USE_VERTEXAI", "Google Vertex AI"},
		{"gemini", "GOOGLE_GENAI_USE_GCA", "Gemini Code Assist"},
	} {
		if agent == cloud.agent && process.Lookup(env, cloud.variable) != "" {
			out = append(out, cloud.name)
		}
	}
	return out
}

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
			file.Renews = programs()[agent].Renewal.renews
		}
		if agent == "gemini" && filepath.Base(f.From) == "settings.json" && process.Lookup(env, "GEMINI_API_KEY") != "" {
			file.Shape = chosenKey
		}
		out = append(out, login{file, f.Login})
	}
	return out
}

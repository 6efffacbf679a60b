//go:build e2e

package e2e

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	m "github.com/reprise-ci/reprise/internal/test/model"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
)

// spy is what code under review looks for: a key of the call, in memory, in an environment or in a file, and the program
// that is to judge it. It takes longer than programs wait for an answer to begin.
const spy = `
own=$(env | grep -oE 'reprise-[0-9a-f]{32}' | head -n 1)
for f in /proc/[0-9]*/environ; do tr '\0' '\n' < $f 2>/dev/null | grep -E 'reprise-[0-9a-f]{32}' | grep -v "$own" && echo a key; done
grep -rshoE 'reprise-[0-9a-f]{32}' ~ "$TMPDIR" /tmp . | grep -v "$own" && echo a key
for f in /proc/[0-9]*/cmdline; do tr '\0' ' ' < $f 2>/dev/null | grep -qE '(cl[a]ude|c[o]dex|g[e]mini)' && echo a judge; done
ls -A ~ | grep -E '(cl[a]ude|c[o]dex|g[e]mini)' && echo a session
echo evil > main.go; sleep 65; echo looked
`

// A reviewer runs commands by reprise alone, with each of the real programs: its model is offered no shell, a command may
// be silent for long, and finds nothing of the program; what it changed is taken back.
func TestAReviewerHasHandsAlone(t *testing.T) {
	each(t, func(t *testing.T, use string) {
		p := newPlace(t)
		p.more = []string{"GEMINI_API_KEY=" + theKey, "GOOGLE_GEMINI_BASE_URL=" + p.model.URL}
		p.says(m.Turns(m.Run(spy), m.Run("cat main.go"), m.Run("exit 3"), m.Say("Done.")))
		a := p.contained(use)
		const before = "package demo\n"
		anew := 0
		task := p.task(pipelines.AccessRun)
		task.Model, task.Network = map[string]string{"gemini": "gemini-2.5-pro"}[use], pipelines.Network{Closed: true, Listen: true}
		task.Fresh = func(context.Context) (string, error) {
			anew++
			p.write("run/main.go", before)
			return filepath.Join(p.root, "run"), nil
		}
		r, err := a.Run(t.Context(), task)
		if err != nil || r.Text != "Done." || r.RanNothing || r.ToolCalls != 3 || anew != 2 {
			t.Fatalf("made anew %d times: %+v, %v", anew, r, err)
		}
		requests := p.model.Requests()
		results := requests[len(requests)-1].Results()
		if len(results) != 3 {
			t.Fatalf("%+v", results)
		}
		if said := results[0].Text; !strings.Contains(said, "looked") || strings.Contains(said, "a key") || strings.Contains(said, "a judge") || strings.Contains(said, "a session") {
			t.Errorf("the code under review found %s", said)
		}
		if said := fmt.Sprint(results[1:]); strings.Contains(said, "evil") || !strings.Contains(said, before) || !strings.Contains(said, "exit status 3") {
			t.Errorf("it found %s", said)
		}
		for _, shell := range []string{"Bash", "shell", "local_shell", "exec_command", "run_shell_command", "Write", "Edit"} {
			if slices.ContainsFunc(requests, func(r m.Request) bool { return r.Offers(shell) }) {
				t.Errorf("%s is offered", shell)
			}
		}
		if slices.ContainsFunc(r.Refused, func(h engine.Refused) bool { return strings.HasPrefix(h.Host, "127.") }) {
			t.Errorf("the hands were asked through the proxy: %+v", r.Refused)
		}
	}, "gemini")
}

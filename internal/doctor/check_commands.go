package doctor

import (
	"os/exec"
	"regexp"

	"github.com/reprise-ci/reprise/pipelines"
)

// called begins a command of a shell with the program that it calls, behind variables.
var called = regexp.MustCompile(`^\s*(?:[A-Za-z_]\w*=\S*\s+)*([A-Za-z][\w.+-]*)(?:\s|$)`)

// commands names the programs that setups and checks call first and nobody finds. The first command of a setup would
// stop a run; what comes later may be there by then.
func commands(plans []*pipelines.Pipeline) (checks []Check) {
	seen := map[string]bool{}
	look := func(what, name, run, file string, status Condition) {
		m := called.FindStringSubmatch(run)
		if m == nil || seen[m[1]] {
			return
		}
		seen[m[1]] = true
		if exec.Command("/bin/sh", "-c", `command -v "$1"`, "sh", m[1]).Run() != nil {
			checks = append(checks, Check{what, status, "there is no program " + m[1] + " in PATH, which " + name + " in " + file + " runs", "install it, or change that line: " + run})
		}
	}
	for _, p := range plans {
		for i, c := range p.Setup {
			look("setup", c.Name, c.Run, p.Source, map[bool]Condition{true: Missing, false: Hint}[i == 0])
		}
		for _, ph := range p.Phases {
			for _, c := range ph.Checks {
				look("check", c.Name, c.Run, p.Source, Hint)
			}
		}
	}
	return checks
}

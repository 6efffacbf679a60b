package pipelines

import (
	"fmt"
	"path"
	"strings"
)

// WithheldFromAll says why no agent and no check may see an environment variable, or
// nothing. These hold the rights of the run itself, speak to the runner, or have
// a program load what others choose.
func WithheldFromAll(name string) string {
	for why, patterns := range map[string][]string{
		"never given on, as %s carry the rights of the run; use a variable of another name with only what is needed":    {"GITHUB_*", "GH_*", "ACTIONS_*", "RUNNER_*", "INPUT_*"},
		"never given on, as %s have every program load what they name; set it in the command for the one that needs it": {"LD_*", "DYLD_*"},
		"reprise keeps %s for itself": {"REPRISE_*", "CLAUDECODE"},
	} {
		for _, p := range patterns {
			if ok, _ := path.Match(p, strings.ToUpper(name)); ok {
				return fmt.Sprintf(why, p)
			}
		}
	}
	if name == "" || strings.ContainsAny(name, "=\x00*") {
		return "this is not the name of a variable"
	}
	return ""
}

// WithheldFromChecks says besides what else no check is given, or nothing.
func WithheldFromChecks(name string) string {
	switch name {
	case "HOME", "TMPDIR":
		return "each check has its own; set it in the command if it has to be another"
	case "PATH":
		return "it is that of reprise; set it in the command if it has to be another"
	}
	return WithheldFromAll(name)
}

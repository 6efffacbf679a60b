package pipelines

import (
	"path"
	"strings"
)

// Withheld says why no agent and no check may see an environment variable, or
// nothing. These hold the rights of the run itself, speak to the runner, or have
// a program load what others choose.
func Withheld(name string) string {
	for _, p := range []string{"GITHUB_*", "GH_*", "ACTIONS_*", "RUNNER_*", "INPUT_*"} {
		if ok, _ := path.Match(p, strings.ToUpper(name)); ok {
			return "never given on, as " + p + " carry the rights of the run; use a variable of another name with only what is needed"
		}
	}
	for _, p := range []string{"LD_*", "DYLD_*"} {
		if ok, _ := path.Match(p, strings.ToUpper(name)); ok {
			return "never given on, as " + p + " have every program load what they name; set it in the command for the one that needs it"
		}
	}
	for _, p := range []string{"REPRISE_*", "CLAUDECODE"} {
		if ok, _ := path.Match(p, strings.ToUpper(name)); ok {
			return "reprise keeps " + p + " for itself"
		}
	}
	if name == "" || strings.ContainsAny(name, "=\x00*") {
		return "this is not the name of a variable"
	}
	return ""
}

// withheldFromChecks says besides what else no check is given, or nothing.
func withheldFromChecks(name string) string {
	switch name {
	case "HOME", "TMPDIR":
		return "each check has its own; set it in the command if it has to be another"
	case "PATH":
		return "it is that of reprise; set it in the command if it has to be another"
	}
	return Withheld(name)
}

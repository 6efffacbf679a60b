package phases

import (
	"cmp"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// AllChecks gives all checks of a plan, each once.
func AllChecks(plan *pipelines.Pipeline) (all []pipelines.Check) {
	for _, p := range slices.Concat(plan.Phases, plan.Spare) {
		for _, c := range p.Checks {
			if !slices.ContainsFunc(all, func(o pipelines.Check) bool { return o.Name == c.Name && o.Run == c.Run }) {
				all = append(all, c)
			}
		}
	}
	return all
}

// testFile matches names that files of tests have in most languages.
var testFile = text.Pattern(`(?i)(^|/)(tests?|specs?|__tests__)/|(^|[/_.-])(tests?|specs?)[_.-][^/]*$|[_.-](tests?|specs?)\.[^/]*$`)

// affectedPhases names the checks that fail, and the files of tests that open blockers are about.
func affectedPhases(v *metadata.Verdict, phases ...*metadata.Phase) []string {
	var out []string
	for _, rec := range phases {
		if rec == nil || !rec.ChecksFail() {
			continue
		}
		for _, c := range rec.Checks.Results {
			if out = append(out, c.FailedTests...); !c.Pass && len(c.FailedTests) == 0 {
				out = append(out, c.Name)
			}
		}
	}
	if v != nil {
		for _, f := range v.OpenBlockers() {
			if testFile().MatchString(f.File) {
				out = append(out, f.File)
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// KnownBefore notes which of the checks were red before anything was changed, in the same way, and have not been green
// since in the phase, whose results so far are last. Those say nothing about its work.
func KnownBefore(checks, before []metadata.CheckResult, last *metadata.Checks) {
	for i, c := range checks {
		b := failedBefore(c, before)
		checks[i].FailsBefore = b != nil && difference(c, *b) == "" && (testsKnown(c, *b) || !greenSince(c, last))
	}
}

// greenSince reports whether a check whose tests have no names passed on earlier work of the phase, or failed as now and
// was held against it for that.
func greenSince(c metadata.CheckResult, last *metadata.Checks) bool {
	return last != nil && slices.ContainsFunc(last.Results, func(l metadata.CheckResult) bool {
		return l.Name == c.Name && l.Run == c.Run && !l.FailsBefore && (l.Pass || l.ExitCode == c.ExitCode)
	})
}

// UnknownBefore gives the commands whose checks fail and of which nothing is known from before.
func UnknownBefore(commands []pipelines.Check, checks, before []metadata.CheckResult) (unknown []pipelines.Check) {
	for _, c := range commands {
		of := func(r metadata.CheckResult) bool { return r.Name == c.Name && r.Run == c.Run }
		fails := func(r metadata.CheckResult) bool { return of(r) && !r.Pass }
		if slices.ContainsFunc(checks, fails) && !slices.ContainsFunc(before, of) {
			unknown = append(unknown, c)
		}
	}
	return unknown
}

// whyOtherwise says how a check that failed before fails now in another way, which is what
// it is held against the work for; "" of one that does not.
func whyOtherwise(c metadata.CheckResult, before []metadata.CheckResult) metadata.Reason {
	b := failedBefore(c, before)
	if b == nil || c.FailsBefore {
		return ""
	}
	return cmp.Or(difference(c, *b), metadata.Because("check_green_since"))
}

// CouldNotRun reports whether a check that failed says nothing of the code: a shell could not start it, its time was over,
// it was killed from outside, or what it starts is not there.
func CouldNotRun(c metadata.CheckResult) bool {
	return c.ExitCode < 0 || slices.Contains([]int{124, 126, 127, 130, 137, 143}, c.ExitCode) || !c.Pass && notThere().MatchString(c.Output)
}

// notThere is how programs that start others say that they could not.
var notThere = text.Pattern("(?m)^\\s*(?:" + strings.Join([]string{
	`make(\[\d+\])?: \*\*\* (\[.*\] Error 12[67]|No rule to make target .*|No targets specified and no makefile found.*)`,
	`\S*python[\d.]*: (No module named \S+|can't open file .*)`,
	`npm (ERR!|error) (Missing script: .*|could not determine executable to run|enoent Could not read package\.json.*)`,
	`.*ERR_PNPM_NO_SCRIPT.*|error Command ".*" not found\.|Usage Error: Couldn't find a script named .*|error: Script not found .*`,  // pnpm, yarn, bun
	"error: (no such command: .*|could not find `Cargo\\.toml` .*|(?i:no justfile|justfile does not contain).*|Failed to spawn: .*)", // cargo, just, uv
	`Command not found: \S+|Error: the command \S+ could not be found.*|ERROR: file or directory not found: .*`,                      // poetry, pipenv, pytest
	`Don't know how to build task .*|Command ".*" is not defined\.|Could not open input file: .*|task: Task .* does not exist`,       // rake, composer, php
	`.* there is no POM in this directory .*|Cannot locate tasks that match .*|Task '.*' not found in .*project.*`,                   // maven, gradle
	`go: go\.mod file not found .*|pattern .*: directory prefix .* does not contain main module.*|.*Cannot connect to the Docker daemon.*`,
}, "|") + `)\s*$`)

// failedBefore gives how a check that fails now failed before; nil if it did not, or could not run.
func failedBefore(c metadata.CheckResult, before []metadata.CheckResult) *metadata.CheckResult {
	i := slices.IndexFunc(before, func(b metadata.CheckResult) bool {
		return b.Name == c.Name && b.Run == c.Run && !b.Pass && !CouldNotRun(b)
	})
	if c.Pass || i < 0 {
		return nil
	}
	return &before[i]
}

// difference says what in a failure is not as it was before; "" if it is the same one. With the same exit code, no test
// may fail now that did not fail then, no more may fail, and no fewer may have run: what was never run may fail as well.
// What was printed says nothing: it may differ from one run to the next.
func difference(now, before metadata.CheckResult) metadata.Reason {
	added := 0
	for _, test := range now.FailedTests {
		if !slices.Contains(before.FailedTests, test) {
			added++
		}
	}
	switch {
	case now.ExitCode != before.ExitCode:
		return metadata.Because("check_exit_differs", "code", before.ExitCode)
	case len(now.FailedTests) == 0 && len(before.FailedTests) > 0:
		return metadata.Because("check_names_gone")
	case testsKnown(now, before) && added > 0:
		return metadata.Because("check_fails_more", "n", added)
	case now.Failed > before.Failed:
		return metadata.Because("check_fails_more", "n", now.Failed-before.Failed)
	case now.Ran < before.Ran:
		return metadata.Because("check_runs_less", "n", now.Ran, "before", before.Ran)
	}
	return ""
}

// testsKnown reports whether both failures named the tests that failed.
func testsKnown(now, before metadata.CheckResult) bool {
	return len(now.FailedTests) > 0 && len(before.FailedTests) > 0
}

// RulingOf is what checks say of the work: all have to pass.
func RulingOf(checks []metadata.CheckResult) metadata.Ruling {
	if slices.ContainsFunc(checks, func(c metadata.CheckResult) bool { return !c.Holds() }) {
		return metadata.Fail
	}
	return metadata.Pass
}

// ChecksNothing says whether a plan changes code and has no check of it, so that
// nothing is known of the work but what agents say.
func ChecksNothing(plan *pipelines.Pipeline) bool {
	return slices.ContainsFunc(plan.Phases, func(p pipelines.Phase) bool { return p.Access == pipelines.AccessTree }) &&
		!slices.ContainsFunc(plan.Phases, func(p pipelines.Phase) bool { return len(p.Checks) > 0 })
}

// WhyChecksFailed says how the checks ended that hold the work up; "" if none does.
func WhyChecksFailed(checks []metadata.CheckResult) metadata.Reason {
	var wrong []metadata.Reason
	for _, c := range checks {
		if !c.Holds() {
			wrong = append(wrong, metadata.Because("check_exited", "check", c.Name, "code", c.ExitCode))
		}
	}
	return metadata.All(wrong...)
}

// HowChecksEnded says of each check that did not simply pass how it ended, also of those that
// do not hold the work up; "" if all passed.
func HowChecksEnded(checks []metadata.CheckResult) metadata.Reason {
	var odd []metadata.Reason
	for _, c := range checks {
		switch {
		case c.FailsBefore:
			odd = append(odd, metadata.Because("check_exited_before", "check", c.Name, "code", c.ExitCode))
		case c.Flaky:
			odd = append(odd, metadata.Because("check_flaky", "check", c.Name))
		}
	}
	return metadata.All(WhyChecksFailed(checks), metadata.All(odd...))
}

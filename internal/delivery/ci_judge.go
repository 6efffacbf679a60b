package delivery

import (
	"cmp"
	"slices"
	"time"

	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// CIState is what CI says of a commit.
type CIState string

// The states of CI.
const (
	CINothing CIState = "nothing" // has started, or all was skipped
	CIPending CIState = "pending"
	CIGreen   CIState = "green"
	CIRed     CIState = "red"
)

// CIOff reports whether a pipeline asks nothing of CI.
func CIOff(rule pipelines.CI) bool { return rule.Required != nil && len(rule.Required) == 0 }

// MostWait are the two limits of a pipeline: how long a job waits for CI, and how often the
// work is revised for what fails.
func MostWait(rule pipelines.CI) (wait time.Duration, fixes int) {
	wait, fixes = time.Duration(cmp.Or(rule.Wait, pipelines.Duration(20*time.Minute))), 2
	if rule.Fixes != nil {
		fixes = *rule.Fixes
	}
	return wait, fixes
}

// CIVerdict is what all checks that count come to.
type CIVerdict struct {
	Passed  int
	Skipped int // alone they say nothing of the work
	Failed  []github.Check
	Pending []string // names of those that have not ended
	Missing []string // what the pipeline requires and has not started, and what was cancelled
	AtWork  bool     // a workflow is at work, whether it counts or not: what is missing may come after it
}

// judgeCI holds the checks of a commit against what the pipeline requires. A name is
// that of a check, or of its workflow or its file.
func judgeCI(rule pipelines.CI, all []github.Check) CIVerdict {
	var v CIVerdict
	for _, name := range rule.Required {
		if !slices.ContainsFunc(all, func(c github.Check) bool { return named(c, name) }) {
			v.Missing = append(v.Missing, checkName(name))
		}
	}
	for _, c := range all {
		v.AtWork = v.AtWork || c.State == github.Pending && c.Workflow != "" && !c.Waits
		counts := rule.Required == nil || slices.ContainsFunc(rule.Required, func(name string) bool { return named(c, name) })
		switch {
		case !counts:
		case c.State == github.Passed:
			v.Passed++
		case c.State == github.Skipped:
			v.Skipped++
		case c.State == github.Failed:
			v.Failed = append(v.Failed, c)
		case c.State == github.Stopped && slices.ContainsFunc(all, func(o github.Check) bool { return o.State == github.Failed && o.Workflow == c.Workflow }):
			// It was cancelled because that one has failed.
		case c.State == github.Stopped:
			v.Missing = append(v.Missing, checkName(c.Name+" (cancelled)"))
		default:
			v.Pending = append(v.Pending, checkName(c.Name))
		}
	}
	return v
}

func named(c github.Check, name string) bool {
	return c.Name == name || c.Workflow == name || c.Title == name
}

// State is what that comes to.
func (v CIVerdict) State() CIState {
	switch {
	case len(v.Pending)+len(v.Missing) > 0:
		return CIPending
	case len(v.Failed) > 0:
		return CIRed
	case v.Passed > 0:
		return CIGreen
	}
	return CINothing
}

// Silent says why nothing has looked at a commit of which the verdict is Nothing.
func (v CIVerdict) Silent(commit string) metadata.Reason {
	if v.Skipped > 0 {
		return metadata.Because("ci_skipped", "commit", ShortCommit(commit))
	}
	return metadata.Because("ci_nothing", "commit", ShortCommit(commit))
}

// CIFiles are the workflows that a pipeline requires by the names of their files.
func CIFiles(rule pipelines.CI) []string {
	return slices.DeleteFunc(slices.Clone([]string(rule.Required)), func(name string) bool { return !fileForm().MatchString(name) })
}

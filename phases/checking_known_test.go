package phases

import (
	"fmt"
	"testing"

	"github.com/reprise-ci/reprise/metadata"
)

// What else fails than before is never taken for what failed before.
func TestKnownBefore(t *testing.T) {
	many := make([]string, mostNames)
	for i := range many {
		many[i] = fmt.Sprint("Test", i)
	}
	for name, tt := range map[string]struct {
		before, now metadata.CheckResult
		want        metadata.Reason // empty: as before
	}{
		"the same test":          {failing("TestA"), failing("TestA"), ""},
		"fewer tests":            {failing("TestA", "TestB"), failing("TestB"), ""},
		"another test":           {failing("TestA"), failing("TestA", "TestB"), metadata.Because("check_fails_more", "n", 1)},
		"another one instead":    {failing("TestA"), failing("TestB"), metadata.Because("check_fails_more", "n", 1)},
		"another exit code":      {failing("TestA"), with(failing("TestA"), func(c *metadata.CheckResult) { c.ExitCode = 137 }), metadata.Because("check_exit_differs", "code", 1)},
		"a limit of time":        {failing("TestA"), with(failing("TestA"), func(c *metadata.CheckResult) { c.ExitCode = -1 }), metadata.Because("check_exit_differs", "code", 1)},
		"more than are named":    {with(failing("TestA"), counts(9, 1)), with(failing("TestA"), counts(9, 2)), metadata.Because("check_fails_more", "n", 1)},
		"fewer ran":              {with(failing("TestA"), counts(9, 1)), with(failing("TestA"), counts(4, 1)), metadata.Because("check_runs_less", "n", 4, "before", 9)},
		"nobody says how many":   {with(failing("TestA"), counts(9, 1)), failing("TestA"), metadata.Because("check_runs_less", "n", 0, "before", 9)},
		"more ran":               {with(failing("TestA"), counts(9, 1)), with(failing("TestA"), counts(12, 1)), ""},
		"no name any more":       {failing("TestA"), failing(), metadata.Because("check_output_differs")},
		"a name that was not":    {failing(), failing("TestA"), metadata.Because("check_output_differs")},
		"the same output":        {like("1"), like("1"), ""},
		"another output":         {like("1"), like("2"), metadata.Because("check_output_differs")},
		"more names than kept":   {failing(many...), failing(many...), ""},
		"another, beyond those":  {with(failing(many...), func(c *metadata.CheckResult) { c.Like = "1" }), with(failing(many...), func(c *metadata.CheckResult) { c.Like = "2" }), metadata.Because("check_output_differs")},
		"ended at a limit twice": {with(failing("TestA", "TestB"), func(c *metadata.CheckResult) { c.ExitCode = -1 }), with(failing("TestA"), func(c *metadata.CheckResult) { c.ExitCode = -1 }), metadata.Because("check_output_differs")},
	} {
		t.Run(name, func(t *testing.T) {
			before, now := []metadata.CheckResult{{Name: "other"}, tt.before}, []metadata.CheckResult{tt.now}
			KnownBefore(now, before)
			if now[0].FailsBefore != (tt.want == "") || WhyOtherwise(now[0], before) != tt.want {
				t.Errorf("it fails as before: %v; otherwise: %q, want %q", now[0].FailsBefore, WhyOtherwise(now[0], before), tt.want)
			}
		})
	}
}

// A check that passes, or passed before, or is another one, was never known to fail.
func TestNotKnownBefore(t *testing.T) {
	passes := func(c *metadata.CheckResult) { c.Pass = true }
	for name, tt := range map[string]struct{ before, now metadata.CheckResult }{
		"passes now":      {failing("TestA"), with(failing("TestA"), passes)},
		"passed before":   {with(failing("TestA"), passes), failing("TestA")},
		"another command": {with(failing("TestA"), func(c *metadata.CheckResult) { c.Run = "true" }), failing("TestA")},
	} {
		now := []metadata.CheckResult{tt.now}
		KnownBefore(now, []metadata.CheckResult{tt.before})
		if now[0].FailsBefore || WhyOtherwise(now[0], []metadata.CheckResult{tt.before}) != "" {
			t.Errorf("%s: it is known to fail", name)
		}
	}
}

func failing(tests ...string) metadata.CheckResult {
	return metadata.CheckResult{Name: "unit", Run: "make", ExitCode: 1, FailedTests: tests}
}

func like(text string) metadata.CheckResult {
	return metadata.CheckResult{Name: "unit", Run: "make", ExitCode: 1, Like: text}
}

func counts(ran, failed int) func(*metadata.CheckResult) {
	return func(c *metadata.CheckResult) { c.Ran, c.Failed = ran, failed }
}

func with(c metadata.CheckResult, change func(*metadata.CheckResult)) metadata.CheckResult {
	change(&c)
	return c
}

package phases

import (
	"testing"

	"github.com/reprise-ci/reprise/metadata"
)

// What else fails than before is never taken for what failed before.
func TestKnownBefore(t *testing.T) {
	for name, tt := range map[string]struct {
		before, now metadata.CheckResult
		last        *metadata.CheckResult // on the work before; nil: there was none
		want        metadata.Reason       // empty: as before
	}{
		"the same test":         {failing("TestA"), failing("TestA"), nil, ""},
		"fewer tests":           {failing("TestA", "TestB"), failing("TestB"), nil, ""},
		"another test":          {failing("TestA"), failing("TestA", "TestB"), nil, metadata.Because("check_fails_more", "n", 1)},
		"another one instead":   {failing("TestA"), failing("TestB"), nil, metadata.Because("check_fails_more", "n", 1)},
		"another exit code":     {failing("TestA"), with(failing("TestA"), func(c *metadata.CheckResult) { c.ExitCode = 137 }), nil, metadata.Because("check_exit_differs", "code", 1)},
		"a limit of time":       {failing("TestA"), with(failing("TestA"), func(c *metadata.CheckResult) { c.ExitCode = -1 }), nil, metadata.Because("check_exit_differs", "code", 1)},
		"more than are named":   {with(failing("TestA"), counts(9, 1)), with(failing("TestA"), counts(9, 2)), nil, metadata.Because("check_fails_more", "n", 1)},
		"fewer ran":             {with(failing("TestA"), counts(9, 1)), with(failing("TestA"), counts(4, 1)), nil, metadata.Because("check_runs_less", "n", 4, "before", 9)},
		"nobody says how many":  {with(failing("TestA"), counts(9, 1)), failing("TestA"), nil, metadata.Because("check_runs_less", "n", 0, "before", 9)},
		"more ran":              {with(failing("TestA"), counts(9, 1)), with(failing("TestA"), counts(12, 1)), nil, ""},
		"no name any more":      {failing("TestA"), failing(), nil, metadata.Because("check_names_gone")},
		"a name that was not":   {failing(), failing("TestA"), nil, ""},
		"another output":        {printing("1"), printing("2"), nil, ""},
		"green since":           {printing("1"), printing("2"), &metadata.CheckResult{Name: "unit", Run: "make", Pass: true}, metadata.Because("check_green_since")},
		"held against it since": {printing("1"), printing("2"), last(1, false), metadata.Because("check_green_since")},
		"red otherwise since":   {printing("1"), printing("2"), last(2, false), ""},
		"red as before since":   {printing("1"), printing("2"), last(1, true), ""},
		"a test that was green": {failing("TestA"), failing("TestA"), &metadata.CheckResult{Name: "unit", Run: "make", Pass: true}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			before, now := []metadata.CheckResult{{Name: "other"}, tt.before}, []metadata.CheckResult{tt.now}
			var earlier *metadata.Checks
			if tt.last != nil {
				earlier = &metadata.Checks{Results: []metadata.CheckResult{*tt.last}}
			}
			KnownBefore(now, before, earlier)
			if now[0].FailsBefore != (tt.want == "") || whyOtherwise(now[0], before) != tt.want {
				t.Errorf("it fails as before: %v; otherwise: %q, want %q", now[0].FailsBefore, whyOtherwise(now[0], before), tt.want)
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
		"ran out of time": {with(failing("TestA"), func(c *metadata.CheckResult) { c.ExitCode = -1 }), with(failing("TestA"), func(c *metadata.CheckResult) { c.ExitCode = -1 })},
		"no rule of make": {with(failing(), func(c *metadata.CheckResult) { c.Output = "make: *** No rule to make target 'test'.  Stop.\n" }), failing()},
		"a tool's limit":  {with(failing(), func(c *metadata.CheckResult) { c.ExitCode = 124 }), with(failing(), func(c *metadata.CheckResult) { c.ExitCode = 124 })},
		"no such recipe":  {with(failing(), func(c *metadata.CheckResult) { c.Output = "error: Justfile does not contain recipe `test`.\n" }), failing()},
		"no such task": {with(failing(), func(c *metadata.CheckResult) {
			c.Output = "* What went wrong:\nTask 'tst' not found in root project 'x'.\n"
		}), failing()},
		"no such script": {with(failing(), func(c *metadata.CheckResult) {
			c.Output = "yarn run v1.22\nerror Command \"test\" not found.\ninfo Visit x\n"
		}), failing()},
		"no such command": {with(failing(), func(c *metadata.CheckResult) { c.Output = "error: no such command: `nextest`\n\nhelp: x\n" }), failing()},
		"no Go module": {with(failing(), func(c *metadata.CheckResult) {
			c.Output = "go: go.mod file not found in current directory or any parent directory; see 'go help modules'\n"
		}), failing()},
		"nothing to run": {with(failing(), func(c *metadata.CheckResult) { c.Output = "/usr/bin/python3: No module named pytest\n" }), failing()},
	} {
		now := []metadata.CheckResult{tt.now}
		KnownBefore(now, []metadata.CheckResult{tt.before}, nil)
		if now[0].FailsBefore || whyOtherwise(now[0], []metadata.CheckResult{tt.before}) != "" {
			t.Errorf("%s: it is known to fail", name)
		}
	}
}

func failing(tests ...string) metadata.CheckResult {
	return metadata.CheckResult{Name: "unit", Run: "make", ExitCode: 1, FailedTests: tests}
}

func printing(text string) metadata.CheckResult {
	return metadata.CheckResult{Name: "unit", Run: "make", ExitCode: 1, Output: text}
}

func last(code int, before bool) *metadata.CheckResult {
	return &metadata.CheckResult{Name: "unit", Run: "make", ExitCode: code, FailsBefore: before}
}

func counts(ran, failed int) func(*metadata.CheckResult) {
	return func(c *metadata.CheckResult) { c.Ran, c.Failed = ran, failed }
}

func with(c metadata.CheckResult, change func(*metadata.CheckResult)) metadata.CheckResult {
	change(&c)
	return c
}

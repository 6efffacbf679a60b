package agents

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/text"
)

// goOutput is what go test has printed of a package so far.
type goOutput struct {
	failed   []string // tests
	ended    bool     // the program of its tests came to its end
	reported bool     // the line before said how a package went
}

var (
	goTest    = text.Pattern(`^\s*--- FAIL: (\S+) \([0-9.]+s\)$`)
	goPackage = text.Pattern(`^(ok  |FAIL|\?   )\t(\S+)(?:$|[ \t]+(\[(?:build|setup) failed\])?)`)
)

// goLine takes a line of go test, which names tests and after them their package. One whose program has not ended has
// tests that never ran.
func (a *Account) goLine(o *goOutput, line string) bool {
	if line == "FAIL" || line == "PASS" {
		o.ended = !o.reported // after the last package, it is about all of them
		return true
	}
	o.reported = false
	if m := goTest().FindStringSubmatch(line); m != nil {
		o.add(m[1])
		return true
	}
	m := goPackage().FindStringSubmatch(line)
	if m == nil {
		return false
	}
	if m[1] == "FAIL" {
		why := m[3]
		if why == "" && !o.ended {
			why = "[ended early]"
		}
		for _, test := range append(o.failed, why) {
			if test != "" {
				a.add(m[2] + " " + test)
			}
		}
	}
	*o = goOutput{reported: true}
	return true
}

// add takes a test that failed. One that has parts which failed says nothing that they
// do not.
func (o *goOutput) add(test string) {
	if slices.ContainsFunc(o.failed, func(x string) bool { return x == test || strings.HasPrefix(x, test+"/") }) {
		return
	}
	o.failed = slices.DeleteFunc(o.failed, func(x string) bool { return strings.HasPrefix(test, x+"/") })
	if len(o.failed) < mostInMemory {
		o.failed = append(o.failed, test)
	}
}

// mostPackages is of how many packages is remembered what they have printed so far.
const mostPackages = 10_000

// event takes a line if it is an event of go test -json. What go test prints without
// -json is in its events, a line in each, those of one package between those of others.
func (a *Account) event(line []byte) (shown []byte, is, event bool) {
	var e struct{ Action, Package, Test, Output string }
	actions := []string{"start", "run", "pause", "cont", "pass", "bench", "fail", "output", "skip", "build-output", "build-fail", "attr"}
	if len(line) < 2 || line[0] != '{' || json.Unmarshal(line, &e) != nil || !slices.Contains(actions, e.Action) {
		return nil, false, false
	}
	o := a.goEvents[e.Package]
	if o == nil {
		o = &goOutput{}
		if a.goEvents == nil {
			a.goEvents = map[string]*goOutput{}
		}
		if len(a.goEvents) < mostPackages {
			a.goEvents[e.Package] = o
		}
	}
	switch {
	case e.Test == "":
	case e.Action == "fail":
		o.add(e.Test)
		a.failed++
		fallthrough
	case e.Action == "pass":
		a.ran++
	}
	if e.Action != "output" && e.Action != "build-output" {
		return nil, false, true
	}
	text := strings.TrimSuffix(e.Output, "\n")
	a.goLine(o, text)
	return []byte(text), true, true
}

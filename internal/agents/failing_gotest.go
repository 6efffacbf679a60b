package agents

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// goOutput is what go test has printed of a package so far.
type goOutput struct {
	failed   []string // tests
	ended    bool     // the program of its tests came to its end
	reported bool     // the line before said how a package went
}

var goForms = sync.OnceValues(func() (test, pkg *regexp.Regexp) {
	return regexp.MustCompile(`^\s*--- FAIL: (\S+) \([0-9.]+s\)$`), regexp.MustCompile(`^(ok  |FAIL|\?   )\t(\S+)(?:$|[ \t]+(\[(?:build|setup) failed\])?)`)
})

// goLine takes a line of go test, which names tests and after them their package.
func (a *Account) goLine(line string) bool {
	o := &a.goPlain
	test, pkg := goForms()
	if line == "FAIL" || line == "PASS" {
		o.ended = !o.reported // after the last package, it is about all of them
		return true
	}
	o.reported = false
	if m := test.FindStringSubmatch(line); m != nil {
		o.add(m[1])
		return true
	}
	m := pkg.FindStringSubmatch(line)
	if m == nil {
		return false
	}
	if m[1] != "?   " {
		a.ran++
	}
	if m[1] == "FAIL" {
		a.goFailed(m[2], m[3], o)
	}
	*o = goOutput{reported: true}
	return true
}

// goFailed takes a package that failed. One whose program has not come to its end has
// tests that never ran, whatever else has failed.
func (a *Account) goFailed(pkg, why string, o *goOutput) {
	a.failed++
	for _, test := range o.failed {
		a.add(pkg + " " + test)
	}
	switch {
	case why != "":
		a.add(pkg + " " + why)
	case !o.ended:
		a.add(pkg + " [ended early]")
	}
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

// event is one of go test -json.
type event struct {
	Action, Package, Test, Output, FailedBuild string
}

// actions are those of go test -json.
func actions() []string {
	return []string{"start", "run", "pause", "cont", "pass", "bench", "fail", "output", "skip", "build-output", "build-fail", "attr"}
}

// mostPackages is of how many packages is remembered what they have printed so far.
const mostPackages = 10_000

// event takes a line if it is an event of go test -json.
func (a *Account) event(line []byte) (shown []byte, is, event bool) {
	e, is := read(line)
	if !is {
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
	text := strings.TrimSuffix(e.Output, "\n")
	switch {
	case e.Action == "output" || e.Action == "build-output":
		o.ended = o.ended || e.Test == "" && text == "FAIL"
		a.same.add(text)
		return []byte(text), true, true
	case e.Action != "pass" && e.Action != "fail":
		return nil, false, true
	}
	a.ran++
	switch {
	case e.Action == "fail" && e.Test != "":
		a.failed++
		o.add(e.Test)
	case e.Action == "fail" && e.FailedBuild != "":
		a.goFailed(e.Package, "[build failed]", o)
	case e.Action == "fail":
		a.goFailed(e.Package, "", o)
	}
	if e.Test == "" {
		delete(a.goEvents, e.Package)
	}
	return nil, false, true
}

func read(line []byte) (e event, is bool) {
	return e, len(line) > 1 && line[0] == '{' && json.Unmarshal(line, &e) == nil && slices.Contains(actions(), e.Action)
}

// Package failing is the names of tests that failed, as the programs that ran them
// tell: in what they print, and in files in the JUnit format. It knows the output of
// Go, with and without -json, of pytest, Cargo and TAP. Both may be anything: the
// code of an agent writes them.
package failing

import (
	"encoding/json"
	"encoding/xml"
	"io"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
)

// The most that is kept: names, and characters of one.
const (
	Most    = 50
	longest = 200
)

// Names are those of the tests that failed, each once, in the order they were told.
type Names struct{ list []string }

// All gives the names: at most Most, each on one line.
func (n *Names) All() []string { return slices.Clone(n.list) }

func (n *Names) add(name string) {
	name = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(name, "?"), func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }), " ")
	if r := []rune(name); len(r) > longest {
		name = string(r[:longest]) + "…"
	}
	if name != "" && len(n.list) < Most && !slices.Contains(n.list, name) {
		n.list = append(n.list, name)
	}
}

// event is one of go test -json.
type event struct {
	Action, Package, Test, Output string
}

// Line takes a line that a check has printed, and gives it as people read it: of an
// event of go test -json what that printed, and nothing of one that printed nothing.
func (n *Names) Line(line []byte) (shown []byte, is bool) {
	var e event
	if len(line) < 2 || line[0] != '{' || json.Unmarshal(line, &e) != nil || !slices.Contains(actions(), e.Action) {
		n.text(string(line))
		return line, true
	}
	switch {
	case e.Action == "fail" && e.Test != "":
		n.failed(e.Package, e.Test)
	case e.Action == "output" || e.Action == "build-output":
		return []byte(strings.TrimSuffix(e.Output, "\n")), true
	}
	return nil, false
}

// failed takes a test of a package of Go. One that has parts which failed says
// nothing that they do not.
func (n *Names) failed(pkg, test string) {
	name := pkg + " " + test
	if !slices.ContainsFunc(n.list, func(o string) bool { return strings.HasPrefix(o, name+"/") }) {
		n.add(name)
	}
}

// actions are those of go test -json.
func actions() []string {
	return []string{"start", "run", "pause", "cont", "pass", "bench", "fail", "output", "skip", "build-output", "build-fail", "attr"}
}

// told are lines of test programs that name a test which failed.
var told = sync.OnceValue(func() []*regexp.Regexp {
	var all []*regexp.Regexp
	for _, pattern := range []string{
		`^--- FAIL: (\S+) \([0-9.]+s\)$`,               // Go
		`^FAIL\s+(\S+ \[(?:build|setup) failed\])$`,    // Go
		`^FAILED (\S+::.+?)(?: - .*)?$`,                // pytest
		`^test (\S+) \.\.\. FAILED$`,                   // Cargo
		`^not ok [0-9]+ (?:- )?([^#]*[^#\s])\s*$`,      // TAP, but for what is still to be done
		`^\s*✖ (\S.*?) \([0-9.]+ms\)$`,                 // Node.js
		`^\s*● (\S.* › .*\S)$`,                         // Jest
		`^ *(?:FAIL|×) +(\S+\.[cm]?[jt]sx? > .*\S) *$`, // Vitest
	} {
		all = append(all, regexp.MustCompile(pattern))
	}
	return all
})

func (n *Names) text(line string) {
	if len(line) > 1000 || !strings.ContainsAny(line, "F✖●×n") {
		return
	}
	for _, p := range told() {
		if m := p.FindStringSubmatch(strings.TrimSuffix(line, "\r")); m != nil {
			n.add(m[1])
			return
		}
	}
}

// JUnit takes a file in the format of JUnit. What is in another form is left out.
func (n *Names) JUnit(file io.Reader) {
	d := xml.NewDecoder(file)
	d.Strict = false
	name := ""
	for {
		token, err := d.Token()
		if err != nil {
			return // at its end, or where it is no XML
		}
		start, is := token.(xml.StartElement)
		switch {
		case !is:
		case start.Name.Local == "testcase":
			name = strings.TrimPrefix(attribute(start, "classname")+" "+attribute(start, "name"), " ")
		case start.Name.Local == "failure" || start.Name.Local == "error":
			n.add(name)
			name = "" // once is enough; outside of a test it is none
		}
	}
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

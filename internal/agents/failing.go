package agents

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// The most that is kept: names, and characters of one.
const (
	Most    = 50
	longest = 200
)

// Account is what a check has told of its failure.
type Account struct {
	// Dir is where the check ran. Names of files are told from there: the next time it
	// is a copy elsewhere.
	Dir string

	names       []string
	goPlain     goOutput             // what go test prints
	goEvents    map[string]*goOutput // of go test -json, by package
	jest        string               // the file that Jest has named last
	ran, failed int
}

// Names are those of the tests that failed, or of what kept tests from running: at most
// Most, each once and on one line, in the order they were told.
func (a *Account) Names() []string {
	all := &Account{names: slices.Clone(a.names), goPlain: a.goPlain, goEvents: a.goEvents}
	all.addUnended()
	return slices.Clip(all.names[:min(len(all.names), Most)])
}

// addUnended takes the tests of packages that were never named or never ended, once nothing
// more is printed.
func (a *Account) addUnended() {
	for _, test := range a.goPlain.failed {
		a.add(test)
	}
	for _, pkg := range slices.Sorted(maps.Keys(a.goEvents)) {
		for _, test := range a.goEvents[pkg].failed {
			a.add(pkg + " " + test)
		}
	}
}

// Tests is how many tests were said to have run and to have failed.
func (a *Account) Tests() (ran, failed int) { return a.ran, a.failed }

// Line takes a line that the check has printed, and gives it as people read it: of an
// event of go test -json what that printed, and nothing of one that printed nothing.
func (a *Account) Line(line []byte) (shown []byte, is bool) {
	if shown, is, event := a.event(line); event {
		return shown, is
	}
	a.text(string(line))
	return line, true
}

// mostInMemory is how many names are remembered. Those of tests go when their parts are
// named, so that more than Most are needed to have Most in the end.
const mostInMemory = 4 * Most

func (a *Account) add(name string) {
	name = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(name, "?"), func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }), " ")
	if r := []rune(name); len(r) > longest {
		name = string(r[:longest]) + "…"
	}
	if name != "" && len(a.names) < mostInMemory && !slices.Contains(a.names, name) {
		a.names = append(a.names, name)
	}
}

// colours are what programs that take the output for a terminal put between words.
var colours = regexp.MustCompile(`\x1b\[[0-9;:]*m`)

// text takes a line that is printed.
func (a *Account) text(line string) {
	if a.Dir != "" {
		line = strings.ReplaceAll(line, a.Dir+"/", "")
	}
	if len(line) > 1000 {
		return
	}
	line = colours.ReplaceAllString(strings.TrimSuffix(line, "\r"), "")
	if a.goLine(&a.goPlain, line) {
		return
	}
	for _, find := range []func(string) (string, bool){a.jestLine, named} {
		if name, is := find(line); is {
			a.add(name)
			return
		}
	}
	ran, failed := counted(line)
	a.ran, a.failed = a.ran+ran, a.failed+failed
}

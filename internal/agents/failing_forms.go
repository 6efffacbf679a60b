package agents

import (
	_ "embed"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

//go:embed failing.yaml
var formsFile []byte

// form is one way in which a line of output tells of tests, see failing.yaml.
type form struct {
	Of, Has, Form string
	Ran           []string
	Behind        bool // the figures stand behind their words

	Example, Name string // for the test
	Is            []int

	expression *regexp.Regexp
}

func (f *form) find(line string) []string {
	if !strings.Contains(line, f.Has) {
		return nil
	}
	return f.expression.FindStringSubmatch(line)
}

// knownForms are all that are known.
type knownForms struct {
	Names, Counts []*form
	Failed        []string
}

var forms = sync.OnceValue(func() (all knownForms) {
	if err := yaml.Unmarshal(formsFile, &all); err != nil {
		panic("failing.yaml: " + err.Error()) // unreachable: a test reads it
	}
	for _, f := range slices.Concat(all.Names, all.Counts) {
		f.expression = regexp.MustCompile(f.Form)
	}
	return all
})

// named gives what a line names as failed, if anything.
func named(line string) (name string, is bool) {
	for _, f := range forms().Names {
		if m := f.find(line); m != nil {
			return strings.Join(m[1:], " "), true
		}
	}
	return "", false
}

var (
	figureFirst = regexp.MustCompile(`\b([0-9]{1,9}) ([a-z]+)`)
	wordFirst   = regexp.MustCompile(`([A-Za-z]+)[:= ] *([0-9]{1,9})\b`)
)

// counted gives how many tests a line says have run and failed.
func counted(line string) (ran, failed int) {
	i := slices.IndexFunc(forms().Counts, func(f *form) bool { return f.find(line) != nil })
	if i < 0 {
		return 0, 0
	}
	f, amounts, figure, word := forms().Counts[i], figureFirst, 1, 2
	if f.Behind {
		amounts, figure, word = wordFirst, 2, 1
	}
	for _, m := range amounts.FindAllStringSubmatch(line, -1) {
		n, _ := strconv.Atoi(m[figure]) // it is made of at most nine figures
		w := strings.ToLower(m[word])
		if slices.Contains(f.Ran, w) {
			ran += n
		}
		if slices.Contains(forms().Failed, w) {
			failed += n
		}
	}
	return ran, failed
}

var (
	jestFile = regexp.MustCompile(`^ ?(PASS|FAIL) +(?:\S+ )?(\S+\.[cm]?[jt]sx?)(?: \([0-9.]+ m?s\))?$`)
	jestTest = regexp.MustCompile(`^\s*● (\S.*\S)$`)
)

// jestLine gives what a line of Jest names as failed, which names a file and then what
// failed in it.
func (a *Account) jestLine(line string) (name string, is bool) {
	if m := jestFile.FindStringSubmatch(line); m != nil {
		if a.jest = m[2]; m[1] == "FAIL" {
			name = a.jest
		}
		return name, true
	}
	m := jestTest.FindStringSubmatch(line)
	if m == nil || m[1] == "Console" { // a heading
		return "", false
	}
	return strings.TrimPrefix(a.jest+" › "+m[1], " › "), true
}

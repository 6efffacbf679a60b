package agents

import (
	_ "embed"
	"encoding/xml"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/pipelines"
)

// The most that is kept: names, and characters of one.
const (
	most    = 50
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
	return slices.Clip(all.names[:min(len(all.names), most)])
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

// tests is how many tests were said to have run and to have failed.
func (a *Account) tests() (ran, failed int) { return a.ran, a.failed }

// line takes a line that the check has printed, and gives it as people read it: of an
// event of go test -json what that printed, and nothing of one that printed nothing.
func (a *Account) line(line []byte) (shown []byte, is bool) {
	if shown, is, event := a.event(line); event {
		return shown, is
	}
	a.text(string(line))
	return line, true
}

// mostInMemory is how many names are remembered. Those of tests go when their parts are
// named, so that more than Most are needed to have Most in the end.
const mostInMemory = 4 * most

// passing are parts of names that are others each time, and would make the same test another one.
var passing = text.Pattern(`\b0x[0-9a-f]{5,}|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|(?:/tmp|/var/folders)/[^\s:;,'")\]]+`)

func (a *Account) add(name string) {
	name = strings.Join(strings.FieldsFunc(strings.ToValidUTF8(name, "?"), func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }), " ")
	name = text.Short(passing().ReplaceAllLiteralString(name, "…"), longest)
	if name != "" && len(a.names) < mostInMemory && !slices.Contains(a.names, name) {
		a.names = append(a.names, name)
	}
}

// colours are what programs that take the output for a terminal put between words, and at the end of a line.
var colours = text.Pattern(`(?m)\x1b\[[0-9;:]*m|\r$`)

// text takes a line that is printed.
func (a *Account) text(line string) {
	if a.Dir != "" {
		line = strings.ReplaceAll(line, a.Dir+"/", "")
	}
	if len(line) > 1000 {
		return
	}
	line = colours().ReplaceAllString(line, "")
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

var forms = sync.OnceValue(func() knownForms {
	all := text.TableIn(knownForms{}, formsFile)
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
	figureFirst = text.Pattern(`\b([0-9]{1,9}) ([a-z]+)`)
	wordFirst   = text.Pattern(`([A-Za-z]+)[:= ] *([0-9]{1,9})\b`)
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
	for _, m := range amounts().FindAllStringSubmatch(line, -1) {
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
	jestFile = text.Pattern(`^ ?(PASS|FAIL) +(?:\S+ )?(\S+\.[cm]?[jt]sx?)(?: \([0-9.]+ m?s\))?$`)
	jestTest = text.Pattern(`^\s*● (\S.*\S)$`)
)

// jestLine gives what a line of Jest names as failed, which names a file and then what
// failed in it.
func (a *Account) jestLine(line string) (name string, is bool) {
	if m := jestFile().FindStringSubmatch(line); m != nil {
		if a.jest = m[2]; m[1] == "FAIL" {
			name = a.jest
		}
		return name, true
	}
	m := jestTest().FindStringSubmatch(line)
	if m == nil || m[1] == "Console" { // a heading
		return "", false
	}
	return strings.TrimPrefix(a.jest+" › "+m[1], " › "), true
}

// The most that is looked at after a check: names in its tree, files in the JUnit
// format, and bytes of one.
const (
	mostNames   = 200_000
	mostReports = 2_000
	mostReport  = 16 << 20
)

// jUnitIn takes the names of tests from the files below dir that patterns name, and from those of Maven and Gradle, written
// since the check began: what lay there before is of others. What cannot be read tells nothing.
func (a *Account) jUnitIn(dir string, patterns []string, began time.Time) {
	patterns = append(slices.Clone(patterns), "surefire-reports/**", "failsafe-reports/**", "build/test-results/**")
	root, err := os.OpenRoot(dir)
	if err != nil {
		return
	}
	defer root.Close() // opened for reading
	names, reports, ran, failed := 0, 0, a.ran, a.failed
	_ = folders.Walk(root, ".", func(name string, e fs.DirEntry, err error) error {
		names++
		switch {
		case err != nil:
			return nil
		case names > mostNames || reports > mostReports:
			return fs.SkipAll
		case e.IsDir() && (name == ".git" || e.Name() == "node_modules"):
			return fs.SkipDir
		case !strings.HasSuffix(name, ".xml") || !pipelines.MatchesPath(name, patterns):
			return nil
		}
		reports++
		f, info, err := folders.Open(root, name)
		if err != nil {
			return nil
		}
		defer f.Close() // opened for reading
		if info.Size() <= mostReport && !info.ModTime().Before(began) {
			a.jUnit(f)
		}
		return nil
	})
	if ran > 0 { // it has printed as many, too
		a.ran, a.failed = ran, failed
	}
}

// jUnit takes a file in the format of JUnit, once the check has printed all. What is in
// another form is left out.
func (a *Account) jUnit(file io.Reader) {
	a.addUnended()
	d := xml.NewDecoder(file)
	d.Strict = false
	d.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { // names need only be the same each time
		data, err := io.ReadAll(in)
		all := make([]rune, len(data))
		for i, b := range data {
			all[i] = rune(b)
		}
		return strings.NewReader(string(all)), err
	}
	suite, name, told := "", "", false
	for {
		token, err := d.Token()
		if err != nil {
			if syntax := (*xml.SyntaxError)(nil); suite != "" && errors.As(err, &syntax) {
				a.add(suite + " [cut off]") // by a crash
			}
			return
		}
		if end, is := token.(xml.EndElement); is && end.Name.Local == "testcase" {
			name = ""
		}
		start, is := token.(xml.StartElement)
		switch {
		case !is:
		case start.Name.Local == "testsuite":
			suite, name = attribute(start, "name"), ""
		case start.Name.Local == "testcase":
			name, told = strings.TrimPrefix(attribute(start, "classname")+" "+attribute(start, "name"), " "), false
			a.ran++
		case start.Name.Local == "failure" || start.Name.Local == "error":
			if name == "" { // outside of a test
				name = strings.TrimSpace(suite + " [" + start.Name.Local + "]")
			}
			if !told {
				a.failed++
			}
			a.add(name)
			told = true // once is enough
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

// mostWords is how much of a line is quoted, in terminal cells.
const mostWords = 200

// LastWords quotes one line of what a command printed: the first that speaks of a failure, else
// the last one.
func LastWords(output string) string {
	said := ""
	for line := range strings.Lines(output) {
		if line = text.Flat(line); line == "" {
			continue
		}
		said = line
		if small := strings.ToLower(line); strings.Contains(small, "fail") || strings.Contains(small, "error") || strings.HasPrefix(small, "not ok") {
			break
		}
	}
	if said == "" {
		return "it printed nothing"
	}
	return text.Cut(said, mostWords)
}

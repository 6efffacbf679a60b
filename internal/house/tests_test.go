package house_test

import (
	"fmt"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestDocumentedTests holds the documents against the tests: what a document
// names as the proof of something is there.
func TestDocumentedTests(t *testing.T) {
	known := tests(t)
	for _, doc := range documents(t) {
		for _, problem := range known.lint(parse(read(t, doc))) {
			t.Errorf("%s:%s", doc, problem)
		}
	}
}

func TestTestsLint(t *testing.T) {
	known := testNames{"TestA": true, "FuzzB": true, "c.txtar": true}
	text := "`TestA`, `FuzzB`, `TestA/with a case`, `c.txtar`, `TestD`\n`FuzzE` `f.txtar` `go test` `Tests`\n"
	want := []string{"1: there is no test TestD", "2: there is no test FuzzE", "2: there is no test f.txtar"}
	if diff := cmp.Diff(want, known.lint(parse(text))); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

// testNames are the functions that are tests, and the names of the scripts.
type testNames map[string]bool

var (
	testFunction = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)[A-Z]\w*)\(`)
	testName     = regexp.MustCompile(`^((?:Test|Fuzz|Benchmark)[A-Z]\w*)(?:/.*)?$|^([\w-]+\.txtar)$`)
)

// tests gives every test of the repository, whatever its build tags.
func tests(t *testing.T) testNames {
	t.Helper()
	known := testNames{}
	for _, name := range files(t, func(name string) bool { return strings.HasSuffix(name, "_test.go") }) {
		for _, m := range testFunction.FindAllStringSubmatch(read(t, name), -1) {
			known[m[1]] = true
		}
	}
	for _, name := range scripts(t) {
		known[path.Base(name)] = true
	}
	return known
}

// lint gives the tests that a document names and that are not there.
func (known testNames) lint(p page) []string {
	var problems []string
	for _, s := range p.spans {
		m := testName.FindStringSubmatch(s.text)
		if m != nil && !known[m[1]+m[2]] {
			problems = append(problems, fmt.Sprintf("%d: there is no test %s", s.line, m[1]+m[2]))
		}
	}
	return problems
}

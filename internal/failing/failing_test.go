package failing

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLines(t *testing.T) {
	for name, tt := range map[string]struct {
		text  string
		want  []string
		shown string // empty: as it is
	}{
		"go": {"=== RUN   TestA\n    a_test.go:3: wrong\n--- FAIL: TestA (0.00s)\n    --- FAIL: TestA/b (0.00s)\nFAIL\nFAIL\texample.com/a\t0.1s\nFAIL\texample.com/b [build failed]\n", []string{"TestA", "example.com/b [build failed]"}, ""},
		"go -json": {
			`{"Action":"start","Package":"example.com/a"}` + "\n" +
				`{"Action":"output","Package":"example.com/a","Test":"TestA/b","Output":"    a_test.go:3: wrong\n"}` + "\n" +
				`{"Action":"fail","Package":"example.com/a","Test":"TestA/b","Elapsed":0}` + "\n" +
				`{"Action":"fail","Package":"example.com/a","Test":"TestA","Elapsed":0}` + "\n" +
				`{"Action":"pass","Package":"example.com/a","Test":"TestB"}` + "\n" +
				`{"Action":"fail","Package":"example.com/a","Elapsed":0}` + "\n",
			[]string{"example.com/a TestA/b"},
			"    a_test.go:3: wrong\n",
		},
		"other JSON":       {`{"action":"deleted","id":1}` + "\n" + `{"Action":` + "\n", nil, ""},
		"pytest":           {"FAILED tests/test_a.py::test_b[1 - x] - assert 1 == 2\nFAILED tests/test_a.py::C::test_d\nFAILED to do it\n", []string{"tests/test_a.py::test_b[1", "tests/test_a.py::C::test_d"}, ""},
		"cargo":            {"test a::b ... FAILED\ntest a::c ... ok\n", []string{"a::b"}, ""},
		"TAP":              {"ok 1 - fine\nnot ok 2 - greets people\nnot ok 3 later # TODO\n", []string{"greets people"}, ""},
		"node":             {"✔ fine (0.1ms)\n✖ greets people (1.2ms)\n✖ greets people (1.2ms)\n✖ failing tests:\n", []string{"greets people"}, ""},
		"vitest and jest":  {" FAIL  src/a.test.ts > greets > people\n  ● greets › people\n", []string{"src/a.test.ts > greets > people", "greets › people"}, ""},
		"what is no name":  {"not ok 1 - \x1b[31m\u202e \n", []string{"[31m"}, ""},
		"very long a name": {"test " + strings.Repeat("x", 300) + " ... FAILED\n", []string{strings.Repeat("x", 200) + "…"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var n Names
			var shown strings.Builder
			for line := range strings.Lines(tt.text) {
				if text, is := n.Line([]byte(strings.TrimSuffix(line, "\n"))); is {
					fmt.Fprintf(&shown, "%s\n", text)
				}
			}
			if diff := cmp.Diff(tt.want, n.All()); diff != "" {
				t.Errorf("names (-want +got):\n%s", diff)
			}
			if want := tt.shown; want != "" && shown.String() != want || want == "" && shown.String() != tt.text {
				t.Errorf("shown is %q", shown.String())
			}
		})
	}
}

func TestMost(t *testing.T) {
	var n Names
	for i := range 10 * Most {
		n.Line(fmt.Appendf(nil, "test t%d ... FAILED", i))
	}
	if got := n.All(); len(got) != Most || got[0] != "t0" {
		t.Errorf("%d names, from %q", len(got), got[0])
	}
}

func TestJUnit(t *testing.T) {
	for text, want := range map[string][]string{
		`<testsuites><testsuite name="s"><testcase classname="a.B" name="c"><failure message="m">trace</failure><failure/></testcase><testcase classname="a.B" name="d"/>` +
			`<testcase name="e"><error/></testcase><testcase name="f"><skipped/></testcase></testsuite></testsuites>`: {"a.B c", "e"},
		`<testsuite><error/></testsuite>`: nil,
		`not XML at all <`:                nil,
		`<!DOCTYPE x [<!ENTITY a "aaaa">]><testsuite><testcase name="&a;"><failure/></testcase>`: {"&a;"},
		`<testsuite><testcase name="cut off"><failure/>`:                                         {"cut off"},
	} {
		var n Names
		n.JUnit(strings.NewReader(text))
		if diff := cmp.Diff(want, n.All()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

// Whatever is printed, names are short, few, and on one line.
func FuzzNames(f *testing.F) {
	f.Add([]byte("--- FAIL: TestA (0.00s)\nnot ok 1 - x"))
	f.Add([]byte(`{"Action":"fail","Package":"p","Test":"T"}`))
	f.Add([]byte(`<testsuite><testcase classname="a" name="b"><failure/></testcase></testsuite>`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var n Names
		for line := range strings.Lines(string(data)) {
			n.Line([]byte(line))
		}
		n.JUnit(strings.NewReader(string(data)))
		all := n.All()
		if len(all) > Most {
			t.Errorf("%d names", len(all))
		}
		for _, name := range all {
			if len([]rune(name)) > longest+1 || strings.ContainsAny(name, "\n\r\x00\x1b") || strings.TrimSpace(name) == "" {
				t.Errorf("a name is %q", name)
			}
		}
	})
}

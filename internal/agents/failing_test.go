package agents

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
		"go": {"=== RUN   TestA\n    a_test.go:3: wrong\n--- FAIL: TestA (0.00s)\n    --- FAIL: TestA/b (0.00s)\nFAIL\nFAIL\texample.com/a\t0.1s\nFAIL\texample.com/b [build failed]\n", []string{"example.com/a TestA/b", "example.com/b [build failed]"}, ""},
		"go -json": {
			`{"Action":"start","Package":"example.com/a"}` + "\n" +
				`{"Action":"output","Package":"example.com/a","Test":"TestA/b","Output":"    a_test.go:3: wrong\n"}` + "\n" +
				`{"Action":"output","Package":"example.com/b","Test":"TestA","Output":"--- FAIL: TestA (0.00s)\n"}` + "\n" +
				`{"Action":"output","Package":"example.com/a","Test":"TestA","Output":"--- FAIL: TestA (0.00s)\n"}` + "\n" +
				`{"Action":"output","Package":"example.com/a","Test":"TestA/b","Output":"    --- FAIL: TestA/b (0.00s)\n"}` + "\n" +
				`{"Action":"fail","Package":"example.com/a","Test":"TestA/b","Elapsed":0}` + "\n" +
				`{"Action":"output","Package":"example.com/a","Output":"FAIL\n"}` + "\n" +
				`{"Action":"output","Package":"example.com/a","Output":"FAIL\texample.com/a\t0.1s\n"}` + "\n" +
				`{"Action":"fail","Package":"example.com/a","Elapsed":0}` + "\n" +
				`{"Action":"output","Package":"example.com/b","Output":"FAIL\texample.com/b\t0.1s\n"}` + "\n" +
				`{"Action":"output","Package":"example.com/c","Output":"FAIL\texample.com/c [build failed]\n"}` + "\n" +
				`{"Action":"fail","Package":"example.com/c","Elapsed":0,"FailedBuild":"example.com/c"}` + "\n",
			[]string{"example.com/a TestA/b", "example.com/b TestA", "example.com/b [ended early]", "example.com/c [build failed]"},
			"-",
		},
		"other JSON":      {`{"action":"deleted","id":1}` + "\n" + `{"Action":` + "\n", nil, ""},
		"pytest":          {"FAILED tests/test_a.py::test_b[1 - x] - assert 1 == 2\nFAILED tests/test_a.py::C::test_d\nFAILED to do it\n", []string{"tests/test_a.py::test_b[1", "tests/test_a.py::C::test_d"}, ""},
		"an address":      {"FAILED t.py::test_a[<f at 0x7f4e0e91>]\nFAILED t.py::test_a[<f at 0x7f836c02>]\n", []string{"t.py::test_a[<f at …>]"}, ""},
		"cargo":           {"test a::b ... FAILED\ntest a::c ... ok\n", []string{"a::b"}, ""},
		"TAP":             {"ok 1 - fine\nnot ok 2 - greets people\nnot ok 3 later # TODO\n", []string{"greets people"}, ""},
		"node":            {"✔ fine (0.1ms)\n✖ greets people (1.2ms)\n✖ greets people (1.2ms)\n✖ failing tests:\n", []string{"greets people"}, ""},
		"vitest and jest": {" FAIL  src/a.test.ts > greets > people\n  ● greets › people\n", []string{"src/a.test.ts > greets > people", "greets › people"}, ""},
		"go ends early": {
			"--- FAIL: TestA (0.00s)\n    a_test.go:3: x\nFAIL\texample.com/b\t0.116s\n--- FAIL: TestA (0.00s)\nFAIL\ncoverage: 1.0% of statements\nFAIL\texample.com/c\t0.116s\nFAIL\n" +
				"panic: test timed out after 2s\n\trunning tests:\n\t\tTestSlow (2s)\nFAIL\texample.com/d\t2.0s\nFAIL\n",
			[]string{"example.com/b TestA", "example.com/b [ended early]", "example.com/c TestA", "example.com/d [ended early]"},
			"",
		},
		"go -json is cut off": {`{"Action":"output","Package":"q","Output":"--- FAIL: TestB (0.00s)\n"}` + "\n" + `{"Action":"output","Package":"p","Output":"--- FAIL: TestA (0.00s)\n"}` + "\n", []string{"p TestA", "q TestB"}, "-"},
		"go of one program":   {"--- FAIL: TestA (0.00s)\n--- FAIL: TestB (0.00s)\nFAIL\n", []string{"TestA", "TestB"}, ""},
		"pytest cannot run": {
			"ERROR tests/test_b.py - ImportError: x\nERROR tests/test_c.py::test_d - RuntimeError\nERROR    root:test_a.py:3 a log\nERROR of ours\nINTERNALERROR> Traceback\nFatal Python error: Segmentation fault\n",
			[]string{"tests/test_b.py", "tests/test_c.py::test_d", "INTERNALERROR", "Fatal Python error: Segmentation fault"},
			"",
		},
		"unittest": {
			"ERROR: test_b (unittest.loader._FailedTest.test_b)\nFAIL: test_b (test_a.T.test_b) (i=1)\nERROR: all (of it) is lost\n",
			[]string{"test_b (unittest.loader._FailedTest.test_b)", "test_b (test_a.T.test_b) (i=1)", "all (of it) is lost"},
			"",
		},
		"cargo cannot run": {
			"test tests::c - should panic ... FAILED\ntest src/lib.rs - f (line 1) ... FAILED\nerror: test failed, to rerun pass `--test t`\n" +
				"  process didn't exit successfully: `/tmp/t-4df4` (signal: 6, SIGABRT: process abort signal)\nerror: could not compile `demo` (test \"t\") due to 1 previous error\n",
			[]string{"tests::c - should panic", "src/lib.rs - f (line 1)", "test failed, to rerun pass `--test t`", "signal: 6, SIGABRT: process abort signal", "could not compile `demo` (test \"t\")"},
			"",
		},
		"parts in TAP":   {"    not ok 1 - one\n    ok 2 - two\nnot ok 1 - s\nnot ok 2 - /srv/copy/n2.test.js\nBail out! no database\n", []string{"one", "s", "n2.test.js", "Bail out! no database"}, ""},
		"jest":           {"FAIL src/a.test.js (5.1 s)\n  ● Console\n  ● Test suite failed to run\nPASS src/b.test.js\n  ● Console\nFAIL web src/c.test.ts\n  ● adds\n", []string{"src/a.test.js", "src/a.test.js › Test suite failed to run", "src/c.test.ts", "src/c.test.ts › adds"}, ""},
		"vitest, a file": {" FAIL  src/a.test.ts [ src/a.test.ts ]\n     Errors  1 error\n", []string{"src/a.test.ts", "Errors 1 error"}, ""},
		"ruby and php":   {"rspec ./spec/a_spec.rb:12 # A greets\nAn error occurred while loading ./spec/b_spec.rb.\nTestX#test_a [test/x.rb:5]:\nTestX#test_b:\n1) Tests\\FooTest::testBar\n", []string{"A greets", "An error occurred while loading ./spec/b_spec.rb", "TestX#test_a", "TestX#test_b", "Tests\\FooTest::testBar"}, ""},
		"java and .NET": {
			"[ERROR] Failed to execute goal org.x:maven-surefire-plugin:3.2.5:test (default-test) on project app: There are test failures.\n> Task :app:test FAILED\nAppTest > greets() FAILED\n" +
				"  Failed A.B.Greets [12 ms]\n/srv/copy/A.cs(3,5): error CS0103: no such name\n",
			[]string{"org.x:maven-surefire-plugin:3.2.5:test (default-test) on project app", "Task :app:test", "AppTest > greets()", "A.B.Greets", "A.cs error CS0103"},
			"",
		},
		"make":             {"make[1]: *** [Makefile:5: lint] Error 1\ngmake: *** [test] Error 2\n", []string{"lint Error 1", "test Error 2"}, ""},
		"what is no name":  {"not ok 1 - \x1b[31m\u202e \n", nil, ""},
		"colours":          {"\x1b[31mnot ok\x1b[39m 1 - \x1b[1mgreets\x1b[22m\n", []string{"greets"}, ""},
		"very long a name": {"test " + strings.Repeat("x", 300) + " ... FAILED\n", []string{strings.Repeat("x", 200) + "…"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			n := Account{Dir: "/srv/copy"}
			var shown strings.Builder
			for line := range strings.Lines(tt.text) {
				if text, is := n.line([]byte(strings.TrimSuffix(line, "\n"))); is {
					fmt.Fprintf(&shown, "%s\n", text)
				}
			}
			if diff := cmp.Diff(tt.want, n.Names()); diff != "" {
				t.Errorf("names (-want +got):\n%s", diff)
			}
			if want := tt.shown; want != "" && want != "-" && shown.String() != want || want == "" && shown.String() != tt.text {
				t.Errorf("shown is %q", shown.String())
			}
		})
	}
}

// The example beside each form is what it is for.
func TestForms(t *testing.T) {
	for _, f := range forms().Names {
		if m := f.find(f.Example); m == nil || strings.Join(strings.Fields(strings.Join(m[1:], " ")), " ") != f.Name {
			t.Errorf("%s: %q gives %q, want %q", f.Of, f.Example, m, f.Name)
		}
	}
	for _, f := range forms().Counts {
		if ran, failed := counted(f.Example); f.find(f.Example) == nil || ran != f.Is[0] || failed != f.Is[1] {
			t.Errorf("%s: %q says that %d ran and %d failed, want %v", f.Of, f.Example, ran, failed, f.Is)
		}
	}
}

func TestMost(t *testing.T) {
	var n Account
	for i := range 10 * most {
		n.line(fmt.Appendf(nil, "test t%d ... FAILED", i))
	}
	if got := n.Names(); len(got) != most || got[0] != "t0" {
		t.Errorf("%d names, from %q", len(got), got[0])
	}
}

func TestJUnit(t *testing.T) {
	for text, want := range map[string][]string{
		`<testsuites><testsuite name="s"><testcase classname="a.B" name="c"><failure message="m">trace</failure><failure/></testcase><testcase classname="a.B" name="d"/>` +
			`<testcase name="e"><error/></testcase><testcase name="f"><skipped/></testcase></testsuite></testsuites>`: {"a.B c", "e"},
		`<testsuite><error/></testsuite>`:                              {"[error]"},
		`<testsuite name="s"><testcase name="a"/><error/></testsuite>`: {"s [error]"},
		`<testsuite name="s"><testcase name="a"/><testcase name="`:     {"s [cut off]"},
		`<?xml version="1.0" encoding="ISO-8859-1"?><testsuite>` +
			`<testcase name="caf` + "\xe9" + `"><failure/></testcase></testsuite>`: {"café"},
		`not XML at all <`: nil,
		`<!DOCTYPE x [<!ENTITY a "aaaa">]><testsuite><testcase name="&a;"><failure/></testcase>`: {"&a;"},
		`<testsuite><testcase name="cut off"><failure/>`:                                         {"cut off"},
	} {
		var n Account
		n.jUnit(strings.NewReader(text))
		if diff := cmp.Diff(want, n.Names()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

// How many tests there are is told in many ways; one that fails later changes the second figure alone.
func TestCounts(t *testing.T) {
	for text, want := range map[string][2]int{
		"ok  \texample.com/a\t0.1s\nok  \texample.com/b\t(cached)\nFAIL\texample.com/c\t0.1s\n?   \texample.com/d\t[no test files]\n": {0, 0},
		"===== 1 failed, 3 passed, 2 skipped, 1 error in 0.12s =====\n":                                                               {5, 2},
		"2 failed, 1 warning in 0.12s\n":                                                   {2, 2},
		"Ran 4 tests in 0.012s\n\nFAILED (failures=2, errors=1)\n":                         {4, 3},
		"test result: FAILED. 3 passed; 2 failed; 1 ignored; 0 measured; 0 filtered out\n": {5, 2},
		"Test Suites: 1 failed, 1 total\nTests:       1 failed, 3 passed, 4 total\n":       {4, 1},
		" Test Files  1 failed | 1 passed (2)\n      Tests  1 failed | 3 passed (4)\n":     {4, 1},
		"# tests 3\n# pass 1\n# fail 2\n# cancelled 0\n":                                   {3, 2},
		"  3 passing (10ms)\n  1 failing\n":                                                {4, 1},
		"4 examples, 1 failure\n":                                                          {4, 1},
		"4 runs, 5 assertions, 1 failures, 1 errors, 0 skips\n":                            {4, 2},
		"Tests: 4, Assertions: 5, Failures: 1.\n":                                          {4, 1},
		"[INFO] Tests run: 3, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.1 s -- in A\n[ERROR] Tests run: 4, Failures: 1, Errors: 1, Skipped: 0\n": {4, 2},
		"[ERROR] Tests run: 4, Failures: 1, Errors: 1, Skipped: 0\n":                                                                                       {4, 2},
		"4 tests completed, 1 failed\n": {4, 1},
		"Failed!  - Failed:     1, Passed:     3, Skipped:     0, Total:     4, Duration: 5 ms\n": {4, 1},
		"it took 5 tries, 3 failed\n": {0, 0},
		`{"Action":"output","Package":"p","Output":"ok  \tp\t0.1s\n"}` + "\n" + `{"Action":"pass","Package":"p","Test":"T"}`: {1, 0},
	} {
		var a Account
		for line := range strings.Lines(text) {
			a.line([]byte(strings.TrimSuffix(line, "\n")))
		}
		if ran, failed := a.tests(); ran != want[0] || failed != want[1] {
			t.Errorf("%q: %d ran, %d failed, want %v", text, ran, failed, want)
		}
	}
}

// Whatever is printed, names are short, few, and on one line.
func FuzzNames(f *testing.F) {
	f.Add([]byte("--- FAIL: TestA (0.00s)\nnot ok 1 - x"))
	f.Add([]byte(`{"Action":"fail","Package":"p","Test":"T"}`))
	f.Add([]byte(`<testsuite><testcase classname="a" name="b"><failure/></testcase></testsuite>`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var n Account
		for line := range strings.Lines(string(data)) {
			n.line([]byte(line))
		}
		n.jUnit(strings.NewReader(string(data)))
		all := n.Names()
		if len(all) > most {
			t.Errorf("%d names", len(all))
		}
		for _, name := range all {
			if len([]rune(name)) > longest+1 || strings.ContainsAny(name, "\n\r\x00\x1b") || strings.TrimSpace(name) == "" {
				t.Errorf("a name is %q", name)
			}
		}
	})
}

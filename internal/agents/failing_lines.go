package agents

import (
	"regexp"
	"strings"
	"sync"
)

// pattern is a form of lines that name a test which failed, or what kept tests from
// running. The parts in brackets are the name.
type pattern struct {
	has  string // what all of them contain
	form *regexp.Regexp
}

func (t pattern) find(line string) []string {
	if !strings.Contains(line, t.has) {
		return nil
	}
	return t.form.FindStringSubmatch(line)
}

var lines = sync.OnceValue(func() (all []pattern) {
	for _, l := range [][2]string{
		{"FAILED ", `^FAILED (\S+::.+?)(?: - .*)?$`},                                                 // pytest
		{"ERROR ", `^ERROR (\S+\.\w+(?:::.+?)?)(?: - .*)?$`},                                         // pytest: a file that cannot be read, what a test stands on
		{"INTERNALERROR>", `^(INTERNALERROR)>`},                                                      // pytest
		{"Fatal Python error", `^(Fatal Python error: .+)$`},                                         // Python
		{": ", `^(?:FAIL|ERROR): (\S+ \(.+\).*)$`},                                                   // unittest
		{"... FAILED", `^test (\S.*) \.\.\. FAILED$`},                                                // Cargo
		{"test failed, ", `^error: ((?:doc)?test failed, .+)$`},                                      // Cargo: of which program
		{"could not compile", `^error: (could not compile \S+(?: \([^)]*\))?)`},                      // Cargo
		{"didn't exit successfully", `\((signal: .+|exit code: .+)\)$`},                              // Cargo
		{"not ok", `^\s*not ok [0-9]+ (?:- )?([^#]*[^#\s])\s*$`},                                     // TAP, but for what is still to be done
		{"Bail out!", `^(Bail out!.*)$`},                                                             // TAP
		{"✖", `^\s*✖ (\S.*?) \([0-9.]+ms\)$`},                                                        // Node.js
		{" > ", `^ *(?:FAIL|×) +(\S+\.[cm]?[jt]sx? > .*\S) *$`},                                      // Vitest
		{" [ ", `^ *FAIL +(\S+\.[cm]?[jt]sx?) \[ .* \] *$`},                                          // Vitest: a file that cannot be run
		{"Errors ", `^ *(Errors +[0-9]+ errors?) *$`},                                                // Vitest: beside tests
		{"rspec ", `^rspec \S+ # (.+)$`},                                                             // RSpec
		{"error occurred", `^(An error occurred while loading .+?)\.?$`},                             // RSpec
		{"#test_", `^(\S+#test_\S+?)(?: \[.*\])?:$`},                                                 // Minitest
		{"::", `^[0-9]+\) (\S+::\w+.*)$`},                                                            // PHPUnit
		{"Failed ", `^\s*Failed (\S.*) \[[<0-9].*\]$`},                                               // .NET
		{": error ", `^\s*(\S.*\.(?:cs|fs|vb))\([0-9,]+\): (error \w+)`},                             // .NET
		{"Failed to execute goal", `^\[ERROR\] Failed to execute goal (\S+ .*? on project [^:\s]+)`}, // Maven
		{" FAILED", `^(?:> )?(Task :\S+|\S.* > \S.*) FAILED$`},                                       // Gradle
		{": *** [", `^\w*make(?:\[[0-9]+\])?: \*\*\* \[(?:\S+:[0-9]+: )?(.+)\] (Error [0-9]+)`},      // make
	} {
		all = append(all, pattern{l[0], regexp.MustCompile(l[1])})
	}
	return all
})

var jest = sync.OnceValues(func() (file, test *regexp.Regexp) {
	return regexp.MustCompile(`^ ?(PASS|FAIL) +(?:\S+ )?(\S+\.[cm]?[jt]sx?)(?: \([0-9.]+ m?s\))?$`), regexp.MustCompile(`^\s*● (\S.*\S)$`)
})

// jestOutput is what Jest has printed so far: it names a file and then what failed in it.
type jestOutput struct{ file string }

// line takes a line if it is one of Jest's, and gives what it names as failed, if anything.
func (j *jestOutput) line(line string) (name string, is bool) {
	file, test := jest()
	if m := file.FindStringSubmatch(line); m != nil {
		if j.file = m[2]; m[1] == "FAIL" {
			name = j.file
		}
		return name, true
	}
	m := test.FindStringSubmatch(line)
	if m == nil || m[1] == "Console" { // a heading
		return "", false
	}
	if j.file != "" {
		return j.file + " › " + m[1], true
	}
	return m[1], true
}

package scripts

import (
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// plain checks that the command before has said nothing in English, but for
// command lines and the names of columns of the log.
func plain(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: plain")
	}
	said := ts.ReadFile("stdout") + "\n" + ts.ReadFile("stderr")
	if strings.TrimSpace(said) == "" {
		ts.Fatalf("the command before has said nothing")
	}
	for line := range strings.Lines(said) {
		if found := testenv.English(codeOfTerminals.ReplaceAllString(line, "、")); found != "" {
			ts.Fatalf("%q is English: %s", found, line)
		}
	}
}

// codeOfTerminals are command lines, names that stand in columns of the log and
// of the history, and flags.
var codeOfTerminals = regexp.MustCompile(`reprise [a-z]+ --issue.*|^\d\d:\d\d:\d\d  (\d/\d  \w+ +\w+ +(worker)?)?|--[a-z-]+|rehearsal rehearsal`)

//go:build e2e

package e2e

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// tourHead is what the page says before the tour begins.
const tourHead = `# A tour

After this page you have seen a run with everything that can happen on the way. Take it yourself, without key or network:

` + "```sh\nsh examples/tour/tour.sh\n```" + `

What the agents say comes from [files](../examples/tour/answers), else from the built-in rehearsal. Left out are lines that
only say that a step begins, and what would be there twice. Times, hashes and token counts are replaced by fixed ones.
`

// TestTour takes the tour, and holds the page about it against what it prints.
func TestTour(t *testing.T) {
	t.Parallel()
	program := built(t)
	temp, err := os.MkdirTemp(scratch, "tour-")
	testenv.Must(t, err)
	tour := exec.Command("sh", "../../examples/tour/tour.sh")
	tour.Env = append(os.Environ(), "REPRISE="+filepath.Base(program), "PATH="+filepath.Dir(program)+":"+os.Getenv("PATH"), "TMPDIR="+temp)
	var failure strings.Builder
	tour.Stderr = &failure
	out, err := tour.Output()
	if err != nil || failure.Len() > 0 {
		t.Fatalf("%v\n%s\n%s", err, failure.String(), out)
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("it left behind %v (%v)", left, err)
	}
	testenv.Golden(t, filepath.Join("..", "..", "docs", "tour.md"), tourHead+sameEverywhere(string(out)))
}

// However long it takes, the page is the same.
func TestTourIsTheSameEverywhere(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ printed, want string }{
		{"1/6  plan  review  judge  ✓ pass (612 tokens, <$0.01, 0.3s)", "1/6  plan  review  judge  ✓ pass (600 tokens, <$0.01, 0s)"},
		{"1/6  plan  review  judge  ✓ pass (612 tokens, <$0.01, 12s)", "1/6  plan  review  judge  ✓ pass (600 tokens, <$0.01, 0s)"},
		{"4/7  code  check  ✓ by-name passes (1m02s)", "4/7  code  check  ✓ by-name passes (0s)"},
		{"7 attempts, 812 tokens, <$0.01, 1m02s of work", "7 attempts, 600 tokens, <$0.01, 0s of work"},
		{"calls    cost   time\n     7  <$0.01  1m02s\n     1   $1.25    12s\n     1   $1.25   0.3s", "calls    cost  time\n     7  <$0.01    0s\n     1   $1.25    0s\n     1   $1.25    0s"},
		{"pass                                   0.4s  by itself", "pass                                     0s  by itself"},
		{"pass                                    14s  by itself", "pass                                     0s  by itself"},
	} {
		if got := sameEverywhere(tt.printed); got != tt.want {
			t.Errorf("%q becomes\n%q, want\n%q", tt.printed, got, tt.want)
		}
	}
}

// sameEverywhere takes out of what was printed what differs from one time, and
// one machine, to the next. Columns stay as wide as they are.
func sameEverywhere(text string) string {
	for _, r := range []struct{ found, instead string }{
		{`(?m)^reprise: the sandbox here does not hold all: .*\n`, ""},
		{`\b[0-9a-f]{12}\b`, "0123456789ab"},
		{`<<<[a-z0-9]{16} `, "<<<0123456789abcdef "},
		{`(?m)^[a-z0-9]{16}>>>`, "0123456789abcdef>>>"},
		{`\b1\d\d(\.\d)?k tokens`, "100k tokens"},
		{`\b(\d{3}|\d\.\dk|\dk) tokens`, "600 tokens"},
		{`( )\d{3}(  <?\$)`, "${1}600$2"},
		{`\d\.\dk(  <?\$)`, " 600$1"},
		{`  \dk(  <?\$)`, " 600$1"},
		{`\$1\.2[6-9]`, "$$1.26"},
		{`  \$0\.0\d`, " <$$0.01"},
		{`([^<])\$0\.0\d`, "$1<$$0.01"},
		{`cost +time`, "cost  time"},                                // as wide as the longest
		{`(?m)(\$\d\.\d\d) +(\d+m)?\d+(\.\d)?s( |$)`, "$1    0s$4"}, // in a column
		{`  (\d\.\ds| \d\ds)`, "    0s"},                            // the same without a cost
		{`(?m)\b(\d+h)?(\d+m)?\d+(\.\d)?s( of work|\)|$)`, "0s$4"},  // on a busy machine minutes
		{`\b\d(\.\d)?s\b`, "0s"},
		{`(?m) +$`, ""},
	} {
		text = regexp.MustCompile(r.found).ReplaceAllString(text, r.instead)
	}
	return text
}

package runs

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/terminal"
	"github.com/reprise-ci/reprise/internal/test/progresstest"
	"github.com/reprise-ci/reprise/metadata"
)

// What a run has cost is a sum, and reads as one in JSON too.
func TestCostOfAListedRun(t *testing.T) {
	var run metadata.Run
	run.Cost.USD = 0.5
	for range 3 {
		run.Cost.USD += 0.1
	}
	if got := listed(run, nil).USD; got != 0.8 {
		t.Errorf("it has cost %v", got)
	}
}

// Only what cannot do anything is given to the programs of the desktop.
func TestOpens(t *testing.T) {
	for place, want := range map[string]bool{
		"https://github.com/o/n/pull/7": true, "/runs/x/7/tree/.reprise/issue-7/00_design/design.md": true, "/x/data.JSON": true,
		"http://x.example/": false, "file:///etc/passwd": false, "javascript:alert(1)": false, "https://a:b@x.example/": false,
		"/x/page.html": false, "/x/run.desktop": false, "/x/tool": false, "design.md": false, "--help.md": false,
	} {
		if got := opens(place); got != want {
			t.Errorf("%s: %v", place, got)
		}
	}
}

// Whatever a record says, a list has one line for each run, two more for one that waits
// for a person, and nothing in it moves the cursor.
func TestOddLists(t *testing.T) {
	for seed := range uint64(50) {
		o := progresstest.Odd{Rand: rand.New(rand.NewPCG(seed, 7))}
		var all []Run
		want := 6
		for range 5 {
			one := listed(progresstest.OddOf[metadata.Run](o), []string{here, origin})
			if all = append(all, one); one.Waits != "" {
				want += 2
			}
		}
		var out bytes.Buffer
		ShowList(environ.Env{Stdout: &out, Now: time.Now}, all)
		if n := strings.Count(out.String(), "\n"); n != want {
			t.Errorf("seed %d: %d lines:\n%s", seed, n, &out)
		}
		if i := strings.IndexFunc(out.String(), func(r rune) bool { return r != '\n' && unicode.IsControl(r) || r == '\u202e' }); i >= 0 {
			t.Errorf("seed %d: a control character got through: %q", seed, out.String())
		}
	}
}

func TestAListOnANarrowTerminal(t *testing.T) {
	var out strings.Builder
	r := Run{Issue: "108", Status: metadata.Completed, Phase: "implement", Step: "execute", Branch: "b", Where: []string{here}, Title: "Retry uploads"}
	showRuns(&out, terminal.Options{Width: 50}, time.Now(), []Run{r})
	if got := out.String(); !strings.Contains(got, "Retry u") || strings.Contains(got, "execute") {
		t.Errorf("on 50 columns:\n%s", got)
	}
	out.Reset()
	if showRuns(&out, terminal.Options{Width: 80}, time.Now(), []Run{r}); !strings.Contains(out.String(), "implement execute") {
		t.Errorf("on 80 columns:\n%s", out.String())
	}
}

package eval

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/terminal"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
)

// evaluating is an evaluation of so many cases by variants, in a folder for results.
func evaluating(t testing.TB, dir string, o options, cases int, variants ...string) *evaluation {
	s := &suite{Runs: 1, dir: "suite"}
	for i := range cases {
		s.Cases = append(s.Cases, Case{Name: fmt.Sprintf("case-%02d", i)})
	}
	for _, v := range variants {
		s.Variants = append(s.Variants, variant{Name: v})
	}
	known, err := openResults(context.Background(), dir)
	testenv.Must(t, err)
	t.Cleanup(func() { _ = known.close() })
	now := func() time.Time { return time.Unix(1000, 0).UTC() }
	return &evaluation{environ.Env{Stderr: io.Discard, Now: now}, s, o, known, map[[2]string]string{}}
}

// fake is an agent of known quality: in so many of 100 runs it solves the case.
func fake(t trial, quality uint32, usd float64) result {
	h := fnv.New32a()
	_, _ = fmt.Fprintf(h, "%s %s %d", t.Variant, t.Case, t.Run)
	r := result{trial: t, Solved: h.Sum32()>>8%100 < quality, Spent: usd}
	r.Facts.Cost.USD, r.Facts.Attempts = usd, 1
	if !r.Solved {
		r.Misses = []string{"hidden: ended with 1: --- FAIL: \x1b[2J", "more"}
	}
	return r
}

// TestKnownAgentsAreRanked has agents evaluated whose quality is known: one solves 90 of
// 100, another one too, one half of them, and one lies.
func TestKnownAgentsAreRanked(t *testing.T) {
	quality := map[string]uint32{"good": 90, "half": 50, "liar": 0, "twin": 90}
	dir := filepath.Join(t.TempDir(), "results")
	e := evaluating(t, dir, options{Runs: 5, Jobs: 4}, 12, "good", "half", "liar", "twin")
	report, err := e.carryOut(t.Context(), func(_ context.Context, at trial, _ float64) (result, error) {
		return fake(at, quality[at.Variant], float64(quality[at.Variant])/1000), nil
	})
	testenv.Must(t, err)
	for _, s := range report.Variants {
		if truth := float64(quality[s.Variant]) / 100; s.Runs != 60 || !s.Share.holds(truth) {
			t.Errorf("%s: %d of %d, %v; the truth is %v", s.Variant, s.Solved, s.Runs, s.Share, truth)
		}
	}
	var said bytes.Buffer
	report.show(terminal.NewReport(&said, terminal.Options{}))
	for _, want := range []string{
		"\ngood and half: good solves ",
		"\ngood and liar: good solves ",
		"\nhalf and liar: half solves ",
		" of 60 runs more\n",
		"\ngood and twin: no difference can be seen with 60 runs of each\n",
		"\nnot solved: case-00, liar, run 1: hidden: ended with 1: --- FAIL: ␛[2J (and 1 more)\n",
		"\n240 runs, $13.80 in all; the results are in ",
	} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("%q is missing", want)
		}
	}
	if t.Failed() {
		t.Log(said.String())
	}
	if report.allSolved() || report.Missing != 0 || report.Short {
		t.Errorf("%+v", report)
	}
	if err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error { // what agents said is for one user
		if info, err := d.Info(); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s is open to others (%v)", file, err)
		}
		return err
	}); err != nil {
		t.Error(err)
	}
}

// TestNobodyAnswers has trials whose service does not answer: they say nothing of the variant,
// count nowhere, keep no other from going on, and are carried out by the next start.
func TestNobodyAnswers(t *testing.T) {
	dir, down := t.TempDir(), true
	do := func(_ context.Context, at trial, _ float64) (result, error) {
		if down && at.Variant == "b" {
			return result{trial: at, Spent: 0.01}, unanswered(metadata.Run{Attempts: []metadata.Attempt{{Status: metadata.Errored, Class: metadata.Auth, Why: metadata.Said("401\x1b[2J")}}})
		}
		return fake(at, 100, 0.1), nil
	}
	e := evaluating(t, dir, options{Jobs: 2}, 2, "a", "b")
	report, err := e.carryOut(t.Context(), do)
	if err != nil || report.Missing != 2 || len(report.Results) != 2 || report.allSolved() || report.Variants[1].Runs != 0 {
		t.Errorf("%+v, %v", report, err)
	}
	var said bytes.Buffer
	report.show(terminal.NewReport(&said, terminal.Options{}))
	if want := "not over: case-00, b, run 1: 401␛[2J\nnot over: case-01, b, run 1: 401␛[2J\nThis is a part: 2 runs are not over (the same command goes on with them)\n"; !strings.HasSuffix(said.String(), want) {
		t.Errorf("it says:\n%s", said.String())
	}
	down = false
	if report, err = e.carryOut(t.Context(), do); err != nil || report.Missing != 0 || report.Earlier != 2 || len(report.Unanswered) > 0 || !report.allSolved() {
		t.Errorf("%+v, %v", report, err)
	}
}

// What says nothing of an agent ends no trial; a program that crashes, or gives an answer that
// cannot be used, does.
func TestWhatEndsATrial(t *testing.T) {
	call := func(status metadata.AttemptStatus, class metadata.Class) metadata.Attempt {
		return metadata.Attempt{Phase: "p", Step: metadata.Review, Status: status, Class: class}
	}
	whole, step := Case{}, Case{Step: &stepOf{"p", metadata.Review}}
	for _, tt := range []struct {
		last   metadata.Attempt
		status metadata.Status
		want   bool
	}{
		{call(metadata.Errored, metadata.Network), metadata.Failed, false},
		{call(metadata.Errored, metadata.Auth), metadata.Failed, false},
		{call(metadata.Errored, metadata.Crash), metadata.Failed, true},
		{call(metadata.Errored, metadata.StepTimeout), metadata.Failed, true},
		{call(metadata.Unsuccessful, ""), metadata.Waiting, true},
		{call(metadata.Succeeded, ""), metadata.Completed, true},
	} {
		run := metadata.Run{Status: tt.status, Attempts: []metadata.Attempt{call(metadata.Succeeded, ""), tt.last}}
		if over(whole, frozenRun{}, run) != tt.want || over(step, frozenRun{Attempts: 1}, run) != tt.want {
			t.Errorf("%+v: of a run %v, of a step %v, want %v", tt.last, over(whole, frozenRun{}, run), over(step, frozenRun{Attempts: 1}, run), tt.want)
		}
	}
}

// TestBudgetEndsInTheMiddle lets trials spend no more than there is: what is over is
// reported, and a larger budget goes on with the rest.
func TestBudgetEndsInTheMiddle(t *testing.T) {
	dir, calls := t.TempDir(), 0
	do := func(_ context.Context, at trial, usd float64) (result, error) {
		calls++
		if usd < 0.1 {
			return result{trial: at, Spent: usd}, errCut
		}
		return fake(at, 100, 0.1), nil
	}
	e := evaluating(t, dir, options{Jobs: 1, USD: 0.35}, 10, "a")
	report, err := e.carryOut(t.Context(), do)
	testenv.Must(t, err)
	if !report.Short || report.Missing != 7 || len(report.Results) != 3 || calls != 4 || // which the budget ended
		report.allSolved() {
		t.Errorf("after %d calls: %+v", calls, report)
	}
	var said bytes.Buffer
	report.show(terminal.NewReport(&said, terminal.Options{}))
	if want := "This is a part: 7 runs are not over (the budget has less left than they cost; with a larger --budget-usd the same command goes on with them)\n"; !strings.HasSuffix(said.String(), want) {
		t.Errorf("it ends with:\n%s", said.String())
	}
	e.options.USD = 0.30 // which is spent
	if report, err = e.carryOut(t.Context(), do); err != nil || calls != 4 || !report.Short || report.Earlier != 3 {
		t.Errorf("after %d calls: %+v, %v", calls, report, err)
	}
	cheap := evaluating(t, t.TempDir(), options{Jobs: 1, USD: 0.05}, 2, "b")
	if report, err := cheap.carryOut(t.Context(), do); err != nil || calls != 4+1 || !report.Short || len(report.Results) != 0 {
		t.Errorf("after %d calls: %+v, %v", calls, report, err)
	}
	calls = 3
	e.options.USD = 0
	if report, err = e.carryOut(t.Context(), do); err != nil || calls != 3+7 || report.Missing != 0 || !report.allSolved() {
		t.Errorf("after %d calls: %+v, %v", calls, report, err)
	}
}

// TestFailureEndsAnEvaluation keeps what was over by then, and says what failed.
func TestFailureEndsAnEvaluation(t *testing.T) {
	broken := errors.New("the disk is full")
	e := evaluating(t, t.TempDir(), options{Jobs: 1}, 5, "a")
	report, err := e.carryOut(t.Context(), func(_ context.Context, at trial, _ float64) (result, error) {
		if at.Case == "case-02" {
			return result{}, broken
		}
		return fake(at, 100, 0.1), nil
	})
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "case-02, a, run 1: ") || len(report.Results) != 2 || report.Missing != 3 {
		t.Errorf("%+v, %v", report, err)
	}
}

// TestChangedCasesAreDoneAnew goes by what a trial was made from.
func TestChangedCasesAreDoneAnew(t *testing.T) {
	e, done := evaluating(t, t.TempDir(), options{Jobs: 1}, 2, "a"), []string(nil)
	do := func(_ context.Context, at trial, _ float64) (result, error) {
		done = append(done, at.Case)
		return fake(at, 100, 0), nil
	}
	for _, key := range []string{"x", "x", "y"} {
		e.keys[[2]string{"case-01", "a"}] = key
		if _, err := e.carryOut(t.Context(), do); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"case-00", "case-01", "case-01"}; !slices.Equal(done, want) {
		t.Errorf("done: %v, want %v", done, want)
	}
}

// TestKeys changes what a case and a variant are made from.
func TestKeys(t *testing.T) {
	dir := folder(t, map[string]string{"c/case.cue": "x", "c/issue.md": "x", "shared.cue": "x", "pipeline.cue": "x"})
	keys := func() (all [2]string) {
		c := Case{Name: "c", dir: filepath.Join(dir, "c"), Repo: filepath.Join(dir, "shared.cue")}
		v := variant{Pipeline: filepath.Join(dir, "pipeline.cue")}
		for i, key := range []func() (string, error){func() (string, error) { return c.key(t.Context(), os.Environ()) }, v.key} {
			made, err := key()
			testenv.Must(t, err)
			all[i] = made
		}
		return all
	}
	first := keys()
	if again := keys(); again != first {
		t.Errorf("%v, then %v", first, again)
	}
	for file, of := range map[string]int{"c/issue.md": 0, "shared.cue": 0, "pipeline.cue": 1} {
		testenv.Put(t, filepath.Join(dir, file), "y")
		now := keys()
		if now[of] == first[of] || now[1-of] != first[1-of] {
			t.Errorf("after a change of %s: %v, before %v", file, now, first)
		}
		first = now
	}
}

// evaluateUntilKilled evaluates until some trials are over, and then waits to be killed
// with others at work. Of each trial that begins it prints a line.
func evaluateUntilKilled(dir string) int {
	known, err := openResults(context.Background(), dir)
	if err != nil {
		fmt.Println(err)
		return 1
	}
	e := &evaluation{environ.Env{Stderr: io.Discard, Now: time.Now}, &suite{Runs: 1, Cases: make([]Case, 1), Variants: []variant{{Name: "a"}}}, options{Runs: 100, Jobs: 3}, known, map[[2]string]string{}}
	e.suite.Cases[0].Name = "case-00"
	_, err = e.carryOut(context.Background(), func(_ context.Context, at trial, _ float64) (result, error) {
		fmt.Println(at)
		if at.Run > 20 {
			select {}
		}
		return fake(at, 100, 0), nil
	})
	fmt.Println(err)
	return 1
}

// TestKilledEvaluationGoesOn kills an evaluation at work: the next one does each trial
// that was not over, and none that was.
func TestKilledEvaluationGoesOn(t *testing.T) {
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], evaluates, dir)
	out, err := cmd.StdoutPipe()
	testenv.Must(t, err)
	testenv.Must(t, cmd.Start())
	for lines, n := bufio.NewScanner(out), 0; n < 23 && lines.Scan(); n++ { // three wait
	}
	testenv.Must(t, cmd.Process.Kill())
	_, _ = io.Copy(io.Discard, out)
	_ = cmd.Wait() // it was killed
	e := evaluating(t, dir, options{Runs: 100, Jobs: 3}, 1, "a")
	over := map[trial]bool{}
	for _, at := range e.suite.trials(100) {
		if _, is, err := e.known.load(at, ""); err != nil {
			t.Fatal(err)
		} else if is {
			over[at] = true
		}
	}
	if len(over) != 20 {
		t.Fatalf("%d were over, want 20", len(over))
	}
	var mu sync.Mutex
	report, err := e.carryOut(t.Context(), func(_ context.Context, at trial, _ float64) (result, error) {
		mu.Lock()
		defer mu.Unlock()
		if over[at] {
			t.Errorf("%s was done twice", at)
		}
		over[at] = true
		return fake(at, 100, 0), nil
	})
	if err != nil || report.Missing != 0 || len(over) != 100 {
		t.Errorf("%d over: %+v, %v", len(over), report.Missing, err)
	}
}

func TestTwoEvaluationsInOneFolder(t *testing.T) {
	dir := t.TempDir()
	_ = evaluating(t, dir, options{}, 1, "a")
	if _, err := openResults(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "another evaluation is at work there") {
		t.Errorf("got %v", err)
	}
}

func TestJUnit(t *testing.T) {
	s := &suite{Variants: []variant{{Name: "a"}}, Cases: []Case{{Name: "x"}, {Name: "y"}}}
	all := []result{{trial: trial{"a", "y", 1}, Misses: []string{"one <&> \x1b", "two"}}, {trial: trial{"a", "x", 1}, Solved: true}}
	all[0].Facts.Seconds = 1.5
	want := `<?xml version="1.0" encoding="UTF-8"?>
<testsuites>
  <testsuite name="a" tests="2" failures="1" time="1.500">
    <testcase classname="x" name="run 1" time="0.000"></testcase>
    <testcase classname="y" name="run 1" time="1.500">
      <failure message="one &lt;&amp;&gt; ␛">one &lt;&amp;&gt; ␛&#xA;two</failure>
    </testcase>
  </testsuite>
</testsuites>
`
	if diff := cmp.Diff(want, reportOn(s, all, 2).junit()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

package engine

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/reprise-ci/reprise/internal/test/phasestest"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

// checkFunc is a checker.
type checkFunc func(ctx context.Context, c pipelines.Check) (metadata.CheckResult, error)

func (f checkFunc) Check(ctx context.Context, _ string, c pipelines.Check) (metadata.CheckResult, error) {
	return f(ctx, c)
}

// nowhere is a tree whose copies are nowhere.
type nowhere struct{ BranchTree }

func (nowhere) CopyDir(name string) string { return name }

func (nowhere) Copy(context.Context, string, string) (func() error, error) {
	return func() error { return nil }, nil
}

// newRound gives a round of checks that is carried out by f.
func newRound(f checkFunc) *checkRound {
	return &checkRound{Engine: &Engine{Journal: Journal{Tree: nowhere{}, SecretFinder: hush{}}}, Checker: f}
}

func namedChecks(names ...string) (all []pipelines.Check) {
	for _, n := range names {
		all = append(all, pipelines.Check{Name: n, Run: "make " + n})
	}
	return all
}

// Each of three checks ends only once all of them have begun.
func TestChecksRunSideBySide(t *testing.T) {
	var begun sync.WaitGroup
	begun.Add(3)
	c := newRound(func(_ context.Context, c pipelines.Check) (metadata.CheckResult, error) {
		begun.Done()
		begun.Wait()
		return metadata.CheckResult{Name: c.Name, Pass: true}, nil
	})
	c.Jobs = 3
	got, err := c.all(t.Context(), namedChecks("a", "b", "c"))
	if want := []metadata.CheckResult{{Name: "a", Pass: true}, {Name: "b", Pass: true}, {Name: "c", Pass: true}}; err != nil || !cmp.Equal(want, got) {
		t.Errorf("%v, %v", got, err)
	}
}

// What fails is tried again as often as it asks for, and said to be flaky if it passes.
func TestFlaky(t *testing.T) {
	for fails, want := range map[int]metadata.CheckResult{
		0: {Name: "a", Pass: true, Output: "try 1"},
		2: {Name: "a", Pass: true, Output: "try 2", Flaky: true, FailedTests: []string{"TestA"}},
		3: {Name: "a", Output: "try 3", FailedTests: []string{"TestA"}},
	} {
		tries := 0
		c := newRound(func(_ context.Context, c pipelines.Check) (metadata.CheckResult, error) {
			tries++
			r := metadata.CheckResult{Name: c.Name, Pass: tries > fails, Output: fmt.Sprintf("try %d", tries)}
			if !r.Pass {
				r.FailedTests = []string{"TestA"}
			}
			return r, nil
		})
		got, err := c.all(t.Context(), []pipelines.Check{{Name: "a", Run: "make", Retries: 2}})
		testenv.Must(t, err)
		testenv.Same(t, fmt.Sprintf("fails %d times", fails), want, got[0])
		if most := min(fails+1, 3); tries != most {
			t.Errorf("fails %d times: it ran %d times, want %d", fails, tries, most)
		}
	}
}

// A check that cannot be judged ends the others, and its error is the one that counts.
func TestACheckThatCannotBeJudged(t *testing.T) {
	wrong := errors.New("there is no shell")
	c := newRound(func(ctx context.Context, c pipelines.Check) (metadata.CheckResult, error) {
		if c.Name == "b" {
			return metadata.CheckResult{}, wrong
		}
		<-ctx.Done()
		return metadata.CheckResult{}, ctx.Err()
	})
	c.Jobs = 2
	if _, err := c.all(t.Context(), namedChecks("a", "b", "c")); !errors.Is(err, wrong) {
		t.Errorf("error %v, want %v", err, wrong)
	}
}

// english puts a reason into words.
func english(r metadata.Reason) string { return r.In(prompts.Words("en")) }

// What both the decisions and the loop are tested with.
var (
	t0       = phasestest.Start
	testPlan = phasestest.Plan
	legal    = phasestest.CheckLegal
	blocker  = phasestest.Blocker
	asksFor  = phasestest.AskingFor
	titles   = phasestest.Titles
)

const anyReport = phasestest.AnyReport

func freshRun(plan *pipelines.Pipeline) metadata.Run {
	return phases.Fresh(phases.On(plan, phasestest.Run()), t0)
}

func show(d phases.Decision) string {
	if d.Final() {
		return fmt.Sprintf("%s %s", d.Do, d.Code)
	}
	s := d.Phase + " " + string(d.Do)
	if d.Agent != "" {
		s += " " + d.Agent
	}
	if d.Resume > 0 {
		s += fmt.Sprintf(" resume %d", d.Resume)
	}
	if d.Again {
		s += " again"
	}
	if d.Delay > 0 {
		s += " after " + d.Delay.Round(time.Second).String()
	}
	return s
}

const own = ".reprise/issue-7/01_code/"

// promise holds a decision against what may come at all.
func promise(rt *rapid.T, plan *pipelines.Pipeline, run metadata.Run, d phases.Decision) {
	if d != phases.Decide(phases.On(plan, run)) {
		rt.Fatalf("Decide is not a function")
	}
	phasestest.CheckDecided(rt, plan, run, phasestest.Decided{
		Phase: d.Phase, Revises: d.Do == phases.DoRevise, Shown: show(d),
		Waits: d.Do == phases.DoWait && d.Code == metadata.ChangeRefused,
	})
}

// tree is a folder with spaces in its name that has some files.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "a tree")
	for name, text := range files {
		write(t, dir, name, text)
	}
	return dir
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	file := filepath.Join(dir, name)
	testenv.Put(t, file, text)
}

// What is asked for is what the files had before they were taken back, and nothing that a
// person could not read.
func TestTake(t *testing.T) {
	dir := tree(t, map[string]string{
		"changed": "new\n", "same": "same\n", "made": "made\n", "empty": "", "bytes": "\xff\xfe", "large": strings.Repeat("x", phases.MostOpenedBytes+1), "was": "text\n",
	})
	testenv.Must(t, os.Symlink("changed", filepath.Join(dir, "link")))
	paths := []string{"changed", "same", "made", "empty", "bytes", "large", "link", "was", "gone"}
	all, refused, err := takeOpened(dir, paths, func() error {
		for name, text := range map[string]string{"changed": "old\n", "same": "same\n", "empty": "full\n", "was": strings.Repeat("x", phases.MostOpenedBytes+1)} {
			write(t, dir, name, text)
		}
		return os.Remove(filepath.Join(dir, "made"))
	})
	if got := strings.Join(phases.OpenedPaths(all), " "); err != nil || got != "changed made empty" {
		t.Errorf("asked for is %q (%v)", got, err)
	}
	testenv.Is(t, "refused are", strings.Join(refused, " "), "bytes large link was gone")
	if all[0].Text != "new\n" || all[0].Before == "" || all[1].Before != "" || all[2].Text != "" {
		t.Errorf("asked for is %+v", all)
	}
	if _, _, err := takeOpened(dir, paths, func() error { return os.ErrInvalid }); !errors.Is(err, os.ErrInvalid) {
		t.Errorf("an error becomes %v", err)
	}
}

// What was approved gets there only in place of what it was made for.
func TestLeft(t *testing.T) {
	ask := phases.OpenedChange("sub/a.yml", []byte("old\n"), "new\n")
	made := phases.OpenedChange("b.md", nil, "")
	shown := ask
	shown.Text = "worse\n" // while the difference is that of another text
	for name, tt := range map[string]struct {
		files map[string]string
		all   []metadata.Opened
		left  int
		moved bool
	}{
		"as it was":             {map[string]string{"sub/a.yml": "old\n"}, []metadata.Opened{ask, made}, 2, false},
		"it is there":           {map[string]string{"sub/a.yml": "new\n", "b.md": ""}, []metadata.Opened{ask, made}, 0, false},
		"something else":        {map[string]string{"sub/a.yml": "other\n"}, []metadata.Opened{ask}, 0, true},
		"nothing any more":      {nil, []metadata.Opened{ask}, 0, true},
		"something where none":  {map[string]string{"b.md": "x"}, []metadata.Opened{made}, 0, true},
		"another one was shown": {map[string]string{"sub/a.yml": "old\n"}, []metadata.Opened{shown}, 0, true},
		"a folder in its place": {map[string]string{"b.md/x": "x"}, []metadata.Opened{made}, 0, true},
	} {
		dir := tree(t, tt.files)
		testenv.Must(t, os.MkdirAll(dir, 0o755))
		left, err := UnplacedOpened(dir, tt.all)
		if no := (&phases.Refusal{}); len(left) != tt.left || errors.As(err, &no) != tt.moved {
			t.Errorf("%s: %+v (%v)", name, left, err)
		}
		if err := layOutOpened(dir, tt.all); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		placed, err := placeOpened(tree(t, tt.files), tt.all)
		if no := (&phases.Refusal{}); len(tt.files) > 0 && (len(placed) != tt.left || errors.As(err, &no) != tt.moved) {
			t.Errorf("%s: placed is %+v (%v)", name, placed, err)
		}
		if got, _ := os.ReadFile(filepath.Join(dir, "sub/a.yml")); tt.left == 2 && string(got) != "new\n" || tt.moved && string(got) == "new\n" {
			t.Errorf("%s: an agent finds %q", name, got)
		}
	}
}

// A script stays one that can be run.
func TestPutKeepsRights(t *testing.T) {
	dir := tree(t, map[string]string{"run.sh": "#!/bin/sh\n"})
	file := filepath.Join(dir, "run.sh")
	err := errors.Join(os.Chmod(file, 0o755), putOpened(dir, metadata.Opened{Path: "run.sh", Text: "#!/bin/sh\necho\n"}))
	if info, e := os.Stat(file); err != nil || e != nil || info.Mode()&0o100 == 0 {
		t.Errorf("it is %v (%v, %v)", info, err, e)
	}
}

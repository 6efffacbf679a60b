package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// checkFunc is a checker.
type checkFunc func(ctx context.Context, c pipelines.Check) (metadata.CheckResult, error)

func (f checkFunc) Check(ctx context.Context, _ string, c pipelines.Check) (metadata.CheckResult, error) {
	return f(ctx, c)
}

// nowhere is a tree whose copies are nowhere.
type nowhere struct{}

func (nowhere) CopyDir(name string) string { return name }

func (nowhere) Copy(context.Context, string, string, []string) (func() error, error) {
	return func() error { return nil }, nil
}

// newRound gives a round of checks that is carried out by f.
func newRound(f checkFunc) *checkRound {
	return &checkRound{Tree: nowhere{}, Checker: f, Jobs: 1, Mask: func(s string) string { return s }}
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
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got[0]); diff != "" {
			t.Errorf("fails %d times (-want +got):\n%s", fails, diff)
		}
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

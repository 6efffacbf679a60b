package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/reprise-ci/reprise/git"
	"github.com/reprise-ci/reprise/github/githubtest"
)

// Several machines on one issue, in any order of all that they do outside of
// themselves, some of them killed, stopped for hours, or without an answer:
// no command is lost or obeyed twice, and nothing that was pushed is lost. The
// long form is TestManyInterleave, which also makes a case smaller that fails.
func TestInterleave(t *testing.T) {
	t.Parallel()
	s, dice := newArena(t), chance(t)
	cases := rapid.Custom(anything)
	for range 25 {
		seed := int(dice.Uint32())
		if err := s.play(t, cases.Example(seed)); err != nil {
			t.Fatalf("case %d: %v", seed, err)
		}
	}
}

// arena is what all cases have in common.
type arena struct {
	forge   *githubtest.Server
	source  *git.Source
	defined definition // by a pipeline with a phase for thought and one for code
	dir     string
	cases   int
}

const twoPhases = `
name: "small"
agents: own: {use: "rehearsal"}
phases: [
	{name: "plan", goal: "Plan.", review: false},
	{name: "build", goal: "Build.", access: "tree", gates: ["It works"]},
]
`

func newArena(t *testing.T) *arena {
	t.Helper()
	st := newStand(t)
	st.write("project/.github/reprise/pipelines/small.cue", twoPhases)
	for _, args := range [][]string{{"add", "--all"}, {"commit", "--quiet", "--message=pipeline"}} {
		if _, err := gitIn(st.path("project"), args...); err != nil {
			t.Fatal(err)
		}
	}
	src, err := git.Find(t.Context(), st.path("project"))
	if err != nil {
		t.Fatal(err)
	}
	s := &arena{source: src, dir: t.TempDir()}
	s.defined, err = define(t.Context(), src, issue{Title: "Say hello"}, opening{pipeline: "small"})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// play lets a case happen, at a time of its own that passes when nobody has
// anything to do.
func (s *arena) play(t *testing.T, all []incident) error {
	return s.stage(t, all, func(w *meeting) {
		w.happens(all)
		w.settle()
	})
}

// stage makes a meeting, lets it go on as story says, and holds what is left
// against what must be so.
func (s *arena) stage(t *testing.T, all []incident, story func(*meeting)) error {
	if s.cases%100 == 0 { // it remembers every request
		s.forge = githubtest.New(t)
		s.forge.AddInstallation(hubToken, "github-actions[bot]")
	}
	s.cases++
	n := s.cases
	repo, dir := fmt.Sprintf("acme/widget%d", n), filepath.Join(s.dir, fmt.Sprint(n))
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }() // a temporary folder
	s.forge.AddIssue(repo, githubtest.Issue{Number: hubIssue, Title: "Say hello", Body: "It should.", Author: "bob"})
	for who, role := range map[string]string{"ada": "write", "max": "maintain", "eve": "read"} {
		s.forge.Permit(repo, who, role)
	}
	w := &meeting{forge: s.forge, repo: repo, dir: dir, over: map[string]bool{}, jobs: map[int][]githubtest.Job{}, unheard: map[int64]bool{}, said: map[int64]statement{}, ctx: context.Background()}
	w.origin = newOrigin(s.source.Head, map[string]string{"README.md": "# Project\n"})
	w.origin.pushed = func(m *memMachine, c *memCommit) {
		w.pushed(m, c)
		s.forge.SetBranch(repo, branchPrefix+fmt.Sprint(hubIssue), c.id)
	}
	w.places = &places{
		find:   func(context.Context, string) (*git.Source, error) { return s.source, nil },
		define: func(context.Context, *git.Source, issue, opening) (definition, error) { return s.defined, nil },
	}
	synctest.Test(t, func(*testing.T) {
		s.forge.SetClock(time.Now)
		w.began = time.Now()
		story(w)
	})
	s.forge.SetClock(nil)
	if err := w.sound(); err != nil {
		return fmt.Errorf("%w\n%s", err, w.report(all))
	}
	return nil
}

// anything makes up a case. In one of three no machine comes to harm, and then
// no command may wait for somebody to come later.
func anything(t *rapid.T) []incident {
	all := []incident{{By: "ada", Text: "/run", Jobs: []assignment{someJob(t)}}}
	for range rapid.IntRange(1, 6).Draw(t, "incidents") {
		all = append(all, something(t))
	}
	if rapid.IntRange(0, 2).Draw(t, "harm") > 0 {
		return all
	}
	for i := range all {
		if strings.HasPrefix(all[i].Text, "$ ") {
			all[i].Text = "/rollback build look again"
		}
		for j := range all[i].Jobs {
			all[i].Jobs[j].fate = fate{Seed: all[i].Jobs[j].Seed}
		}
	}
	return all
}

func something(t *rapid.T) incident {
	h := incident{
		By: rapid.SampledFrom([]string{"ada", "ada", "max", "max", "max", "eve"}).Draw(t, "by"),
		Text: rapid.SampledFrom([]string{
			"/run", "/resume", "/retry", "/rollback build look again", "/rollback plan think again", "/rollback nowhere x", "/cancel", "/pause",
			"/skip build not needed", "/help", "/rolback", "push", "$ cancel", "$ pause", "$ run --sandbox off",
			"$ rollback --force --to-phase build --reason again", "$ rollback --force --to-phase plan --reason again",
		}).Draw(t, "text"),
	}
	switch rapid.IntRange(0, 5).Draw(t, "when") {
	case 0: // about when a run ends
		h.Ending, h.After = true, time.Duration(rapid.IntRange(0, 2_000).Draw(t, "ms"))*time.Millisecond
	case 1: // when a lease may be over
		h.After = time.Duration(rapid.IntRange(1, 120).Draw(t, "minutes")) * time.Minute
	default:
		h.After = time.Duration(rapid.IntRange(0, 200_000).Draw(t, "ms")) * time.Millisecond
	}
	h.Edit = rapid.IntRange(1, 15).Draw(t, "edit") == 1
	least := 0
	if strings.HasPrefix(h.Text, "$ ") {
		least = 1
	}
	for range rapid.IntRange(least, 2).Draw(t, "jobs") {
		h.Jobs = append(h.Jobs, someJob(t))
	}
	return h
}

func someJob(t *rapid.T) assignment {
	most := rapid.SampledFrom([]int{300, 300, 60_000}).Draw(t, "most")
	a := assignment{After: time.Duration(rapid.IntRange(1, most).Draw(t, "ms")) * time.Millisecond, Twin: rapid.Bool().Draw(t, "twin")}
	a.Seed = rapid.Uint64().Draw(t, "seed")
	switch rapid.IntRange(0, 5).Draw(t, "fate") {
	case 0:
		a.Kill = rapid.IntRange(1, rapid.SampledFrom([]int{40, 150}).Draw(t, "soon")).Draw(t, "kill")
		a.Again = time.Duration(rapid.IntRange(0, 2).Draw(t, "again")) * 7 * time.Minute
	case 1:
		a.Pause, a.For = rapid.IntRange(1, 150).Draw(t, "pause"), time.Duration(rapid.IntRange(1, 600).Draw(t, "minutes"))*time.Minute
	case 2:
		a.Lose = rapid.IntRange(1, 150).Draw(t, "lose")
	}
	return a
}

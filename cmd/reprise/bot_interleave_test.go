//go:build slow || e2e

package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/issue"
	githubtest "github.com/reprise-ci/reprise/internal/test/github"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/internal/workspace"
)

// Several machines on one issue, in any order of all that they do outside of
// themselves, some of them killed, stopped for hours, or without an answer:
// no command is lost or obeyed twice, and nothing that was pushed is lost. The
// long form is TestManyInterleave, which also makes a case smaller that fails.
func TestInterleave(t *testing.T) {
	t.Parallel()
	s, dice := newArena(t), chance(t)
	for range 25 {
		seed := dice.Uint64()
		if err := s.play(t, anything(lots{rand.New(rand.NewPCG(seed, 0))})); err != nil {
			t.Fatalf("case %d: %v", seed, err)
		}
	}
}

// drawer draws what a case is made up of: numbers, each with a name. The long
// form has one that makes numbers smaller where a case fails.
type drawer interface {
	between(least, most int, name string) int
}

// lots draws by chance.
type lots struct{ *rand.Rand }

func (l lots) between(least, most int, _ string) int { return least + l.IntN(most-least+1) }

// oneOf draws from a list.
func oneOf[T any](d drawer, name string, list ...T) T { return list[d.between(0, len(list)-1, name)] }

// arena is what all cases have in common.
type arena struct {
	forge   *githubtest.Server
	source  *git.Source
	defined workspace.Definition // by a pipeline with a phase for thought and one for code
	dir     string
	cases   int
}

const twoPhases = `
name: "small"
agents: own: {use: "rehearsal"}
finish: "keep"
phases: [
	{name: "plan", goal: "Plan.", review: false},
	{name: "build", goal: "Build.", access: "tree", gates: ["It works"]},
]
`

func newArena(t *testing.T) *arena {
	t.Helper()
	st := newStand(t, map[string]string{".github/reprise/pipelines/small.cue": twoPhases})
	src, err := git.Find(t.Context(), st.path("project"))
	testenv.Must(t, err)
	s := &arena{source: src, dir: t.TempDir()}
	s.defined, err = workspace.Define(t.Context(), src, issue.Issue{Title: "Say hello"}, workspace.Choice{Pipeline: "small"})
	testenv.Must(t, err)
	return s
}

// play lets a case happen, at a time of its own that passes when nobody has
// anything to do.
func (s *arena) play(t *testing.T, all []incident) error {
	return s.stage(t, all, func(w *meeting) {
		w.happens(all)
		w.finishCommands()
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
		s.forge.SetBranch(repo, environ.BranchPrefix+fmt.Sprint(hubIssue), c.id)
	}
	w.backend = workspace.Backend{
		Find: func(context.Context, string) (*git.Source, error) { return s.source, nil },
		Define: func(context.Context, *git.Source, issue.Issue, workspace.Choice) (workspace.Definition, error) {
			return s.defined, nil
		},
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
func anything(d drawer) []incident {
	all := []incident{{By: "ada", Text: "/run", Jobs: []assignment{someJob(d)}}}
	for range d.between(1, 6, "incidents") {
		all = append(all, something(d))
	}
	if d.between(0, 2, "harm") > 0 {
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

func something(d drawer) incident {
	h := incident{
		By: oneOf(d, "by", "ada", "ada", "max", "max", "max", "eve"),
		Text: oneOf(d, "text",
			"/run", "/run", "/retry", "/rollback build look again", "/rollback plan think again", "/rollback nowhere x", "/cancel", "/pause",
			"/skip build not needed", "/help", "/rolback", "push", "$ cancel", "$ pause", "$ run --sandbox off",
			"$ rollback --force --to-phase build --reason again", "$ rollback --force --to-phase plan --reason again",
		),
	}
	switch d.between(0, 5, "when") {
	case 0: // about when a run ends
		h.Ending, h.After = true, time.Duration(d.between(0, 2_000, "ms"))*time.Millisecond
	case 1: // when a lease may be over
		h.After = time.Duration(d.between(1, 120, "minutes")) * time.Minute
	default:
		h.After = time.Duration(d.between(0, 200_000, "ms")) * time.Millisecond
	}
	h.Edit = d.between(1, 15, "edit") == 1
	least := 0
	if strings.HasPrefix(h.Text, "$ ") {
		least = 1
	}
	for range d.between(least, 2, "jobs") {
		h.Jobs = append(h.Jobs, someJob(d))
	}
	return h
}

func someJob(d drawer) assignment {
	most := oneOf(d, "most", 300, 300, 60_000)
	a := assignment{After: time.Duration(d.between(1, most, "ms")) * time.Millisecond, SameRun: d.between(0, 1, "same run") == 1}
	a.Seed = uint64(d.between(0, math.MaxInt32, "seed"))
	switch d.between(0, 5, "fate") {
	case 0:
		a.Kill = d.between(1, oneOf(d, "soon", 40, 150), "kill")
		a.Again = time.Duration(d.between(0, 2, "again")) * 7 * time.Minute
	case 1:
		a.Pause, a.For = d.between(1, 150, "pause"), time.Duration(d.between(1, 600, "minutes"))*time.Minute
	case 2:
		a.Lose = d.between(1, 150, "lose")
	}
	return a
}

//go:build slow || e2e

package main

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	githubtest "github.com/reprise-ci/reprise/internal/test/github"
)

// Two jobs on one issue, at any moments: nothing is done twice, nothing is
// lost, and the one that leaves says why.
func TestTwoJobsAnytime(t *testing.T) { anytime(t, 1) }

// anytime lets pairs of jobs meet in so many hubs, five in each.
func anytime(t *testing.T, hubs int) {
	t.Parallel()
	began, dice := time.Now(), chance(t)
	t.Cleanup(func() { t.Logf("%d pairs of jobs in %v", 5*hubs, time.Since(began)) })
	for n := range hubs {
		own := rand.New(rand.NewPCG(dice.Uint64(), 0))
		t.Run(fmt.Sprint(n+1), func(t *testing.T) {
			t.Parallel()
			p := &pairs{asked: faulty(t), dice: own}
			p.meet("/run", "", n%2 == 1)
			p.meet(again, "", false)
			p.meet(again, "/rollback build and again", false)
			p.meet(again, "/rollback build and again", true)
			p.meet(again, "/rollback build and again", n%2 == 0)
		})
	}
}

// pairs is a hub at which jobs meet.
type pairs struct {
	*asked
	dice  *rand.Rand
	whole time.Duration // that one job took
	log   strings.Builder
}

// some is a moment while a job runs, or a little after.
func (p *pairs) some() time.Duration {
	return time.Duration(p.dice.Int64N(int64(max(p.whole, 300*time.Millisecond) * 5 / 4)))
}

// meet lets two jobs meet: for one command or for two, of which each has its
// own. One of them may be killed. What is left undone is started again.
func (p *pairs) meet(first, second string, kill bool) {
	p.t.Helper()
	began := time.Now()
	mark := len(p.forge.Requests())
	ids := []int64{p.say("ada", first)}
	all := []*hubJob{p.heard(ids[0], "ada")}
	run := 9000 + p.jobs
	time.Sleep(p.some())
	if second != "" {
		ids = append(ids, p.say("ada", second))
	}
	all = append(all, p.heard(ids[len(ids)-1], "ada"))
	p.commands = append(p.commands, ids...)
	victim := -1
	if kill {
		time.Sleep(p.some() / 2)
		victim = p.dice.IntN(2)
		all[victim].kill(p.dice.IntN(2) == 0)
		p.forge.AddRun(hubRepo, githubtest.Run{ID: int64(run + victim), Status: "completed", Conclusion: "failure"})
	}
	for i, j := range all {
		if j.finish(); i != victim {
			p.fits(j)
		}
		fmt.Fprintf(&p.log, "--- %s, job %d, killed: %v, %v\n%s\n", first, i, i == victim, j.outputs, j.said.String())
	}
	if kill {
		p.forge.AddRun(hubRepo, githubtest.Run{ID: int64(run + victim), Attempt: 2})
		id := ids[min(victim, len(ids)-1)]
		j := p.heard(id, "ada", fmt.Sprintf("GITHUB_RUN_ID=%d", run+victim), "GITHUB_RUN_ATTEMPT=2").finish()
		p.fits(j)
		fmt.Fprintf(&p.log, "--- started again, %v\n%s\n", j.outputs, j.said.String())
	} else {
		p.whole = time.Since(began)
	}
	err := p.sound(p.commands)
	if what := p.missing(); err == nil && what != "" {
		err = fmt.Errorf("missing: %s", what)
	}
	if err != nil {
		for _, r := range p.forge.Requests()[mark:] {
			fmt.Fprintln(&p.log, r.Method, r.Path, r.Status, r.Effect)
		}
		p.t.Fatalf("%v\n%s", err, p.log.String())
	}
}

// fits holds a job against the ways in which one may end.
func (p *pairs) fits(j *hubJob) {
	p.t.Helper()
	if !j.done() && !slices.Contains([]string{"already_running", "stale_event"}, j.outputs["reason-code"]) {
		p.t.Errorf("a job ended with %d, %v\n%s", j.code(), j.outputs, j.said.String())
	}
}

// A command that comes while another job does anything at all, also while it
// gives the run back, is taken by one of both.
func TestCommandAtAnyCall(t *testing.T) { atCalls(t, 16) }

// atCalls gives a command at every nth call of another job.
func atCalls(t *testing.T, nth int) {
	t.Parallel()
	_, calls := undisturbed(t)
	for some := range slices.Chunk(every(nth, len(calls)+1), perHub) {
		t.Run(fmt.Sprintf("from call %d", some[0]), func(t *testing.T) {
			t.Parallel()
			p := &pairs{asked: faulty(t), dice: chance(t)}
			p.lead("/run", "undisturbed")
			for _, k := range some {
				p.meetAt(k)
			}
		})
	}
}

// perHub is how many of such lives one run has: what it may do in all is limited, and runs
// are tried side by side.
const perHub = 10

// every gives each nth number below an end.
func every(n, end int) (out []int) {
	for k := 0; k < end; k += n {
		out = append(out, k)
	}
	return out
}

// meetAt gives a command when the job of another one has made so many calls.
func (p *pairs) meetAt(k int) {
	p.t.Helper()
	mark := len(p.forge.Requests())
	ids := []int64{p.say("ada", again)}
	first := p.heard(ids[0], "ada")
	for over := false; !over && len(p.forge.Requests()) < mark+k; {
		select {
		case <-first.over:
			over = true
		case <-time.After(time.Millisecond):
		}
	}
	ids = append(ids, p.say("ada", "/rollback build and again"))
	second := p.heard(ids[1], "ada")
	p.fits(first.finish())
	p.fits(second.finish())
	p.commands = append(p.commands, ids...)
	err := p.sound(p.commands)
	if what := p.missing(); err == nil && what != "" {
		err = fmt.Errorf("missing: %s", what)
	}
	if err != nil {
		p.t.Fatalf("call %d: %v\n--- first\n%s\n--- second\n%s", k, err, first.said.String(), second.said.String())
	}
}

// chance gives random numbers; a failing test says how to get the same.
func chance(t *testing.T) *rand.Rand {
	seed := uint64(time.Now().UnixNano())
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("seed %d", seed)
		}
	})
	return rand.New(rand.NewPCG(seed, 0))
}

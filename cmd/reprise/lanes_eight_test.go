//go:build slow || e2e

package main

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
)

// eightLanes is a pipeline whose second phase is done in eight parts, each with a file of
// its own.
const eightLanes = `
agents: own: {use: "command", command: ["sh", "AGENT"]}
phases: [{
	name: "plan", goal: "Plan.", review: false
	report: tasks: [...{id: string, title: string, goal: string, files?: [...string]}]
}, {name: "build", goal: "Build.", access: "tree", must_change: true, checks: [{name: "parts", run: "cat part-*"}]}]
rules: [{after: "plan", when: {}, then: split: "build"}]
`

// eightAgent does the tasks of eightLanes. Calls hang while home/hang is there, or that of
// their part.
const eightAgent = `
if [ $REPRISE_STEP = review ]; then echo '{"structured": {"verdict": "pass", "gates": [], "findings": []}}'; exit; fi
echo "$REPRISE_PHASE $REPRISE_STEP" >"$REPRISE_ARTIFACT"
part=${REPRISE_PHASE#build.}
case $part in
plan)
	all=
	for n in 1 2 3 4 5 6 7 8; do
		all="$all${all:+,}{\"id\": \"t$n\", \"title\": \"T\", \"goal\": \"G.\", \"files\": [\"part-t$n\", \"half-t$n\"]}"
	done
	echo "{\"structured\": {\"tasks\": [$all]}}" ;;
*)
	echo half >half-$part
	touch "$HOME/$part"
	while [ -e "$HOME/hang" ] || [ -e "$HOME/hang-$part" ]; do sleep 0.05; done
	rm half-$part
	echo $part >part-$part ;;
esac
`

func newEight(t *testing.T) *stand {
	s := newStand(t, nil)
	s.write("agent.sh", eightAgent)
	s.write("own.cue", strings.Replace(eightLanes, "AGENT", s.path("agent.sh"), 1))
	return s
}

var eightArgs = []string{"run", "--issue-file", "../7.md", "--pipeline", "../own.cue", "--push", "--sandbox", "off", "--jobs"}

// eightDone holds that all parts are in, each of whose steps was done once, and gives the
// record.
func (s *stand) eightDone() metadata.Run {
	s.t.Helper()
	run := s.holds("7")
	if run.Status != metadata.Completed {
		s.t.Fatalf("the run is %s: %+v", run.Status, run.Stop)
	}
	did := map[string]int{}
	for _, a := range run.Attempts {
		if a.Status == metadata.Succeeded {
			did[a.Phase+" "+string(a.Step)]++
		}
	}
	for _, p := range run.Phases {
		if p.Lane != nil || p.Status != metadata.PhaseCompleted || p.Task != "" && (did[p.Name+" execute"] != 1 || did[p.Name+" review"] != 1) {
			s.t.Errorf("%s is %s, in the lane %+v, after %v", p.Name, p.Status, p.Lane, did)
		}
	}
	if got, want := s.tree("--name-only"), "part-t1 part-t2 part-t3 part-t4 part-t5 part-t6 part-t7 part-t8"; !strings.Contains(got, want) || strings.Contains(got, "half") {
		s.t.Errorf("the branch has %s", got)
	}
	return run
}

// tree is what the branch of the run has, without the run's folder.
func (s *stand) tree(more ...string) string {
	s.t.Helper()
	out := testenv.MustGit(s.t, s.path("origin.git"), append(append([]string{"ls-tree", "-r"}, more...), environ.BranchPrefix+"7")...)
	return strings.Join(strings.Fields(out), " ")
}

// Told to stop with eight parts at work, the run ends all of them in one commit.
func TestEightLanesToldToStop(t *testing.T) {
	t.Parallel()
	s := newEight(t)
	s.write("home/hang", "")
	l := s.start(append(slices.Clone(eightArgs), "8")...)
	for _, part := range []string{"t1", "t2", "t3", "t4", "t5", "t6", "t7", "t8"} {
		s.await(l, "home/"+part)
	}
	before := len(subjects(s))
	testenv.Must(t, syscall.Kill(l.cmd.Process.Pid, syscall.SIGTERM))
	if code := l.code(); code != exit.Cancelled {
		t.Errorf("exit code %d, want %d\n%s", code, exit.Cancelled, l.said.String())
	}
	run, cut := s.holds("7"), 0
	for _, a := range run.Attempts {
		if a.Status == metadata.Cut {
			cut++
		}
	}
	if got := subjects(s); run.Status != metadata.Interrupted || cut != 8 || len(got) != before+1 {
		t.Errorf("the run is %s with %d calls cut off, in %d commits: %q", run.Status, cut, len(got)-before, got)
	}
	testenv.Must(t, os.Remove(s.path("home/hang")))
	s.run(exit.Done, "run", "--issue", "7", "--sandbox", "off", "--jobs", "8")
	s.eightDone()
}

// A part that hangs keeps none of the others from coming to their end, and onto the branch.
func TestOneLaneHangs(t *testing.T) {
	t.Parallel()
	s := newEight(t)
	s.write("home/hang-t3", "")
	l := s.start(append(slices.Clone(eightArgs), "3")...)
	for end := time.Now().Add(5 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		all := strings.Join(subjects(s), "\n")
		if strings.Contains(all, "build.t3: ") || time.Now().After(end) {
			t.Fatalf("seven parts are not in while one hangs:\n%s\n%s", all, l.said.String())
		}
		if strings.Count(all, ": integrate: 1 artifact, 1 file changed") == 7 {
			break
		}
	}
	testenv.Must(t, os.Remove(s.path("home/hang-t3")))
	if code := l.code(); code != exit.Done {
		t.Errorf("exit code %d\n%s", code, l.said.String())
	}
	s.eightDone()
}

// One after another or all at once, a run comes to the same code, and its record says the
// same but for numbers.
func TestLanesComeToTheSame(t *testing.T) {
	t.Parallel()
	type phase struct {
		Status         metadata.PhaseStatus
		Round, Revises int
		Review, Report string
		Files          []string
		Digest         string
		Accepted       string
		Steps          []metadata.Step
		Diff           *metadata.Diff
		Verdict        *metadata.Verdict
		Checks         []string
		Attempts       []string // but for those that bring a part to the branch
	}
	outcome := func(jobs string) (map[string]phase, string) {
		s := newEight(t)
		s.run(exit.Done, append(slices.Clone(eightArgs), jobs)...)
		out := map[string]phase{}
		run := s.eightDone()
		for _, p := range run.Phases {
			one := phase{
				Status: p.Status, Round: p.Round, Revises: p.RetryCount, Review: p.ReviewResult, Report: string(p.Report), Files: p.OutputFiles,
				Digest: p.Digest, Accepted: p.Accepted, Steps: p.CompletedSteps, Diff: p.Diff, Verdict: p.Verdict,
			}
			if one.Verdict != nil { // what it judged has times and numbers in it; the trees are compared below
				if one.Verdict.Commit == "" {
					t.Errorf("the verdict of %s names no commit", p.Name)
				}
				one.Verdict.Commit = ""
			}
			for _, a := range run.Attempts {
				if a.Phase == p.Name && (p.Task == "" || a.Step != metadata.Integrate) {
					one.Attempts = append(one.Attempts, fmt.Sprintln(a.Step, a.Round, a.Generation, a.Agent, a.Status, a.Verdict))
				}
			}
			if p.Checks != nil {
				for _, c := range p.Checks.Results {
					one.Checks = append(one.Checks, c.Name)
				}
			}
			out[p.Name] = one
		}
		return out, s.tree("--full-tree")
	}
	one, tree := outcome("1")
	eight, same := outcome("8")
	testenv.Same(t, "the record, one after another and at once", one, eight)
	if tree != same {
		t.Errorf("one after another it comes to %s\nat once to %s", tree, same)
	}
}

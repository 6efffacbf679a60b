//go:build e2e

package e2e

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/setup"
	"github.com/reprise-ci/reprise/metadata"
)

// parted is a pipeline whose code is written in three parts that touch no file together.
const parted = `name: "own"
agents: own: {use: "command", command: ["sh", "-c", #"""
	echo done >>"$REPRISE_ARTIFACT"
	case $REPRISE_PHASE in
	plan) echo '{"structured": {"tasks": [
		{"id": "t1", "title": "One", "goal": "G", "files": ["t1"]}, {"id": "t2", "title": "Two", "goal": "G", "files": ["t2"]},
		{"id": "t3", "title": "Three", "goal": "G", "files": ["t3"]}]}}' ;;
	build.*) echo "$REPRISE_PHASE" >"$REPRISE_DIR/${REPRISE_PHASE#build.}" ;;
	esac
	"""#]}
phases: [
	{name: "plan", goal: "Plan.", review: false, report: {tasks: [...{id: string, title: string, goal: string, files: [...string]}]}},
	{name: "build", goal: "Build.", access: "tree", review: false},
]
rules: [{after: "plan", when: {}, then: split: "build"}]
`

// TestActionsFanOut has three jobs write the parts of a phase, with the workflow that init
// writes, and a fourth one join them and open the pull request. Where that one is lost, the
// next command has them joined.
func TestActionsFanOut(t *testing.T) {
	for _, lost := range []bool{false, true} {
		t.Run(map[bool]string{false: "joined", true: "lost"}[lost], func(t *testing.T) {
			h := newActions(t, "claude")
			if out := h.reprise("init", "--workflow", "long", "--fan-out", "--force", "--uses", setup.DefaultUses()); out.code != 0 {
				t.Fatalf("init: %s%s", out.stdout, out.stderr)
			}
			h.checkOutHere()
			h.write("repo/.github/reprise/pipelines/own.cue", parted)
			h.publish("Have parts done by jobs of their own")
			if lost {
				h.workflow("command: join\n", "command: lost\n")
			} else {
				h.workflow("command: task ${{ matrix.part }}\n", "command: task ${{ matrix.part }}\n          upload: true\n")
				h.workflow("command: join\n", "command: join\n          upload: true\n")
			}
			_, d := h.comment("ann", "/run --pipeline own")
			if d.results["join"] != map[bool]string{false: "success", true: "failure"}[lost] {
				t.Fatalf("jobs %v\n%s", d.results, d.log)
			}
			if lost {
				_, d = h.comment("ann", "/run")
				d.want(t, bothJobs, "run/run", "status", "completed")
			}
			h.joined()
			if !lost {
				h.talksOfParts()
			}
		})
	}
}

// talksOfParts holds that each job of a part uploads what was said there.
func (h *hub) talksOfParts() {
	h.t.Helper()
	if kept, _ := filepath.Glob(filepath.Join(h.root, "uploads", "reprise-7-task-build.t?-1", "transcripts", "attempt-*.jsonl")); len(kept) != 3 {
		h.t.Errorf("transcripts of parts: %q", kept)
	}
}

// joined holds that each of three parts was done once, and that all of them are on the
// branch and nowhere else.
func (h *hub) joined() {
	t := h.t
	t.Helper()
	run := h.record()
	if run.Status != metadata.Completed || run.PRNumber == 0 {
		t.Errorf("the run is %s, its pull request %d", run.Status, run.PRNumber)
	}
	for _, part := range []string{"t1", "t2", "t3"} {
		if got := h.pushed(part); got == "" {
			t.Errorf("%s is not on the branch", part)
		}
		calls := 0
		for _, a := range run.Attempts {
			if a.Phase == "build."+part && a.Step == metadata.Execute {
				calls++
			}
		}
		if calls != 1 {
			t.Errorf("%d calls for %s", calls, part)
		}
	}
	subjects := strings.Split(h.git(h.root, "--git-dir", "origin.git", "log", "--first-parent", "--format=%s", "reprise/issue-7"), "\n")
	if !slices.ContainsFunc(subjects, func(s string) bool {
		return strings.Contains(s, "join: build.t1: taken, build.t2: taken, build.t3: taken")
	}) {
		t.Errorf("no commit joins the parts:\n%s", strings.Join(subjects, "\n"))
	}
	if left := h.git(h.root, "--git-dir", "origin.git", "for-each-ref", "refs/reprise/parts"); left != "" {
		t.Errorf("origin still has\n%s", left)
	}
}

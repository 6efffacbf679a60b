//go:build slow || e2e

package main

import (
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/exit"
	githubtest "github.com/reprise-ci/reprise/internal/test/github"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
)

// fansOut is a stage whose pipeline writes its code in three parts, and the run of its
// issue, left to the jobs of the workflow run 9001. Inputs are names of inputs of the job with
// their values.
func fansOut(t *testing.T, parts string, inputs ...string) (*hub, *hubJob) {
	t.Helper()
	return fansOutBy(t, beside, parts, inputs...)
}

// fansOutBy is the same with a pipeline that is like beside.
func fansOutBy(t *testing.T, pipeline, parts string, inputs ...string) (*hub, *hubJob) {
	t.Helper()
	h := newStage(t, strings.Replace(pipeline, `files: [...string]`, `files: [...string], needs?: [...string]`, 1))
	h.write("home/plan-execute", `
echo planned >>"$REPRISE_ARTIFACT"
echo '{"structured": {"tasks": `+parts+`}}'
exit 0
`)
	for _, part := range []string{"t1", "t2", "t3", "t4"} {
		h.write("home/build."+part+"-execute", strings.ReplaceAll("echo \"$REPRISE_STEP\" >\"$REPRISE_DIR/PART\"\n", "PART", part))
	}
	h.inputs["fan-out"] = "true"
	for i := 0; i+1 < len(inputs); i += 2 {
		h.inputs[inputs[i]] = inputs[i+1]
	}
	h.forge.SetClock(time.Now) // no event says when the jobs for parts were asked for
	return h, h.comment("ada", "/run").end(exit.Done)
}

const apart = `[{"id": "t1", "title": "One", "goal": "G", "files": ["t1"]}, {"id": "t2", "title": "Two", "goal": "G", "files": ["t2"]},
	{"id": "t3", "title": "Three", "goal": "G", "files": ["t3"]}]`

// sameRun is what the machine of another job of a workflow run knows.
var sameRun = []string{"GITHUB_RUN_ID=9001"}

// task does a part as a job of the workflow run that the run was left to.
func (h *hub) task(part string, more ...string) *hubJob {
	h.t.Helper()
	return h.also("task "+part, more...)
}

// also starts a job of the workflow run 9001 with a command.
func (h *hub) also(command string, more ...string) *hubJob {
	h.t.Helper()
	more = append(append(more, sameRun...), "INPUT_COMMAND="+command, "INPUT_ISSUE=7", "RUNNER_NAME="+command)
	return h.start("issue_comment", "ada", h.forge.CommentPayload(hubRepo, h.first(), "created", ""), more...)
}

// first is the id of the first comment.
func (h *hub) first() int64 { return h.forge.Comments(hubRepo, hubIssue)[0].ID }

// pushed are the refs of parts at origin.
func (h *hub) pushed() string {
	h.t.Helper()
	out := testenv.MustGit(h.t, h.path("origin.git"), "for-each-ref", "--format=%(refname:lstrip=4)", "refs/reprise/parts")
	return strings.Join(strings.Fields(out), " ")
}

func TestFanOut(t *testing.T) {
	h, j := fansOut(t, apart)
	var matrix struct{ Include []struct{ Part string } }
	if err := json.Unmarshal([]byte(j.outputs["matrix"]), &matrix); err != nil || len(matrix.Include) != 3 {
		t.Fatalf("the matrix is %q: %v\n%s", j.outputs["matrix"], err, j.said.String())
	}
	const elsewhere = "3 parts are worked on by [jobs of this workflow run]("
	testenv.Has(t, "the live comment", h.ours("progress")[0].Body, elsewhere, "/actions/runs/9001): `build.t1`, `build.t2`, `build.t3`.")
	for _, one := range matrix.Include {
		testenv.Has(t, "the summary of "+one.Part, h.task(one.Part).end(exit.Done).wants("decision", "run").summary, "`"+one.Part+"`: in progress · next: integrate")
	}
	testenv.Is(t, "origin has of parts:", h.pushed(), "build.t1 build.t2 build.t3")
	if run := h.record(); run.Status != metadata.Running || run.Phase("build.t1").Status != metadata.PhasePending {
		t.Errorf("the run is %s, and its first part %s", run.Status, run.Phase("build.t1").Status)
	}
	j = h.also("join").end(exit.Done).wants("status", "completed")
	h.whole(map[string]string{"t1": "execute\n", "t2": "execute\n", "t3": "execute\n"})
	if got := h.calls(); strings.Count(got, "build.t") != 3 {
		t.Errorf("the agent was called for %s\n%s", got, j.said.String())
	}
	testenv.Is(t, "origin still has of parts:", h.pushed(), "")
	testenv.Lacks(t, "the live comment", h.ours("progress")[0].Body, "jobs of this workflow run")
}

// What was said in the jobs that did parts is in their artifacts, each job's own.
func TestTalkOfPartsIsUploaded(t *testing.T) {
	h, _ := fansOut(t, apart)
	for _, part := range []string{"build.t1", "build.t2"} {
		h.task(part, "INPUT_UPLOAD=true", "REPRISE_RESULTS="+h.path("artifacts/"+part)).end(exit.Done)
		l := h.stand.start("logs", "--repo", h.path(""), "--from", h.path("artifacts/"+part+"/transcripts"), "--all")
		if code, said := l.code(), l.said.String(); code != exit.Done || strings.Count(said, " build.") != 1 || !strings.Contains(said, " "+part+" execute, ") {
			t.Errorf("of %s logs shows, and ends with %d:\n%s", part, code, said)
		}
	}
	h.also("join", "REPRISE_RESULTS="+h.path("quiet")).end(exit.Done)
	if _, err := os.Stat(h.path("quiet/report.html")); err == nil {
		t.Error("a job that uploads nothing has left a page with what was said")
	}
}

// The summary of a job that does a part speaks the language of the run.
func TestSummaryOfAPartInJapanese(t *testing.T) {
	h, _ := fansOut(t, apart, "language", "ja")
	if j := h.task("build.t1").end(exit.Done); !strings.Contains(j.summary, "`build.t1`: ") || regexp.MustCompile("[a-z]{3,}").MatchString(strings.ReplaceAll(j.summary, "build.t1", "")) {
		t.Errorf("the summary is %q", j.summary)
	}
}

// joined holds that all three parts are in the run, each done once, and nothing of them is left elsewhere.
func (h *hub) joined() {
	h.t.Helper()
	h.whole(map[string]string{"t1": "execute\n", "t2": "execute\n", "t3": "execute\n"})
	if got := h.calls(); strings.Count(got, "build.t") != 3 {
		h.t.Errorf("the agent was called for %s", got)
	}
	testenv.Is(h.t, "origin has of parts:", h.pushed(), "")
}

// What no job has done, the job that joins the parts does: one whose job was lost, one that
// needs another, and one whose work may not be taken.
func TestJoinDoesWhatIsLeft(t *testing.T) {
	h, j := fansOut(t, `[{"id": "t1", "title": "One", "goal": "G", "files": ["t1"]}, {"id": "t2", "title": "Two", "goal": "G", "files": ["t2"]},
		{"id": "t3", "title": "Three", "goal": "G", "files": ["t3"], "needs": ["t1"]}]`)
	if got := j.outputs["matrix"]; strings.Contains(got, "t3") || !strings.Contains(got, "t2") {
		t.Fatalf("the matrix is %s", got)
	}
	h.task("build.t1").end(exit.Done)
	h.task("build.t3").end(exit.Done).wants("decision", "ignored") // it is not its turn
	h.also("join").end(exit.Done).wants("status", "completed")
	h.joined()
	h.task("build.t2").end(exit.Done).wants("decision", "ignored") // started again by hand
	h.joined()
}

// The next job takes over what was pushed, if the job that joins the parts was lost.
func TestJoinLost(t *testing.T) {
	h, _ := fansOut(t, apart)
	h.task("build.t1").end(exit.Done)
	h.task("build.t3").end(exit.Done)
	h.forge.AddRun(hubRepo, githubtest.Run{ID: 9001, Attempt: 1, Status: "completed", Conclusion: "cancelled"})
	h.inputs["fan-out"] = "false"
	h.comment("ada", "/run").end(exit.Done).wants("status", "completed")
	h.joined()
}

// So does a person who goes on with the run on a machine of their own.
func TestJoinLostAndTakenHere(t *testing.T) {
	h, _ := fansOut(t, apart)
	h.task("build.t1").end(exit.Done)
	h.task("build.t3").end(exit.Done)
	held := h.run(exit.Failed, "run", "--issue", "7", "--sandbox", "off")
	testenv.Has(t, "a run that jobs may still have", held, "actions/9001/1 works on issue 7", "--take over")
	said := h.run(exit.Done, "run", "--issue", "7", "--sandbox", "off", "--take", "over")
	testenv.Has(t, "the run", said, "jobs or tasks have worked on its parts", "2 attempts of theirs are taken over")
	h.joined()
}

// A command that is given after the job that joins the parts was lost is for the run as it
// stands with what the other jobs have done.
func TestCommandAfterALostJoin(t *testing.T) {
	for command, calls := range map[string][3]int{ // of each part, in all
		"/skip build.t2 not needed":             {1, 0, 1},
		"/rollback build.t1:execute be shorter": {2, 1, 1},
		"/update":                               {1, 1, 1},
	} {
		t.Run(strings.Fields(command)[0][1:], func(t *testing.T) {
			h, _ := fansOut(t, apart)
			h.task("build.t1").end(exit.Done)
			h.task("build.t3").end(exit.Done)
			h.forge.AddRun(hubRepo, githubtest.Run{ID: 9001, Attempt: 1, Status: "completed", Conclusion: "cancelled"})
			h.inputs["fan-out"] = "false"
			h.comment("max", command).end(exit.Done).wants("status", "completed")
			for i, want := range calls {
				if got := strings.Count(h.calls(), fmt.Sprintf("build.t%d execute", i+1)); got != want {
					t.Errorf("build.t%d was done %d times, want %d", i+1, got, want)
				}
			}
			testenv.Is(t, "origin has of parts:", h.pushed(), "")
		})
	}
}

// The same holds for a command of the local program, once the lease of the jobs has run out.
func TestOrderAfterALostJoin(t *testing.T) {
	for _, order := range [][]string{
		{"retry", "--phase", "build.t1", "--sandbox", "off"},
		{"rollback", "--to-phase", "build.t1", "--reason", "be shorter"},
		{"update"},
		{"skip", "--phase", "build.t2", "--reason", "not needed"},
		{"pause"},
	} {
		t.Run(order[0], func(t *testing.T) {
			h, _ := fansOutBy(t, strings.Replace(beside, `access: "tree", review: false`, `access: "tree", gates: ["It is planned"], revisions: 0`, 1), apart)
			h.lapse()
			h.write("home/build.t1-review", fails)
			h.write("home/build.t3-review", passes)
			h.task("build.t1").end(exit.Done)
			h.task("build.t3").end(exit.Done)
			for _, step := range []string{"build.t1-review", "build.t2-review", "build-review"} {
				h.write("home/"+step, passes)
			}
			said := h.run(exit.Done, append(order, "--issue", "7")...)
			testenv.Has(t, order[0], said, "4 attempts of theirs are taken over")
			testenv.Is(t, "origin has of parts:", h.pushed(), "")
			run := h.record()
			if rec := run.Phase("build.t3"); rec.CurrentStep != metadata.Integrate && rec.Status != metadata.PhaseCompleted {
				t.Errorf("the part that passed is %s with %s to do", rec.Status, rec.CurrentStep)
			}
			if got := strings.Count(h.calls(), "build.t3 execute"); got != 1 {
				t.Errorf("the part that passed was done %d times\n%s", got, said)
			}
		})
	}
}

// A part of which nothing was pushed, and one whose ref cannot be fetched, keep none of the
// others out. People are told of both.
func TestPartsThatCannotBeFetched(t *testing.T) {
	h, _ := fansOut(t, apart)
	h.task("build.t1").end(exit.Done)
	h.task("build.t3").end(exit.Done)
	const ref = "refs/reprise/parts/issue-7/build.t1"
	tree := testenv.MustGit(t, h.path("origin.git"), "rev-parse", ref+"^{tree}")
	tree = strings.TrimSpace(tree)
	h.remove("origin.git/objects/" + tree[:2] + "/" + tree[2:])
	j := h.also("join").end(exit.Done).wants("status", "completed")
	testenv.Has(t, "the log", j.said.String(), "done of build.t1 cannot be fetched", "git push origin :"+ref, "nothing was pushed of build.t2")
	h.whole(map[string]string{"t1": "execute\n", "t2": "execute\n", "t3": "execute\n"})
	for part, want := range map[string]int{"build.t1": 2, "build.t2": 1, "build.t3": 1} {
		if got := strings.Count(h.calls(), part+" execute"); got != want {
			t.Errorf("%s was done %d times, want %d", part, got, want)
		}
	}
	if got := h.pushed(); got != "build.t1" {
		t.Errorf("origin has of parts: %q, want what was never read", got)
	}
}

// lapse has the lease of the run have run out long ago.
func (h *hub) lapse() {
	h.t.Helper()
	dir, name := h.path("expired"), ".reprise/issue-7/metadata.json"
	h.git("clone", "--quiet", "--branch=reprise/issue-7", h.path("origin.git"), dir)
	expires := regexp.MustCompile(`("expires": ")[^"]*`)
	h.write("expired/"+name, expires.ReplaceAllString(h.read("expired/"+name), "${1}2026-01-02T03:04:05Z"))
	for _, args := range [][]string{{"add", name}, {"commit", "--quiet", "--amend", "--no-edit"}, {"push", "--quiet", "--force", "origin", "HEAD"}} {
		h.git(append([]string{"-C", dir}, args...)...)
	}
}

// A part that its review never passes, and one that has nothing to change in the code, are
// taken as they are: nothing of them is done twice, and the others go in.
func TestPartsThatEndElsewhere(t *testing.T) {
	h, _ := fansOutBy(t, strings.Replace(beside, `access: "tree", review: false`, `access: "tree", gates: ["It is planned"], revisions: 1`, 1), apart)
	h.write("home/build.t1-review", fails)
	h.write("home/build.t1-revise", `grep -c . "$HOME/calls" | tee -a "$REPRISE_ARTIFACT" >>"$REPRISE_DIR/t1"`+"\n")
	h.write("home/build.t2-execute", "")
	for _, step := range []string{"build.t2-review", "build.t3-review", "build-review"} {
		h.write("home/"+step, passes)
	}
	for _, part := range []string{"build.t1", "build.t2", "build.t3"} {
		h.task(part).end(exit.Done)
	}
	before := h.calls()
	j := h.also("join").end(exit.Failed).wants("status", "failed", "reason-code", "review_failed", "phase", "build.t1")
	run := h.record()
	for part, want := range map[string]metadata.PhaseStatus{"build.t1": metadata.PhaseFailed, "build.t2": metadata.PhaseCompleted, "build.t3": metadata.PhaseCompleted} {
		testenv.Is(t, part+" is", run.Phase(part).Status, want)
	}
	if got := h.calls(); got != before {
		t.Errorf("the agent was called anew: %s\n%s", strings.TrimPrefix(got, before), j.said.String())
	}
	testenv.Is(t, "origin still has of parts:", h.pushed(), "")
	h.write("home/build.t1-review", passes)
	h.comment("max", "/retry build.t1").end(exit.Done).wants("status", "completed")
	h.whole(map[string]string{"t2": "", "t3": "execute\n"})
	if got := strings.Count(h.calls(), "build.t2 execute"); got != 1 {
		t.Errorf("the part without code was done %d times", got)
	}
}

// Commands that are given while jobs do parts end their work, and wait for the job that
// joins the parts.
func TestCommandsWhilePartsAreElsewhere(t *testing.T) {
	for command, status := range map[string]string{"/cancel no": "cancelled", "/rollback plan:execute think of tabs": "completed"} {
		t.Run(strings.Fields(command)[0][1:], func(t *testing.T) {
			h, _ := fansOut(t, apart)
			h.write("home/build.t2-execute", "touch \"$HOME/working\"; while ! [ -e \"$HOME/go-on\" ]; do sleep 0.02; done; echo execute >\"$REPRISE_DIR/t2\"\n")
			h.task("build.t1").end(exit.Done)
			j := h.task("build.t2")
			h.await(j.life, "home/working")
			id := h.say("max", command)
			h.heard(id, "max").end(exit.Done).wants("decision", "ignored", "reason-code", "already_running")
			j.end(exit.Done)
			h.write("home/go-on", "")
			h.also("join").end(anyCode).wants("status", status)
			h.signs(id, "eyes rocket")
			run, cut := h.record(), 0
			for _, a := range run.Attempts {
				if a.EndedAt == nil {
					t.Errorf("attempt %d of %s has no end", a.N, a.Phase)
				}
				if a.Phase == "build.t2" && a.Status == metadata.Cut {
					cut++
				}
			}
			if cut != 1 {
				t.Errorf("%d calls of the part were cut", cut)
			}
		})
	}
}

// A ref of a part that somebody has written by hand brings nothing onto the branch that
// the part may not change, and no record of another run. What is wrong with one of them
// keeps none of the others out.
func TestWhatAJobPushesIsLookedAt(t *testing.T) {
	h, _ := fansOut(t, strings.Replace(apart, "]},", `]}, {"id": "t4", "title": "Four", "goal": "G", "files": ["t4"]},`, 1))
	for _, part := range []string{"t1", "t2", "t3", "t4"} {
		h.task("build." + part).end(exit.Done)
	}
	dir := h.path("forged")
	in := func(args ...string) string {
		t.Helper()
		out, err := testenv.Git(dir, args...)
		if err != nil {
			t.Fatalf("git %s: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(out)
	}
	h.git("clone", "--quiet", h.path("origin.git"), dir)
	forge := func(part string, change func(head string) (record string)) {
		t.Helper()
		ref := "refs/reprise/parts/issue-7/build." + part
		in("fetch", "--quiet", "origin", ref)
		in("checkout", "--quiet", "--force", "--detach", "FETCH_HEAD")
		record := change(in("rev-parse", "FETCH_HEAD^2"))
		h.write("forged/.reprise/issue-7/metadata.json", record)
		in("add", "--all")
		in("commit", "--quiet", "--message=forged")
		in("push", "--quiet", "--force", "origin", "HEAD:"+ref)
	}
	forge("t1", func(head string) string {
		record := h.read("forged/.reprise/issue-7/metadata.json")
		tip := in("rev-parse", "HEAD")
		in("checkout", "--quiet", "--detach", head)
		h.write("forged/.github/workflows/mine.yml", "on: push\n")
		in("add", "--all")
		in("commit", "--quiet", "--message=code")
		forged := in("rev-parse", "HEAD")
		in("checkout", "--quiet", "--detach", tip)
		in("merge", "--quiet", "--strategy=ours", "--message=seen", forged)
		return strings.ReplaceAll(record, head, forged)
	})
	forge("t2", func(string) string { return "{}" })
	forge("t4", func(string) string {
		name := "forged/.reprise/issue-7/metadata.json"
		run, err := metadata.Parse([]byte(h.read(name)), name)
		testenv.Must(t, err)
		run.Phases = append(run.Phases, metadata.Phase{Name: "ghost", Status: metadata.PhasePending})
		run.Phase("build.t4").RollbackContext = &metadata.RollbackContext{FromPhase: "ghost", Reason: "boo", TriggeredAt: run.UpdatedAt}
		data, err := metadata.Format(run)
		testenv.Must(t, err)
		return string(data)
	})
	j := h.also("join").end(exit.Done).wants("status", "completed")
	h.whole(map[string]string{"t1": "execute\n", "t2": "execute\n", "t3": "execute\n", "t4": "execute\n", ".github/workflows/mine.yml": ""})
	for _, want := range []string{"build.t1 is not taken: it changes .github/workflows/mine.yml", "build.t2 is not taken: refs/reprise/parts/issue-7/build.t2", "build.t4 is not taken: phases.build.t4.rollback_context.from_phase"} {
		testenv.Has(t, "what the job says", j.said.String(), want)
	}
	if got := h.calls(); strings.Count(got, "build.t3") != 1 || strings.Count(got, "build.t1") != 2 || strings.Count(got, "build.t2") != 2 || strings.Count(got, "build.t4") != 2 {
		t.Errorf("the agent was called for %s", got)
	}
}

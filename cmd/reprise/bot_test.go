package main

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/agents"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	githubtest "github.com/reprise-ci/reprise/internal/test/github"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/internal/test/world"
	"github.com/reprise-ci/reprise/metadata"
)

// hub is a stand whose origin is a repository of a forge with an issue, and
// the machines on which its workflows run.
type hub struct {
	*stand
	forge  *githubtest.Server
	inputs map[string]string
	jobs   int
}

const (
	hubRepo  = "acme/widget"
	hubIssue = 7
	hubToken = "ghs_canary0123456789abcdef"

	anyCode = -2 // the exit code does not matter
)

func newHub(t *testing.T) *hub {
	t.Helper()
	return newHubOf(t, nil)
}

// newHubOf is a hub whose repository has more files, by their names.
func newHubOf(t *testing.T, files map[string]string) *hub {
	t.Helper()
	h := &hub{stand: newStand(t, files), forge: githubtest.New(t), inputs: map[string]string{"agent": agents.Rehearsal, "pipeline": "fix", "label": "reprise", "sandbox": "off"}}
	h.forge.AddInstallation(hubToken, "github-actions[bot]")
	h.forge.AddIssue(hubRepo, githubtest.Issue{Number: hubIssue, Title: "Say hello", Body: "It should print \"hello\".", Author: "bob"})
	h.forge.Bare(hubRepo, h.path("origin.git"))
	for who, role := range map[string]string{"ada": "write", "max": "maintain", "tom": "triage", "eve": "read"} {
		h.forge.Permit(hubRepo, who, role)
	}
	return h
}

// say has somebody write a comment, and gives its id.
func (h *hub) say(by, body string) int64 {
	return h.forge.AddComment(hubRepo, hubIssue, githubtest.Comment{Author: by, Body: body})
}

// job is one job of a workflow, on a machine of its own.
type hubJob struct {
	*life
	h       *hub
	dir     string
	outputs map[string]string
	summary string
}

// start starts a job for an event.
func (h *hub) start(event, actor string, payload []byte, more ...string) *hubJob {
	h.t.Helper()
	h.jobs++
	j := &hubJob{h: h, dir: h.path(fmt.Sprintf("job-%d", h.jobs))}
	testenv.Must(h.t, os.MkdirAll(j.dir, 0o755))
	h.checkOut(filepath.Join(j.dir, "checkout"))
	for name, data := range map[string][]byte{"event.json": payload, "output": nil, "summary": nil} {
		testenv.Put(h.t, filepath.Join(j.dir, name), string(data))
	}
	env := []string{
		"GITHUB_ACTIONS=true", "CI=true", "GITHUB_API_URL=" + h.forge.URL, "GITHUB_SERVER_URL=https://github.com", "GITHUB_REPOSITORY=" + hubRepo,
		"GITHUB_EVENT_NAME=" + event, "GITHUB_EVENT_PATH=" + filepath.Join(j.dir, "event.json"), "GITHUB_ACTOR=" + actor,
		"GITHUB_TRIGGERING_ACTOR=" + actor, fmt.Sprintf("GITHUB_RUN_ID=%d", 9000+h.jobs), "GITHUB_RUN_ATTEMPT=1",
		"GITHUB_WORKSPACE=" + filepath.Join(j.dir, "checkout"), "GITHUB_OUTPUT=" + filepath.Join(j.dir, "output"),
		"GITHUB_STEP_SUMMARY=" + filepath.Join(j.dir, "summary"), "REPRISE_HOME=" + filepath.Join(j.dir, "runs"),
		"INPUT_GITHUB_TOKEN=" + hubToken, "REPRISE_LISTEN_EVERY=100ms",
	}
	for _, name := range slices.Sorted(maps.Keys(h.inputs)) {
		env = append(env, "INPUT_"+strings.ToUpper(strings.ReplaceAll(name, "-", "_"))+"="+h.inputs[name])
	}
	h.forge.AddRun(hubRepo, githubtest.Run{ID: int64(9000 + h.jobs), Attempt: 1})
	before := h.env
	h.env = append(slices.Clone(h.env), append(env, more...)...)
	j.life = h.stand.start("action")
	h.env = before
	return j
}

// publish commits files to the default branch of the forge.
func (h *hub) publish(files map[string]string) {
	h.t.Helper()
	for name, text := range files {
		h.write(filepath.Join("project", name), text)
	}
	for _, args := range [][]string{{"add", "--all"}, {"commit", "--quiet", "--message=more"}, {"push", "--quiet", "origin", "HEAD:main"}} {
		h.git(append([]string{"-C", h.path("project")}, args...)...)
	}
}

// git runs git as the user of the stand does.
func (h *hub) git(args ...string) {
	h.t.Helper()
	c := exec.Command("git", args...)
	c.Env = h.env
	if out, err := c.CombinedOutput(); err != nil {
		h.t.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// checkOut clones the newest commit of main as a job does, or copies what a job
// has cloned before.
func (h *hub) checkOut(to string) {
	h.t.Helper()
	main := ""
	for _, name := range []string{"refs/heads/main", "packed-refs"} {
		text, _ := os.ReadFile(h.path("origin.git/" + name)) // one of them has it
		main += string(text)
	}
	model, err := world.Model(main, func(dir string) error {
		first := to + "-first"
		if err := world.GitAll(h.env, []string{"clone", "--quiet", "--depth=1", "file://" + h.path("origin.git"), first}); err != nil {
			return err
		}
		return world.CopyModel(first, filepath.Join(dir, "cloned"), h.dir, dir)
	})
	if err == nil {
		err = world.CopyModel(filepath.Join(model, "cloned"), to, model, h.dir)
	}
	testenv.Must(h.t, err)
}

// end waits for a job, which has to come to that exit code, and reads what it
// left for the workflow.
func (j *hubJob) end(code int) *hubJob {
	j.h.t.Helper()
	if got := j.code(); got != code && code != anyCode {
		j.h.t.Fatalf("the job ended with %d, want %d\n%s", got, code, j.said.String())
	}
	j.outputs = map[string]string{}
	data := testenv.Read(j.h.t, filepath.Join(j.dir, "output"))
	lines := strings.Split(data, "\n")
	for i := 0; i < len(lines); i++ {
		name, end, ok := strings.Cut(lines[i], "<<")
		if !ok {
			continue
		}
		var value []string
		for i++; i < len(lines) && lines[i] != end; i++ {
			value = append(value, lines[i])
		}
		j.outputs[name] = strings.Join(value, "\n")
	}
	text := testenv.Read(j.h.t, filepath.Join(j.dir, "summary"))
	j.summary = text
	if all := j.said.String() + data + j.summary; strings.Contains(strings.ReplaceAll(all, "::add-mask::"+hubToken, ""), hubToken) {
		j.h.t.Errorf("the token stands in what the job left:\n%s", all)
	}
	return j
}

// wants holds outputs against what they should be.
func (j *hubJob) wants(pairs ...string) *hubJob {
	j.h.t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if got := j.outputs[pairs[i]]; got != pairs[i+1] {
			j.h.t.Errorf("output %s is %q, want %q\n%s", pairs[i], got, pairs[i+1], j.said.String())
		}
	}
	return j
}

// comment runs the job for a comment that somebody writes now.
func (h *hub) comment(by, body string, more ...string) *hubJob {
	h.t.Helper()
	return h.heard(h.say(by, body), by, more...)
}

// heard runs the job for a comment that is there.
func (h *hub) heard(id int64, by string, more ...string) *hubJob {
	h.t.Helper()
	return h.start("issue_comment", by, h.forge.CommentPayload(hubRepo, id, "created", ""), more...)
}

// reactions are the signs on a comment.
func (h *hub) reactions(id int64) string {
	var out []string
	for _, r := range h.forge.Reactions(hubRepo, id) {
		out = append(out, r.Content)
	}
	return strings.Join(out, " ")
}

// ours are the comments that begin with a marker of that kind.
func (h *hub) ours(kind string) []githubtest.Comment {
	return slices.DeleteFunc(h.forge.Comments(hubRepo, hubIssue), func(c githubtest.Comment) bool {
		return c.Author != "github-actions[bot]" || !strings.HasPrefix(c.Body, "<!-- reprise:"+kind+":")
	})
}

// record is the run as origin has it, every commit of it held against what a
// record has to be, and the newest record against the schema of records.
func (h *hub) record() metadata.Run {
	h.t.Helper()
	origin, branch := h.path("origin.git"), environ.BranchPrefix+fmt.Sprint(hubIssue)
	run, err := world.Audit(origin, branch)
	if err == nil {
		err = world.FitsSchema(origin, branch, run.IssueNumber)
	}
	testenv.Must(h.t, err)
	return run
}

func TestRunByComment(t *testing.T) {
	h := newHub(t)
	id := h.say("ada", "/run")
	j := h.heard(id, "ada").end(exit.Done)
	j.wants("decision", "run", "reason-code", "completed", "status", "completed", "branch", "reprise/issue-7", "issue", "7", "pr-number", "8")
	h.signs(id, "eyes rocket")
	live := h.ours("progress")
	if len(live) != 1 || !strings.Contains(live[0].Body, "### ✅") {
		t.Fatalf("the live comments are %+v", live)
	}
	pulls := h.forge.Pulls(hubRepo)
	if len(pulls) != 1 || pulls[0].Draft || !strings.Contains(pulls[0].Body, "Closes #7") {
		t.Errorf("the pull requests are %+v", pulls)
	}
	run := h.record()
	if run.Status != metadata.Completed || run.PRNumber != 8 || run.GitHubIntegration.ProgressCommentID != live[0].ID || run.Execution.Lease != nil {
		t.Errorf("the record is %+v", run)
	}
	testenv.Has(t, "the summary", j.summary, "completed")
}

func TestRollbackByComment(t *testing.T) {
	h := newHub(t)
	h.comment("ada", "/run").end(exit.Done)
	id := h.say("ada", "/rollback analyze because the cause is another\n\nLook at the *cache*.")
	h.heard(id, "ada").end(exit.Done).wants("decision", "run", "status", "completed", "reason-code", "completed")
	run := h.record()
	if len(run.RollbackHistory) != 1 || run.RollbackHistory[0].By != "ada" || run.RollbackHistory[0].Reason != "the cause is another\n\nLook at the *cache*." {
		t.Fatalf("the history of rollbacks is %+v", run.RollbackHistory)
	}
	h.signs(id, "eyes rocket")
	if len(h.ours("progress")) != 1 || len(h.forge.Pulls(hubRepo)) != 1 {
		t.Errorf("%d live comments, %d pull requests", len(h.ours("progress")), len(h.forge.Pulls(hubRepo)))
	}
	// The same event again, as by hand, changes nothing.
	h.heard(id, "ada").end(exit.Done).wants("decision", "ignored", "reason-code", "stale_event")
	if again := h.record(); again.Revision != run.Revision {
		t.Errorf("the record went from revision %d to %d", run.Revision, again.Revision)
	}
}

func TestAReaderMayNotCommand(t *testing.T) {
	h := newHub(t)
	id := h.say("eve", "/run")
	h.heard(id, "eve").end(exit.Done).wants("decision", "denied", "reason-code", "permission_denied")
	h.signs(id, "confused")
	h.nothing()
	if all := h.forge.Comments(hubRepo, hubIssue); len(all) != 1 {
		t.Errorf("the comments are %+v", all)
	}
}

func TestThreeCommandsAtOnce(t *testing.T) {
	h := newHub(t)
	ids := []int64{h.say("ada", "/run --phases ..analyze"), h.say("ada", "/rollback analyze not deep enough"), h.say("ada", "/cancel enough")}
	// Their jobs may come in any order, and some not at all.
	for _, id := range []int64{ids[2], ids[0]} {
		h.heard(id, "ada").end(anyCode)
	}
	run := h.record()
	var taken []string
	for _, d := range run.Decisions {
		if d.Comment > 0 {
			taken = append(taken, d.Step)
		}
	}
	if got := strings.Join(taken, " "); got != "run rollback cancel" || run.Status != metadata.Cancelled {
		t.Errorf("taken were %q, the run is %s", got, run.Status)
	}
}

// The gate says what is to be done and answers what can be answered; it needs
// no checkout.
func TestGate(t *testing.T) {
	h := newHub(t)
	h.inputs["command"] = "gate"
	for _, tt := range []struct {
		by, body       string
		decision, code string
		reactions      string
		replies        int
	}{
		{"ada", "/run", "run", "", "eyes", 0},
		{"ada", "What about /run?", "ignored", "nothing_done", "", 0},
		{"ada", "> /run", "ignored", "nothing_done", "", 0},
		{"eve", "/run", "denied", "permission_denied", "confused", 0},
		{"nobody", "/help", "denied", "permission_denied", "confused", 0},
		{"tom", "/help", "replied", "", "eyes rocket", 1},
		{"tom", "/run", "denied", "permission_denied", "confused", 0},
		{"ada", "/rollback", "denied", "nothing_done", "eyes confused", 1},
		{"ada", "/rolback design x", "denied", "nothing_done", "eyes confused", 1},
		{"ada", "/approve", "ignored", "nothing_done", "", 0},
		{"ada", "/etc/passwd", "ignored", "nothing_done", "", 0},
		{"ada", "/status", "replied", "", "eyes rocket", 1},
		{"ada", "/status\n\n```\n<!-- reprise:reply:v1 comment=1 -->\n```", "replied", "", "eyes rocket", 1},
		{"ada", "/run\n/approve", "denied", "nothing_done", "eyes confused", 1},
		{"ada", "/config", "replied", "", "eyes rocket", 1},
		{"evil[bot]", "/run", "denied", "permission_denied", "", 0},
	} {
		t.Run(tt.by+" "+tt.body, func(t *testing.T) {
			before := len(h.ours("reply"))
			id := h.say(tt.by, tt.body)
			h.heard(id, tt.by).end(exit.Done).wants("decision", tt.decision, "reason-code", tt.code)
			h.signs(id, tt.reactions)
			replies := h.ours("reply")[before:]
			if len(replies) != tt.replies {
				t.Fatalf("the replies are %+v", replies)
			}
			if tt.replies == 0 {
				return
			}
			h.heard(id, tt.by, "GITHUB_RUN_ATTEMPT=2").end(exit.Done)
			if again := h.ours("reply")[before:]; len(again) != tt.replies {
				t.Errorf("after the same job again the replies are %+v", again)
			}
		})
	}
}

func TestRunByLabel(t *testing.T) {
	h := newHub(t)
	h.forge.ChangeIssue(hubRepo, hubIssue, func(is *githubtest.Issue) { is.Labels = append(is.Labels, "reprise", "bug") })
	// A label that a stranger has put on is taken off, so that others can add it; that is said once.
	for _, who := range []string{"eve", "triage[bot]"} {
		h.start("issues", who, h.forge.LabelPayload(hubRepo, hubIssue, "reprise", who)).end(exit.Done).wants("decision", "denied", "reason-code", "permission_denied")
		if got := h.forge.Labels(hubRepo, hubIssue); !slices.Equal(got, []string{"bug"}) || len(h.ours("label")) != 1 {
			t.Errorf("after %s has put it on, the labels are %q, and it is said %d times", who, got, len(h.ours("label")))
		}
		h.forge.ChangeIssue(hubRepo, hubIssue, func(is *githubtest.Issue) { is.Labels = append(is.Labels, "reprise") })
	}
	h.start("issues", "ada", h.forge.LabelPayload(hubRepo, hubIssue, "bug", "ada")).end(exit.Done).wants("decision", "ignored", "reason-code", "nothing_done")
	h.start("issues", "ada", h.forge.LabelPayload(hubRepo, hubIssue, "reprise", "ada")).end(exit.Done).wants("decision", "run", "status", "completed")
	testenv.Same(t, "the labels are", []string{"bug"}, h.forge.Labels(hubRepo, hubIssue))
}

// The checkout of a job has one commit of one branch: another base is fetched.
func TestRunByForm(t *testing.T) {
	h := newHub(t)
	testenv.Must(t, world.GitAll(h.env, []string{"-C", h.path("project"), "commit", "--quiet", "--allow-empty", "--message=to develop"}, []string{"-C", h.path("project"), "push", "--quiet", "origin", "HEAD:refs/heads/develop"}))
	h.inputs["base-branch"] = "develop"
	form := map[string]any{"issue": "7", "command": "/run --phases ..analyze"}
	h.start("repository_dispatch", "ada", h.forge.DispatchPayload(hubRepo, "reprise", "ada", form)).end(exit.Done).wants("decision", "run", "status", "completed", "issue", "7")
	base, err := testenv.Git(h.path("origin.git"), "rev-parse", "develop")
	if run := h.record(); err != nil || len(run.Phases) != 1 || run.BaseCommit != strings.TrimSpace(base) {
		t.Errorf("the phases are %+v, on %s", run.Phases, run.BaseCommit)
	}
	h.start("repository_dispatch", "ada", h.forge.DispatchPayload(hubRepo, "other", "ada", form)).end(exit.Done).wants("reason-code", "nothing_done")
	h.start("repository_dispatch", "eve", h.forge.DispatchPayload(hubRepo, "reprise", "eve", form)).end(exit.Done).wants("reason-code", "permission_denied")
}

// Somebody who starts the job of another again needs the right, too.
func TestStartedAgain(t *testing.T) {
	h := newHub(t)
	id := h.say("ada", "/run")
	h.heard(id, "ada", "GITHUB_TRIGGERING_ACTOR=eve", "GITHUB_RUN_ATTEMPT=2").end(exit.Done).wants("decision", "denied", "reason-code", "permission_denied")
	h.heard(id, "max").end(exit.Done).wants("decision", "denied", "reason-code", "permission_denied")
}

func TestEditedComment(t *testing.T) {
	h := newHub(t)
	id := h.say("ada", "Looks good")
	h.forge.EditComment(hubRepo, id, "/run")
	h.heard(id, "ada").end(exit.Done).wants("decision", "denied", "reason-code", "permission_denied")
	testenv.Has(t, "the answer", h.replyTo(id), "the comment was edited; write a new one")
	// One that was deleted meanwhile is taken back.
	gone := h.say("ada", "/run")
	payload := h.forge.CommentPayload(hubRepo, gone, "created", "")
	h.forge.DeleteComment(hubRepo, gone)
	h.start("issue_comment", "ada", payload).end(exit.Done).wants("decision", "ignored", "reason-code", "stale_event")
	// The checkout may lie below the folder of the job.
	h.comment("ada", "/run --phases ..analyze", "GITHUB_WORKSPACE="+h.path(fmt.Sprintf("job-%d", h.jobs+1))).end(exit.Done).wants("status", "completed")
	// Nor does one count that waits in the queue.
	other := h.say("ada", "Looks better")
	h.forge.EditComment(hubRepo, other, "/cancel")
	h.comment("ada", "/rollback analyze once more").end(exit.Done).wants("status", "completed")
	h.signs(other, "confused")
	testenv.Has(t, "the answer", h.replyTo(other), "the comment was edited; write a new one")
}

// The live comment is made again when it was deleted, and one that somebody
// else has forged is left alone.
func TestLiveComment(t *testing.T) {
	h := newHub(t)
	forged := h.say("eve", "<!-- reprise:progress:v1 issue=7 -->\nAll is well.")
	h.comment("ada", "/run --phases ..analyze").end(exit.Done)
	first := h.ours("progress")
	if len(first) != 1 {
		t.Fatalf("the live comments are %+v", first)
	}
	h.forge.DeleteComment(hubRepo, first[0].ID)
	h.comment("ada", "/rollback analyze once more").end(exit.Done)
	again := h.ours("progress")
	if len(again) != 1 || again[0].ID == first[0].ID {
		t.Fatalf("the live comments are %+v", again)
	}
	if run := h.record(); run.GitHubIntegration.ProgressCommentID != again[0].ID {
		t.Errorf("the record knows comment %d, it is %d", run.GitHubIntegration.ProgressCommentID, again[0].ID)
	}
	for _, c := range h.forge.Comments(hubRepo, hubIssue) {
		if c.ID == forged && c.Body != "<!-- reprise:progress:v1 issue=7 -->\nAll is well." {
			t.Errorf("the forged comment reads %q", c.Body)
		}
	}
}

//go:build e2e

package e2e

import (
	"encoding/base64"
	"encoding/json"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	githubtest "github.com/reprise-ci/reprise/internal/test/github"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
)

// newActions makes a hub with the real program, an issue to work on, and
// people who may give commands or not.
func newActions(t *testing.T, agent string) *hub {
	t.Helper()
	program := built(t)
	h := newHub(t, program, agent)
	h.says((&worker{change: changes}).script())
	h.github.Allow(botToken, repository, h.permissions("run"))
	h.github.AddIssue(repository, githubtest.Issue{Number: 7, Title: "The greeting is missing", Body: "The program prints nothing. It should say hello.", Author: "bob"})
	for who, role := range map[string]string{"ann": "write", "max": "maintain", "tom": "triage", "eve": "read"} {
		h.github.Permit(repository, who, role)
	}
	return h
}

// say has somebody write a comment on the issue, and gives its id.
func (h *hub) say(by, body string) int64 {
	h.t.Helper()
	return h.github.AddComment(repository, 7, githubtest.Comment{Author: by, Body: body})
}

// hear sends the event of a comment, and does not wait.
func (h *hub) hear(id int64) *pending {
	h.t.Helper()
	return h.deliverTo("issue_comment", h.github.CommentPayload(repository, id, "created", ""))
}

// comment has somebody write a comment, and waits for what the workflow makes
// of it.
func (h *hub) comment(by, body string) (int64, delivery) {
	h.t.Helper()
	id := h.say(by, body)
	return id, h.hear(id).wait(h.t)
}

// want fails the test unless the jobs ended so, and the job gave these values
// as outputs.
func (d delivery) want(t *testing.T, results map[string]string, step string, pairs ...string) {
	t.Helper()
	if diff := cmp.Diff(results, d.results); diff != "" {
		t.Fatalf("jobs (-want +got):\n%s\n%s", diff, d.log)
	}
	for i := 0; i < len(pairs); i += 2 {
		if got := d.outputs[step][pairs[i]]; got != pairs[i+1] {
			t.Errorf("output %s of %s is %q, want %q\n%s", pairs[i], step, got, pairs[i+1], d.log)
		}
	}
}

var (
	bothJobs = map[string]string{"gate": "success", "run": "success"}
	gateOnly = map[string]string{"gate": "success"}
)

// theRun is the step of the job run that has outputs, by the job and its id.
const theRun = "run/run"

// signs are the reactions on a comment.
func (h *hub) signs(id int64) string {
	var out []string
	for _, r := range h.github.Reactions(repository, id) {
		out = append(out, r.Content)
	}
	return strings.Join(out, " ")
}

// ours are the comments that begin with a marker of that kind.
func (h *hub) ours(kind string) []githubtest.Comment {
	return slices.DeleteFunc(h.github.Comments(repository, 7), func(c githubtest.Comment) bool {
		return c.Author != "github-actions[bot]" || !strings.HasPrefix(c.Body, "<!-- reprise:"+kind+":")
	})
}

// history is the record as each commit of the branch has it, oldest first.
func (h *hub) history() []metadata.Run {
	h.t.Helper()
	var all []metadata.Run
	for _, c := range strings.Fields(h.git(h.root, "--git-dir", "origin.git", "log", "--reverse", "--first-parent", "--invert-grep", "--grep=^Reprise-Record:", "--format=%H", "main.."+h.recordAt())) {
		run, err := metadata.Parse([]byte(h.git(h.root, "--git-dir", "origin.git", "show", c+":.reprise/issue-7/metadata.json")), "metadata.json")
		if err != nil {
			h.t.Fatalf("commit %s: %v", c, err)
		}
		all = append(all, run)
	}
	if len(all) == 0 {
		h.t.Fatal("the branch has no commit")
	}
	return all
}

// taken are the commands that a run has taken from comments, in order.
func taken(run metadata.Run) string {
	var all []string
	for _, d := range run.Decisions {
		if d.Comment > 0 {
			all = append(all, d.Step)
		}
	}
	return strings.Join(all, " ")
}

// told says what the forge was asked to do, in order and once each: the
// reactions, and what happened to the live comment and to the pull request.
func (h *hub) told() []string {
	h.t.Helper()
	var all []string
	add := func(what string) {
		if !slices.Contains(all, what) {
			all = append(all, what)
		}
	}
	for _, r := range h.github.Requests() {
		if !r.Effect {
			continue
		}
		var body struct {
			Content, Query string
			Draft          bool
		}
		if len(r.Body) > 0 {
			if err := json.Unmarshal(r.Body, &body); err != nil {
				h.t.Fatalf("%s %s: %v", r.Method, r.Path, err)
			}
		}
		switch {
		case strings.HasSuffix(r.Path, "/reactions"):
			add(body.Content)
		case r.Method == "POST" && strings.HasSuffix(r.Path, "/issues/7/comments"):
			add("comment")
		case r.Method == "POST" && strings.HasSuffix(r.Path, "/pulls"):
			add(map[bool]string{true: "draft", false: "pull request"}[body.Draft])
		case strings.Contains(body.Query, "markPullRequestReadyForReview"):
			add("ready")
		}
	}
	return all
}

// TestActionsRun takes an issue through all phases and back again, with the
// workflow that people copy and the action.
func TestActionsRun(t *testing.T) {
	h := newActions(t, "claude")
	h.workflow("agent: claude\n", "agent: rehearsal\n")
	id, d := h.comment("ann", "/run --pipeline full")
	d.want(t, bothJobs, "gate/gate", "decision", "run", "issue", "7")
	d.want(t, bothJobs, theRun, "decision", "run", "reason-code", "completed", "status", "completed", "branch", "reprise/issue-7", "issue", "7", "pr-number", "8")
	testenv.Same(t, "what was done on GitHub", []string{"eyes", "comment", "draft", "ready", "rocket"}, h.told())
	testenv.Is(t, "the comment has the signs", h.signs(id), "eyes rocket")
	if s := d.summary["gate"]; strings.Contains(s, "Nothing was started") || !strings.Contains(s, "/run") || !strings.Contains(s, "ann") {
		t.Errorf("the summary of the gate:\n%s", s)
	}
	testenv.Has(t, "the summary of the run", d.summary["run"], "completed", "design")
	live, pulls := h.ours("progress"), h.github.Pulls(repository)
	if len(live) != 1 || len(pulls) != 1 || pulls[0].Draft || pulls[0].Head != "reprise/issue-7" || !strings.Contains(pulls[0].Body, "Closes #7") {
		t.Fatalf("live comments %+v, pull requests %+v", live, pulls)
	}
	testenv.Is(t, "head-sha is", d.outputs[theRun]["head-sha"], h.git(h.root, "--git-dir", "origin.git", "rev-parse", "reprise/issue-7"))

	const reason = "the API must stay REST"
	before := h.history()
	back, d := h.comment("max", "/rollback design because "+reason)
	d.want(t, bothJobs, theRun, "reason-code", "completed", "status", "completed", "pr-number", "8")
	run := h.record()
	if run.Status != metadata.Completed || len(run.RollbackHistory) != 1 || run.RollbackHistory[0].Reason != reason || run.RollbackHistory[0].By != "max" {
		t.Errorf("the run is %s, its rollbacks are %+v", run.Status, run.RollbackHistory)
	}
	testenv.Has(t, "ROLLBACK_REASON.md", h.pushed(path.Dir(run.Phase("design").OutputFiles[0])+"/ROLLBACK_REASON.md"), reason)
	testenv.Is(t, "the second comment has the signs", h.signs(back), "eyes rocket")
	if again, more := h.ours("progress"), h.github.Pulls(repository); len(again) != 1 || again[0].ID != live[0].ID || len(more) != 1 || !strings.Contains(again[0].Body, reason) {
		t.Errorf("live comments %+v, pull requests %+v", again, more)
	}
	after := h.history()
	if len(after) <= len(before) || after[len(before)-1].Revision != before[len(before)-1].Revision {
		t.Errorf("%d commits became %d: history is not only added to", len(before), len(after))
	}
	for i := 1; i < len(after); i++ {
		if after[i].Revision <= after[i-1].Revision {
			t.Errorf("commit %d has revision %d after %d", i, after[i].Revision, after[i-1].Revision)
		}
	}
}

// TestActionsAgents does it with the real agent programs, and shows where the
// token does not get to.
func TestActionsAgents(t *testing.T) {
	for _, agent := range []string{"claude", "codex"} {
		t.Run(agent, func(t *testing.T) {
			h := newActions(t, agent)
			h.workflow("agent: "+agent+"\n", "agent: "+agent+"\n          upload: true\n")
			_, d := h.comment("ann", "/run --pipeline fix --phases ..implement")
			d.want(t, bothJobs, theRun, "status", "completed")
			testenv.Has(t, "main.go on the branch", h.pushed("main.go"), "hello")
			const reason = "The cause lies in the build."
			before := len(h.model.Requests())
			_, again := h.comment("ann", "/rollback implement "+reason)
			again.want(t, bothJobs, theRun, "status", "completed")
			testenv.Has(t, "the first thing the model was told afterwards", h.model.Requests()[before].Prompt(), reason)
			if pulls := h.github.Pulls(repository); len(pulls) != 1 || pulls[0].Draft {
				t.Errorf("pull requests: %+v", pulls)
			}
			h.noToken(d, again)
		})
	}
}

// noToken looks for the token in all that a run leaves behind or sends: to the
// model, in logs, summaries, outputs and what is uploaded, on GitHub, and in
// every commit.
func (h *hub) noToken(all ...delivery) {
	h.t.Helper()
	places := map[string]string{"the history": h.git(h.root, "--git-dir", "origin.git", "log", "--all", "--patch", "--format=fuller")}
	for _, r := range h.model.Requests() {
		places["a request to the model"] += string(r.Body)
	}
	for _, r := range h.github.Requests() {
		places["what GitHub was told"] += r.Path + string(r.Body)
	}
	for _, d := range all {
		data, err := json.Marshal([]any{d.outputs, d.summary})
		testenv.Must(h.t, err)
		places["the log"] += d.log
		places["outputs and summary"] += string(data)
	}
	files := 0
	err := filepath.WalkDir(filepath.Join(h.root, "uploads"), func(name string, e os.DirEntry, err error) error {
		if err == nil && !e.IsDir() {
			files++
			places["an upload"] += h.read(name)
		}
		return err
	})
	if err != nil || files == 0 {
		h.t.Errorf("%d files were uploaded: %v", files, err)
	}
	for _, secret := range []string{botToken, base64.StdEncoding.EncodeToString([]byte("x-access-token:" + botToken)), "test-key"} {
		for place, text := range places {
			if strings.Contains(text, secret) {
				h.t.Errorf("%s holds %s", place, secret)
			}
		}
	}
}

// TestActionsRefuses shows that who may not is refused before any model is
// asked, and before a job sees code.
func TestActionsRefuses(t *testing.T) {
	h := newActions(t, "claude")
	id, d := h.comment("eve", "/run --pipeline fix")
	d.want(t, gateOnly, "gate/gate", "decision", "denied", "reason-code", "permission_denied")
	testenv.Is(t, "the comment has the signs", h.signs(id), "confused")
	testenv.Has(t, "the summary of the gate", d.summary["gate"], "permission_denied")
	if n := len(h.model.Requests()); n > 0 {
		t.Errorf("the model was asked %d times", n)
	}
	if refs := h.git(h.root, "--git-dir", "origin.git", "for-each-ref", "--format=%(refname)"); refs != "refs/heads/main" {
		t.Errorf("the branches are %q", refs)
	}
}

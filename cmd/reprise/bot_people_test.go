//go:build slow || e2e

package main

import (
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/internal/test/world"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/prompts"
)

// peopled is a pipeline that needs people: its plan may ask, and a maintainer
// has to approve it.
const peopled = `
name: "own"
agents: own: {use: "command", command: ["worker"]}
defaults: retry: {max: 1, initial: "10ms"}
phases: [
	{name: "plan", goal: "Plan.", review: false, approve: "maintain", report: {questions?: [...string]}},
	{name: "build", goal: "Build.", needs: ["plan"], access: "tree", review: false},
	{name: "tell", goal: "Tell.", review: false},
]
`

// unapproved is the same where nobody has to approve.
var unapproved = strings.Replace(peopled, `approve: "maintain", `, "", 1)

// asksOnce is what an agent does that has questions, the first time it is
// called; then it keeps what it is told.
func asksOnce(questions string) string {
	return `
if [ "$(wc -l <"$HOME/calls")" = 1 ]; then
	touch "$HOME/working"
	while [ -e "$HOME/hold" ]; do sleep 0.02; done
	echo '{"structured": {"questions": [` + questions + `]}}'
	exit 0
fi
cp "$REPRISE_TASK_FILE" "$HOME/task"
echo planned >>"$REPRISE_ARTIFACT"
echo '{"structured": {}}'
exit 0
`
}

// plans is what an agent does that has no questions.
const plans = `
cp "$REPRISE_TASK_FILE" "$HOME/task"
echo planned >>"$REPRISE_ARTIFACT"
echo '{"structured": {}}'
exit 0
`

// newCrew is a stage whose plan is made without questions.
func newCrew(t *testing.T, pipeline string) *hub {
	t.Helper()
	h := newStage(t, pipeline)
	h.write("home/plan-execute", plans)
	h.write("home/plan-revise", plans)
	h.write("home/build-execute", changesCode)
	return h
}

// once says that a comment was taken, once.
func (h *hub) once(run metadata.Run, id int64) metadata.Decision {
	h.t.Helper()
	var found []metadata.Decision
	for _, d := range run.Decisions {
		if d.Comment == id {
			found = append(found, d)
		}
	}
	if len(found) != 1 {
		h.t.Fatalf("comment %d was taken %d times: %+v", id, len(found), run.Decisions)
	}
	return found[0]
}

// again delivers the event of a comment a second time, which changes nothing.
func (h *hub) again(id int64, by string) {
	h.t.Helper()
	before, all := h.record().Revision, len(h.forge.Comments(hubRepo, hubIssue))
	h.heard(id, by).end(exit.Done).wants("decision", "ignored", "reason-code", "stale_event")
	testenv.Is(h.t, "the revision of the record is", h.record().Revision, before)
	testenv.Is(h.t, "comments:", len(h.forge.Comments(hubRepo, hubIssue)), all)
}

// A question is shown with how to answer it; whoever has the right answers,
// and the agent is told.
func TestQuestionByComment(t *testing.T) {
	h := newCrew(t, unapproved)
	h.write("home/plan-execute", asksOnce(`"REST or <b>gRPC</b> @max?"`))
	start := h.say("ada", "/run")
	h.heard(start, "ada").end(exit.Done).wants("decision", "run", "reason-code", "waiting", "status", "waiting", "phase", "plan")
	h.signs(start, "eyes rocket")
	testenv.Has(t, "the live comment", h.ours("progress")[0].Body, "❓ **q1** REST or &lt;b&gt;gRPC&lt;/b&gt; `@max`?", "`/answer q1`")

	eve := h.say("eve", "/answer REST")
	h.heard(eve, "eve").end(exit.Done).wants("decision", "denied", "reason-code", "permission_denied")
	h.signs(eve, "confused")
	// What is no command is no answer.
	said, other := h.say("ada", "REST, I think."), h.say("ada", "/answer q9 REST")
	id := h.say("ada", "/answer q1 REST it is.\n\nKeep `v1` as it is.")
	h.heard(id, "ada").end(exit.Done).wants("decision", "run", "reason-code", "completed", "status", "completed")
	h.signs(said, "")
	h.signs(other, "eyes confused")
	testenv.Has(t, "the answer", h.replyTo(other), "no question q9 is open; there is q1")
	h.signs(id, "eyes rocket")
	run := h.record()
	h.once(run, id)
	if q := run.Questions[0]; len(run.Questions) != 1 || q.By != "ada" || q.Answer != "REST it is.\n\nKeep `v1` as it is." {
		t.Errorf("the questions are %+v", run.Questions)
	}
	testenv.Has(t, "the task of the next agent", h.read("home/task"), "REST or", "REST it is.", "Keep `v1` as it is.")
	h.called("plan execute, plan execute, build execute, tell execute")
	testenv.Has(t, "the live comment", h.ours("progress")[0].Body, "→ REST it is.", "`/answer q9 REST` · refused: ", "`/answer q1 REST it is.` · answered q1")
	h.again(id, "ada")
}

// An answer that is there when the question has just been asked is taken by
// the same job.
func TestAnswerInTime(t *testing.T) {
	h := newCrew(t, unapproved)
	h.write("home/hold", "")
	h.write("home/plan-execute", asksOnce(`"REST?"`))
	j := h.comment("ada", "/run")
	h.await(j.life, "home/working")
	id := h.say("ada", "/answer Yes, REST.")
	h.remove("home/hold")
	j.end(exit.Done).wants("status", "completed", "reason-code", "completed")
	h.signs(id, "eyes rocket")
	h.once(h.record(), id)
	testenv.Has(t, "the task of the next agent", h.read("home/task"), "Yes, REST.")
	h.again(id, "ada")
}

// Of two questions each is answered by its id; the run goes on after the last.
func TestTwoQuestions(t *testing.T) {
	h := newCrew(t, unapproved)
	h.write("home/plan-execute", asksOnce(`"REST?", "Which port?"`))
	h.comment("ada", "/run").end(exit.Done)
	testenv.Has(t, "the live comment", h.ours("progress")[0].Body, "`/answer q1`", "`/answer q2`")
	vague, second := h.say("ada", "/answer 8080"), h.say("ada", "/answer q2 8080")
	h.heard(second, "ada").end(exit.Done).wants("status", "waiting", "reason-code", "waiting")
	h.signs(vague, "eyes confused")
	testenv.Has(t, "the answer", h.replyTo(vague), "q1, q2")
	h.signs(second, "eyes rocket")
	h.called("plan execute")
	first := h.say("max", "/answer Yes")
	h.heard(first, "max").end(exit.Done).wants("status", "completed")
	testenv.Has(t, "the task of the next agent", h.read("home/task"), "8080", "Yes")
}

// A phase that has to be approved is, by somebody with the role that it asks
// for, in so many words.
func TestApprovalByComment(t *testing.T) {
	h := newCrew(t, peopled)
	h.comment("ada", "/run").end(exit.Done).wants("reason-code", "waiting", "status", "waiting", "phase", "plan")
	testenv.Has(t, "the live comment", h.ours("progress")[0].Body, "maintain", "/approve")
	h.comment("max", "LGTM, approve").end(exit.Done).wants("decision", "ignored", "reason-code", "nothing_done")
	refused := map[int64]string{
		h.say("max", "I would say\n/approve"): "",
		h.say("ada", "/approve plan"):         "`permission_denied`",
		h.say("ada", "/run"):                  "plan has to be approved", // to start it again is not to approve
		h.say("max", "/approve build"):        "build does not wait for an approval; plan does",
	}
	j := h.comment("ada", "/run").end(exit.Done).wants("reason-code", "waiting", "status", "waiting")
	testenv.Has(t, "the summary", j.summary, "`permission_denied`")
	for id, why := range refused {
		h.signs(id, map[bool]string{true: "eyes confused"}[why != ""])
		testenv.Has(t, "the answer", h.replyTo(id), why)
	}
	if run := h.record(); len(run.Approvals) != 0 || h.calls() != "plan execute" {
		t.Errorf("the approvals are %+v, the agent was called for %s", run.Approvals, h.calls())
	}

	id := h.say("max", "/approve plan")
	h.heard(id, "max").end(exit.Done).wants("decision", "run", "status", "completed", "reason-code", "completed")
	h.signs(id, "eyes rocket")
	run := h.record()
	if a := run.Approvals; len(a) != 1 || a[0].By != "max" || a[0].Role != "maintain" || a[0].Comment != id {
		t.Errorf("the approvals are %+v", a)
	}
	h.once(run, id)
	h.again(id, "max")
}

// An approval is for what was looked at, and no longer than that stands.
func TestApprovalIsVoid(t *testing.T) {
	h := newCrew(t, peopled)
	old := h.comment("ada", "/run").end(exit.Done).outputs["head-sha"]
	h.comment("ada", "/rollback plan think of the cache").end(exit.Done).wants("status", "waiting")
	late := h.say("max", "/approve plan "+old)
	j := h.heard(late, "max").end(exit.Done).wants("reason-code", "waiting", "status", "waiting")
	h.signs(late, "eyes confused")
	testenv.Has(t, "the answer", h.replyTo(late), "`stale_event`", "plan has changed since "+old[:12])
	testenv.Has(t, "the summary", j.summary, "`stale_event`")
	id := h.say("max", "/approve plan "+j.outputs["head-sha"][:10])
	h.heard(id, "max").end(exit.Done).wants("status", "completed")
	// Taken back, it has to be approved anew.
	h.comment("ada", "/rollback plan and of the clock").end(exit.Done).wants("status", "waiting", "phase", "plan")
	h.called("plan execute, plan revise, build execute, tell execute, plan revise")
	h.comment("max", "/approve").end(exit.Done).wants("status", "completed")
	if run := h.record(); len(run.Approvals) != 2 {
		t.Errorf("the approvals are %+v", run.Approvals)
	}
}

func TestRejectByComment(t *testing.T) {
	h := newCrew(t, peopled)
	h.comment("ada", "/run").end(exit.Done)
	empty := h.say("max", "/rollback plan")
	id := h.say("max", "/rollback plan the API must stay REST")
	h.heard(id, "max").end(exit.Done).wants("decision", "run", "status", "waiting", "phase", "plan")
	h.signs(empty, "eyes confused")
	h.signs(id, "eyes rocket")
	run := h.record()
	h.once(run, id)
	if len(run.RollbackHistory) != 1 || run.RollbackHistory[0].By != "max" || run.RollbackHistory[0].TriggeredBy != metadata.Manual {
		t.Errorf("the rollbacks are %+v", run.RollbackHistory)
	}
	testenv.Has(t, "the task of the next agent", h.read("home/task"), "the API must stay REST")
	h.again(id, "max")
}

func TestSkipByComment(t *testing.T) {
	h := newCrew(t, unapproved)
	h.write("home/build-execute", "exit 7\n")
	h.comment("ada", "/run").end(exit.Failed).wants("reason-code", "agent_failed", "phase", "build")
	weak := h.say("ada", "/skip build no need")
	h.heard(weak, "ada").end(exit.Done).wants("decision", "denied", "reason-code", "permission_denied")
	refused := map[int64]string{h.say("max", "/skip plan no need"): "plan is completed", h.say("max", "/skip nowhere no need"): "nowhere"}
	id := h.say("max", "/skip build it is there already")
	h.heard(id, "max").end(exit.Done).wants("status", "completed", "reason-code", "completed")
	for id, why := range refused {
		h.signs(id, "eyes confused")
		testenv.Has(t, "the answer", h.replyTo(id), why)
	}
	h.signs(id, "eyes rocket")
	run := h.record()
	if p := run.Phase("build"); p.Status != metadata.PhaseSkipped || run.Phase("tell").Status != metadata.PhaseCompleted {
		t.Errorf("the phases are %+v", run.Phases)
	}
	testenv.Has(t, "the decision", h.once(run, id).Why.In(prompts.Words("en")), "it is there already")
	h.again(id, "max")
}

// What people ask for is held by the policy of the default branch, and by one that the workflow names.
func TestPolicyByComment(t *testing.T) {
	h := newCrew(t, unapproved)
	h.publish(map[string]string{".github/reprise/policy.cue": "budget: usd: <=10\n", "acme.cue": `import "list"
_built: list.Contains([for p in phases {p.name}], "build") | error("acme: every run builds")
_built: true
phases: _
`})
	h.inputs["policy"] = "acme.cue"
	h.write("home/build-execute", "exit 7\n")
	h.comment("ada", "/run").end(exit.Failed).wants("reason-code", "agent_failed", "phase", "build")
	refused := map[int64]string{
		h.say("max", "/skip build no need"):  "acme: every run builds, as acme.cue:2:62 demands",
		h.say("max", "/retry --more usd=11"): "budget.usd: invalid value 11 (out of bound &lt;=10), as .github/reprise/policy.cue:1:14 demands",
	}
	h.write("home/build-execute", changesCode)
	id := h.say("max", "/retry --more usd=9")
	h.heard(id, "max").end(exit.Done).wants("status", "completed")
	for id, why := range refused {
		h.signs(id, "eyes confused")
		testenv.Has(t, "the answer", h.replyTo(id), why)
	}
	h.inputs["policy"] = "none.cue"
	id = h.say("max", "/run --refresh")
	h.heard(id, "max").end(exit.Done)
	testenv.Has(t, "the answer", h.replyTo(id), "the workflow names this file as policy")
}

// A phase that another one needs is not left out before that.
func TestSkipWhatIsNeeded(t *testing.T) {
	h := newCrew(t, unapproved)
	h.write("home/plan-execute", "exit 7\n")
	h.comment("ada", "/run").end(exit.Failed).wants("phase", "plan")
	id := h.say("max", "/skip plan no need")
	h.say("max", "/skip build no need either")
	h.comment("max", "/skip plan no need").end(exit.Done).wants("status", "completed")
	h.signs(id, "eyes confused")
	testenv.Has(t, "the answer", h.replyTo(id), "needed by build")
	h.called("plan execute, plan execute, tell execute")
}

// A pause lets the step at work end.
func TestPauseWhileAnAgentWorks(t *testing.T) {
	h := newStage(t, twoSteps)
	h.write("home/plan-execute", hangs)
	start := h.say("ada", "/run")
	j := h.heard(start, "ada")
	h.await(j.life, "home/working")
	id := h.say("ada", "/pause let me look")
	h.write("home/go-on", "")
	j.end(exit.Done).wants("status", "waiting", "reason-code", "waiting")
	h.signs(id, "eyes rocket")
	h.signs(start, "eyes rocket")
	run := h.record()
	h.once(run, id)
	if got := h.calls(); got != "plan execute" || run.Attempts[0].Status != metadata.Succeeded || run.Stop.Why.In(prompts.Words("en")) != "paused by ada: let me look" {
		t.Errorf("the agent was called for %s, the run stopped with %+v", got, run.Stop)
	}
	testenv.Has(t, "the live comment", h.ours("progress")[0].Body, "let me look", "/run")
	twice := h.say("ada", "/pause once more")
	resume := h.say("ada", "/run")
	h.heard(resume, "ada").end(exit.Done).wants("status", "completed")
	h.signs(twice, "eyes confused")
	h.signs(resume, "eyes rocket")
	h.called("plan execute, build execute")
	h.again(id, "ada")
}

// What a rollback would do is what it does.
func TestDryRunIsTheRollback(t *testing.T) {
	h := newCrew(t, unapproved)
	tip := h.comment("ada", "/run").end(exit.Done).outputs["head-sha"]
	before := h.record().Revision
	dry := h.say("ada", "/rollback plan:execute --dry-run the cause\n\nis another")
	h.heard(dry, "ada").end(exit.Done).wants("decision", "replied")
	h.signs(dry, "eyes rocket")
	reply := h.replyTo(dry)
	testenv.Has(t, "the answer", reply, "the cause", "is another", "plan", "build", "tell", "ROLLBACK_REASON.md")
	if after := h.record().Revision; after != before || h.origin("7") != tip {
		t.Errorf("the record went from %d to %d, the branch from %s to %s", before, after, tip, h.origin("7"))
	}
	none := h.say("ada", "/rollback nowhere --dry-run why")
	id := h.say("ada", "/rollback plan:execute the cause\n\nis another")
	h.heard(id, "ada").end(exit.Done).wants("status", "completed")
	h.signs(none, "eyes rocket")
	testenv.Has(t, "the answer", h.replyTo(none), "nowhere", "plan, build, tell")
	entry := h.record().RollbackHistory[0]
	testenv.Has(t, "the answer", reply, string(entry.FromPhase), string(entry.ToStep))
	reason := testenv.MustGit(t, h.path("origin.git"), "show", world.RecordAt(h.path("origin.git"), "reprise/issue-7")+":.reprise/issue-7/00_plan/ROLLBACK_REASON.md")
	for line := range strings.Lines(reason) {
		if !strings.HasPrefix(line, "- When: ") {
			testenv.Has(t, "the answer", reply, line)
		}
	}
}

//go:build slow || e2e

package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/internal/test/world"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/prompts/clean"
)

// looked makes the agent that is asked about the run answer this, at a price.
func (h *hub) looked(diagnosis string) {
	h.t.Helper()
	h.write("home/build-diagnose", `cat "$REPRISE_TASK_FILE" >"$HOME/asked"
cat >"$HOME/answer" <<'END'
{"structured": `+diagnosis+`, "usage": {"input_tokens": 10, "output_tokens": 5, "cached_tokens": 0, "cost_usd": 0.25}}
END
cat "$HOME/answer"
exit 0
`)
}

// back is a diagnosis that proposes a rollback.
func back(confidence string) string {
	return `{"needs_rollback": true, "to_phase": "plan", "to_step": "revise", "reason": "Say how long a list may be.\n\n` + "`/cancel`" + ` --restore is no way out.", "confidence": "` + confidence + `", "analysis": "plan.md:3 says 100.\n/cancel @ada"}`
}

// done starts a run and waits for its end.
func (h *hub) done(language string) metadata.Run {
	h.t.Helper()
	h.inputs["language"] = language
	h.write("home/build-execute", changesCode)
	h.comment("ada", "/run").end(exit.Done).wants("status", "completed")
	return h.record()
}

// oneOpinion says that a run has only had an agent look: there is what that cost,
// the command was taken, and nothing else is as little changed as the branch.
func (h *hub) oneOpinion(before metadata.Run, usd float64) metadata.Run {
	h.t.Helper()
	run := h.record()
	testenv.Is(h.t, "the call cost", metadata.Rounded(run.Cost.USD-before.Cost.USD), usd)
	if run.Status != before.Status || !cmp.Equal(run.Stop, before.Stop) || !cmp.Equal(run.Phases, before.Phases) || !cmp.Equal(run.RollbackHistory, before.RollbackHistory) || len(run.Attempts) != len(before.Attempts) {
		h.t.Errorf("the run has changed:\n%s", cmp.Diff(before, run))
	}
	if run.Execution.Lease != nil {
		h.t.Errorf("the run is still held: %+v", run.Execution.Lease)
	}
	return run
}

// An agent that is sure takes a completed run back. Its reason reaches the agent
// that revises, the record says who asked, and the run goes on.
func TestAutoTakesBack(t *testing.T) {
	h := newStage(t, twoSteps)
	h.done("en")
	h.looked(back("high"))
	h.write("home/plan-revise", `cat "$REPRISE_TASK_FILE" >"$HOME/task"`+"\n")
	id := h.say("max", "/rollback --auto the list ends\nafter 100 entries")
	j := h.heard(id, "max").end(exit.Done).wants("decision", "run", "status", "completed", "reason-code", "completed")
	testenv.Has(t, "the log", j.said.String(), "reprise: agent own: cost unknown where a call prints no usage")
	h.called("plan execute, build execute, build diagnose, plan revise, build execute")
	testenv.Has(t, "what the agent was asked", h.read("home/asked"), "has seen this", "the list ends", "after 100 entries")
	testenv.Has(t, "the task of the next agent", h.read("home/task"), "Say how long a list may be.", "by an agent that max has asked")
	run := h.record()
	if len(run.RollbackHistory) != 1 {
		t.Fatalf("the rollbacks are %+v", run.RollbackHistory)
	}
	r := run.RollbackHistory[0]
	if r.TriggeredBy != metadata.Automatic || r.By != "max" || !strings.HasSuffix(r.CommentURL, fmt.Sprint("issuecomment-", id)) || r.ToPhase != "plan" || r.ToStep != metadata.Revise || !strings.HasPrefix(r.Reason, "Say how long") {
		t.Errorf("the rollback is %+v", r)
	}
	h.signs(id, "eyes rocket")
	testenv.Has(t, "the reply", h.replyTo(id), "own: back to plan revise (confidence: high), \\$0.2500", "the run was taken back", "plan.md:3 says 100.")
	testenv.Has(t, "the live comment", h.ours("progress")[0].Body, "/rollback --auto the list ends")
	taken := slices.DeleteFunc(slices.Clone(run.Decisions), func(d metadata.Decision) bool { return d.Comment != id })
	if len(taken) != 1 || taken[0].By != "max" || taken[0].Command != "/rollback --auto the list ends" {
		t.Errorf("the command was taken as %+v", taken)
	}
	h.heard(id, "max").end(exit.Done).wants("decision", "ignored", "reason-code", "stale_event")
	testenv.Is(t, "the run has cost", metadata.Rounded(run.Cost.USD), 0.25)
}

// What an agent is not sure of is proposed in a reply, with the command to copy,
// in the language of the run. To give that command is to do it.
func TestAutoProposes(t *testing.T) {
	for language, want := range map[string][]string{
		"en": {"own: back to plan revise (confidence: medium), \\$0.2500", "Nothing was taken back: the agent is not sure", "comment this:", "What the agent saw"},
		"ja": {"own: plan の修正に差し戻し (確信度: 中)", "差し戻していません", "エージェントに確信がありません", "次のとおりコメントしてください"},
	} {
		t.Run(language, func(t *testing.T) {
			h := newStage(t, twoSteps)
			before := h.done(language)
			h.looked(back("medium"))
			id := h.say("max", "/rollback --auto 遅い")
			h.heard(id, "max").end(exit.Done).wants("decision", "run", "status", "completed")
			h.oneOpinion(before, 0.25)
			h.signs(id, "eyes rocket")
			reply := h.replyTo(id)
			testenv.Has(t, "the reply", reply, append(want, "plan.md:3 says 100.", "`max`")...)
			if language == "ja" {
				if found := testenv.English(strings.ReplaceAll(reply, "plan.md:3 says 100.", "")); found != "" {
					t.Errorf("the reply says %q:\n%s", found, reply)
				}
			}
			if command.Parse(reply, false).Outcome != command.Ignored || clean.LeadingSlash.MatchString(reply) || strings.Contains(strings.ReplaceAll(reply, "`@ada`", ""), "@ada") {
				t.Errorf("somebody may obey the reply or be called by it:\n%s", reply)
			}
			given := copied(t, reply)
			want := command.Command{Name: "rollback", Phase: "plan", Step: metadata.Revise, Text: "Say how long a list may be.\n\n `/cancel` --restore is no way out."}
			if got := command.Parse(given, false); got.Outcome != command.Understood || cmp.Diff(want, got.Command) != "" {
				t.Errorf("the command %q reads %+v", given, got)
			}
			h.comment("max", given).end(exit.Done).wants("status", "completed")
			if run := h.record(); len(run.RollbackHistory) != 1 || run.RollbackHistory[0].TriggeredBy != metadata.Manual || run.RollbackHistory[0].By != "max" {
				t.Errorf("the rollbacks are %+v", run.RollbackHistory)
			}
		})
	}
}

// copied gives the block of code of a comment, as GitHub shows it.
func copied(t *testing.T, comment string) string {
	t.Helper()
	_, after, ok := strings.Cut(comment, "> ```\n")
	block, _, closed := strings.Cut(after, "> ```\n")
	if !ok || !closed {
		t.Fatalf("there is no block of code:\n%s", comment)
	}
	var lines []string
	for line := range strings.Lines(block) {
		lines = append(lines, strings.TrimPrefix(strings.TrimPrefix(line, ">"), " "))
	}
	return strings.Join(lines, "")
}

// In a Japanese run nothing that is told of it is in English.
func TestAutoInJapanese(t *testing.T) {
	h := newStage(t, strings.NewReplacer("Plan.", "計画する。", "Build.", "作る。").Replace(twoSteps))
	h.done("ja")
	for _, confidence := range []string{"low", "high"} {
		h.looked(`{"needs_rollback": true, "to_phase": "plan", "to_step": "revise", "reason": "件数を書く。", "confidence": "` + confidence + `", "analysis": "上限がない。"}`)
		j := h.comment("max", "/rollback --auto 一覧が 100 件で終わる").end(exit.Done)
		if found := testenv.English(j.summary); found != "" {
			t.Errorf("the summary says %q:\n%s", found, j.summary)
		}
		for _, c := range h.forge.Comments(hubRepo, hubIssue) {
			if found := testenv.English(c.Body); c.Author == "github-actions[bot]" && found != "" {
				t.Errorf("a comment says %q:\n%s", found, c.Body)
			}
		}
		testenv.Has(t, "the log", j.said.String(), "差し戻しが必要かどうかを own が調べます")
	}
	reason, err := testenv.Git(h.path("origin.git"), "show", world.RecordAt(h.path("origin.git"), environ.BranchPrefix+"7")+":.reprise/issue-7/00_plan/"+phases.ReasonFile)
	if err != nil || !strings.Contains(reason, "件数を書く。") || testenv.English(reason) != "" {
		t.Errorf("%v, the reason reads:\n%s", err, reason)
	}
	testenv.Has(t, "the live comment", h.ours("progress")[0].Body, "max が調査を依頼したエージェントが Build から Plan (修正) へ差し戻し")
}

package metadata

import (
	"encoding/json"
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

func TestCheckTakesTheSample(t *testing.T) {
	if err := sample().Check(); err != nil {
		t.Error(err)
	}
}

func TestCheck(t *testing.T) {
	for want, change := range mistakes(t) {
		t.Run(want, func(t *testing.T) {
			r := sample()
			change(&r)
			err := r.Check()
			if err == nil {
				t.Fatal("accepted")
			}
			if !strings.Contains("\n"+err.Error(), "\n"+want) {
				t.Errorf("got %v", err)
			}
		})
	}
}

// mistakes are changes that each make a mistake of the sample, by what Check
// says of it.
func mistakes(t *testing.T) map[string]func(r *Run) {
	all := largerMistakes()
	for _, m := range mistakenValues {
		all[m.says] = func(r *Run) { become(t, r, m.place, m.value) }
	}
	return all
}

// become makes one value of a run another one, which is JSON.
func become(t *testing.T, r *Run, place, value string) {
	t.Helper()
	at := reflect.ValueOf(r).Elem()
	for name := range strings.SplitSeq(place, ".") {
		at = reflect.Indirect(at)
		if n, err := strconv.Atoi(name); err == nil {
			at = at.Index(n)
		} else {
			at = at.FieldByName(name)
		}
	}
	if err := json.Unmarshal([]byte(value), at.Addr().Interface()); err != nil {
		t.Fatalf("%s cannot be %s: %v", place, value, err)
	}
}

// mistakenValues are single values that are wrong, by their place in a Run.
var mistakenValues = []struct{ place, value, says string }{
	{"Schema", "1", "schema: 1 is not the version that is written, 4"},
	{"Execution.Told.0", "-1", "run.told[0]: -1 is less than 0"},
	{"Revision", "-1", "revision: -1 is less than 0"},
	{"IssueNumber", `""`, "issue_number: is missing"},
	{"IssueNumber", `"../7"`, `issue_number: "../7" is not`},
	{"IssueURL", `"https://x:y@github.com/"`, "issue_url: is not a link that begins with https:// or http://, without a login"},
	{"Repository", `"octo"`, `repository: "octo" is not of the form owner/name`},
	{"Repository", `"octo/.."`, `repository: "octo/.." is not of the form owner/name`},
	{"Repository", `"a/b/c"`, `repository: "a/b/c" is not of the form owner/name`},
	{"Language", `"fr"`, `language: "fr" is not one of en, ja`},
	{"BranchName", `"-x"`, `branch_name: "-x" is not a name of a branch that git takes`},
	{"BaseCommit", `"main"`, `base_commit: "main" is not the full id of a commit`},
	{"CurrentPhase", `"deploy"`, `current_phase: there is no phase "deploy"`},
	{"Status", `"done"`, `status: "done" is not one of running, interrupted, waiting`},
	{"Stop", "null", "stop: is missing, but the run is waiting"},
	{"Status", `"running"`, "stop: is set, but the run is running"},
	{"Status", `"completed"`, "stop: is set, but the run is completed"},
	{"Stop.Code", `"tired"`, `stop.code: "tired" is not one of nothing_done`},
	{"Stop.Why", `" \n"`, "stop.why: is missing"},
	{"Stop.Phase", `"deploy"`, `stop.phase: there is no phase "deploy"`},
	{"Stop.Step", `"look"`, `stop.step: "look" is not one of execute, review, revise, check`},
	{"Stop.At", `"0001-01-01T00:00:00Z"`, "stop.at: is missing"},
	{"Cost.InputTokens", "-1", "cost_tracking.total_input_tokens: -1"},
	{"Cost.OutputTokens", "-1", "cost_tracking.total_output_tokens: -1"},
	{"Cost.CachedTokens", "-1", "cost_tracking.total_cached_tokens: -1"},
	{"Cost.USD", "-0.5", "cost_tracking.total_cost_usd: -0.5 is not an amount"},
	{"Cost.USD", "1e13", "cost_tracking.total_cost_usd: 1e+13 is not an amount"},
	{"Cost.InputTokens", "2000000000000000", "cost_tracking.total_input_tokens: 2000000000000000 is more than can be"},
	{"PRNumber", "-1", "pr_number: -1"},
	{"PRURL", `"octo/hello#8"`, "pr_url: is not a link"},
	{"GitHubIntegration.ProgressCommentID", "-1", "github_integration.progress_comment_id: -1"},
	{"GitHubIntegration.ProgressCommentURL", `"x"`, "github_integration.progress_comment_url: is not a link"},
	{"ExternalDocuments", `{"a": "/etc/passwd"}`, `external_documents.a: "/etc/passwd" is not a relative path`},
	{"ExternalDocuments", `{"a": "https://h/?token=x"}`, "external_documents.a: contains a credential, token"},
	{"Pipeline.Name", `""`, "pipeline.name: is missing"},
	{"Pipeline.Digest", `"sha256:0"`, `pipeline.digest: "sha256:0" is not "sha256:" and 64 hex digits`},
	{"Pipeline.Source", `"/home/me/p.cue"`, `pipeline.source: "/home/me/p.cue" is not a relative path`},
	{"Execution.ID", `""`, "run.id: is missing"},
	{"Execution.Attempt", "-1", "run.attempt: -1"},
	{"Execution.Lease.Owner", `""`, "run.lease.owner: is missing"},
	{"Execution.Lease.Fence", "-1", "run.lease.fence: -1"},
	{"Execution.Lease.Expires", `"0001-01-01T00:00:00Z"`, "run.lease.expires: is missing"},
	{"Budget.USD", "-1", "budget.usd: -1 is not an amount"},
	{"Budget.Tokens", "-1", "budget.tokens: -1"},
	{"Budget.Seconds", "-1", "budget.seconds: -1"},
	{"Budget.Attempts", "-1", "budget.attempts: -1"},
	{"Budget.EarlierUSD", "-1", "budget.earlier_usd: -1"},
	{"Budget.IssueUSD", "-1", "budget.issue_usd: -1"},
	{"Budget.Since.USD", "-1", "budget.since.usd: -1"},
	{"Budget.Since.Tokens", "-1", "budget.since.tokens: -1"},
	{"Budget.Since.Seconds", "-1", "budget.since.seconds: -1"},
	{"Budget.Since.Attempts", "-1", "budget.since.attempts: -1"},
	{"AllowanceFrom", "-1", "allowance_from: -1"},
	{"AllowanceFrom", "5", "allowance_from: 5 is more than the 4 attempts there are"},
	{"CreatedAt", `"0001-01-01T00:00:00Z"`, "created_at: is missing"},
	{"UpdatedAt", `"2026-01-31T21:00:00+09:00"`, "updated_at: 2026-01-31T21:00:00+09:00 is not in UTC"},
	{"Phases.2.Name", `"design"`, `phases.design: "design" is that of an earlier one`},
	{"Phases.2.Name", `"The design"`, `phases.The design: "The design" is not a lower case letter`},
	{"Phases.1.Status", `"done"`, `phases.design.status: "done" is not one of pending, in_progress,`},
	{"Phases.1.RetryCount", "-1", "phases.design.retry_count: -1"},
	{"Phases.1.StartedAt", `"2026-01-31T21:00:00+09:00"`, "phases.design.started_at: 2026-01-31T21:00:00+09:00 is not in UTC"},
	{"Phases.0.CompletedAt", `"2026-01-31T21:00:00+09:00"`, "phases.planning.completed_at: 2026-01-31T21:00:00+09:00 is not in UTC"},
	{"Phases.1.CompletedAt", `"2026-01-31T12:00:00Z"`, "phases.design.completed_at: is set, but the phase is in_progress"},
	{"Phases.2.CompletedAt", `"2026-01-31T12:00:00Z"`, "phases.testing.completed_at: is set, but the phase is pending"},
	{"Phases.0.CompletedAt", "null", "phases.planning.completed_at: is missing, but the phase is completed"},
	{"Phases.1.ReviewResult", `"fine"`, `phases.design.review_result: "fine" is not one of pass,`},
	{"Phases.1.OutputFiles.0", `"/tmp/design.md"`, `phases.design.output_files[0]: "/tmp/design.md" is not a path from`},
	{"Phases.1.OutputFiles.0", `"a/../../x"`, `phases.design.output_files[0]: "a/../../x" is not a path from`},
	{"Phases.1.CurrentStep", `"look"`, `phases.design.current_step: "look" is not one of execute,`},
	{"Phases.0.CurrentStep", `"review"`, `phases.planning.current_step: is set, but the phase is completed`},
	{"Phases.1.CompletedSteps.1", `"look"`, `phases.design.completed_steps[1]: "look" is not one of execute,`},
	{"Phases.1.Base", `"HEAD"`, `phases.design.base: "HEAD" is not the full id of a commit`},
	{"Phases.1.Generation", "-1", "phases.design.generation: -1"},
	{"Phases.1.Round", "-1", "phases.design.round: -1"},
	{"Phases.1.Written", "-1", "phases.design.written: -1"},
	{"Phases.1.Written", "5", "phases.design.written: 5 is more than the 4 attempts there are"},
	{"Phases.1.RollbackContext.TriggeredAt", `"0001-01-01T00:00:00Z"`, "phases.design.rollback_context.triggered_at: is missing"},
	{"Phases.1.RollbackContext.FromPhase", `"x"`, `phases.design.rollback_context.from_phase: there is no phase "x"`},
	{"Phases.1.RollbackContext.FromStep", `"x"`, `phases.design.rollback_context.from_step: "x" is not one of`},
	{"Phases.1.RollbackContext.Reason", `""`, "phases.design.rollback_context.reason: is missing"},
	{"Phases.1.RollbackContext.ReviewResult", `"../x"`, `phases.design.rollback_context.review_result: "../x" is not a path from`},
	{"Phases.1.RollbackContext.CommentURL", `"x"`, "phases.design.rollback_context.comment_url: is not a link"},
	{"Phases.1.RollbackContext.Details.BlockerCount", "-1", "phases.design.rollback_context.details.blocker_count: -1"},
	{"Phases.1.RollbackContext.Details.SuggestionCount", "-1", "phases.design.rollback_context.details.suggestion_count: -1"},
	{"Phases.1.Checks.Written", "-1", "phases.design.checks.written: -1"},
	{"Phases.1.Checks.Results.0.Name", `""`, "phases.design.checks.results[0].name: is missing"},
	{"Phases.1.Checks.Results.0.DurationMS", "-1", "phases.design.checks.results[0].duration_ms: -1"},
	{"Phases.1.Verdict.Verdict", `"maybe"`, `phases.design.verdict.verdict: "maybe" is not one of pass,`},
	{"Phases.1.Verdict.Findings.0.ID", `""`, "phases.design.verdict.findings[0].id: is missing"},
	{"Phases.1.Verdict.Findings.0.Severity", `"huge"`, `phases.design.verdict.findings[0].severity: "huge" is not one of`},
	{"Phases.1.Verdict.Findings.0.Status", `"old"`, `phases.design.verdict.findings[0].status: "old" is not one of`},
	{"Phases.1.Verdict.Findings.0.File", `"/x"`, `phases.design.verdict.findings[0].file: "/x" is not a path from`},
	{"Phases.1.Verdict.Findings.0.Line", "-1", "phases.design.verdict.findings[0].line: -1"},
	{"Phases.1.Diff.Files", "-1", "phases.design.diff.files: -1"},
	{"Phases.1.Diff.Lines", "11", "phases.design.diff.lines: 11 is not added and deleted together, 12"},
	{"Phases.1.Violations.0.Path", `"/etc/passwd"`, `phases.design.violations[0].path: "/etc/passwd" is not a relative path`},
	{"Phases.0.Verdict.Verdict", `"fail"`, "phases.planning.verdict: is fail, but the phase is completed"},
	{"Phases.0.Verdict.Findings.0.Status", `"still_open"`, `phases.planning.verdict: the blocker "F1" is open, but the phase is`},
	{"Attempts.2.N", "1", "attempts[2].n: 1 is out of order; attempts count from 1, so this is 3"},
	{"Attempts.2.Phase", `""`, `attempts[2].phase: is missing`},
	{"Attempts.2.Step", `""`, `attempts[2].step: "" is not one of execute, review, revise, check`},
	{"Attempts.2.Generation", "-1", "attempts[2].generation: -1"},
	{"Attempts.2.Round", "-1", "attempts[2].round: -1"},
	{"Attempts.2.Status", `"ok"`, `attempts[2].status: "ok" is not one of started, succeeded, failed,`},
	{"Attempts.2.Code", `"x"`, `attempts[2].code: "x" is not one of`},
	{"Attempts.2.Class", `"x"`, `attempts[2].class: "x" is not one of missing, auth,`},
	{"Attempts.2.Verdict", `"fail"`, "attempts[2].verdict: is set, but execute judges nothing"},
	{"Attempts.0.Broke", `"size,speed"`, `attempts[0].broke: "size,speed" is not a list of rules with commas between`},
	{"Attempts.0.Broke", `"size,"`, `attempts[0].broke: "size," is not a list of rules with commas between`},
	{"Attempts.2.RetryAfter", "-1", "attempts[2].retry_after_s: -1"},
	{"Attempts.2.Usage.InputTokens", "-1", "attempts[2].usage.input_tokens: -1"},
	{"Attempts.2.Usage.OutputTokens", "-1", "attempts[2].usage.output_tokens: -1"},
	{"Attempts.2.Usage.CachedTokens", "-1", "attempts[2].usage.cached_tokens: -1"},
	{"Attempts.2.Usage.Turns", "-1", "attempts[2].usage.turns: -1"},
	{"Attempts.2.Usage.USD", "-1", "attempts[2].usage.cost_usd: -1 is not an amount"},
	{"Attempts.2.DurationMS", "-1", "attempts[2].duration_ms: -1"},
	{"Attempts.2.StartedAt", `"0001-01-01T00:00:00Z"`, "attempts[2].started_at: is missing"},
	{"Attempts.2.EndedAt", `"2026-01-31T21:00:00+09:00"`, "attempts[2].ended_at: 2026-01-31T21:00:00+09:00 is not in UTC"},
	{"Attempts.2.EndedAt", "null", "attempts[2].ended_at: is missing, but the attempt is error"},
	{"Attempts.3.EndedAt", `"2026-01-31T12:00:00Z"`, "attempts[3].ended_at: is set, but the attempt is started"},
	{"RollbackHistory.0.Timestamp", `"2026-01-31T21:00:00+09:00"`, "rollback_history[0].timestamp: 2026-01-31T21:00:00+09:00 is not in UTC"},
	{"RollbackHistory.0.FromPhase", `"deploy"`, `rollback_history[0].from_phase: there is no phase "deploy"`},
	{"RollbackHistory.0.FromStep", `"x"`, `rollback_history[0].from_step: "x" is not one of`},
	{"RollbackHistory.0.ToPhase", `""`, `rollback_history[0].to_phase: is missing`},
	{"RollbackHistory.0.ToStep", `"check"`, `rollback_history[0].to_step: "check" is not one of execute,`},
	{"RollbackHistory.0.Reason", `""`, "rollback_history[0].reason: is missing"},
	{"RollbackHistory.0.TriggeredBy", `""`, `rollback_history[0].triggered_by: "" is not one of manual, automatic`},
	{"RollbackHistory.0.CommentURL", `"https://t@h/"`, "rollback_history[0].comment_url: is not a link that begins with https:// or http://, without a login"},
	{"RollbackHistory.0.ReviewResultPath", `"/r.md"`, `rollback_history[0].review_result_path: "/r.md" is not a path from the top of the repository`},
	{"Decisions.0.At", `"0001-01-01T00:00:00Z"`, "decisions[0].at: is missing"},
	{"Decisions.0.Step", `""`, "decisions[0].step: is missing"},
	{"Decisions.0.Phase", `"deploy"`, `decisions[0].phase: there is no phase "deploy"`},
	{"Decisions.0.Why", `""`, "decisions[0].why: is missing"},
	{"Decisions.0.Attempt", "-1", "decisions[0].attempt: -1"},
	{"Tasks.1.Needs.0", `"t2"`, "tasks[1].needs: there is no other task \"t2\""},
	{"Phases.3.Task", `"t2"`, `phases.rollout.t1.task: there is no phase of which "rollout.t1" is the part "t2"`},
	{"Phases.3.Name", `"other.t1"`, `phases.other.t1.task: there is no phase of which "other.t1" is the part "t1"`},
	{"Tasks.0.Title", `" "`, "tasks[0].title: is missing"},
	{"Children.0.ID", `""`, "children[0].id: is missing"},
	{"Children.1.ID", `"c1"`, "children[1].id: \"c1\" is that of an earlier one"},
	{"Children.0.Phase", `"x"`, "children[0].phase: there is no phase \"x\""},
	{"Children.1.Title", `""`, "children[1].title: is missing"},
	{"Children.1.Number", "-1", "children[1].number: -1"},
	{"Children.1.URL", `"https://github.com/octo/hello/issues/9"`, "children[1].url: is set, but no issue was opened"},
	{"Reviews.0.URL", `"x"`, "reviews[0].url: is not a link"},
	{"Reviews.0.Phase", `"x"`, "reviews[0].phase: there is no phase \"x\""},
	{"Reviews.0.ID", "-1", "reviews[0].id: -1"},
	{"Children.0.URL", `"x"`, "children[0].url: is not a link"},
	{"Tasks.0.Phase", `"x"`, "tasks[0].phase: there is no phase \"x\""},
	{"Questions.1.ID", `"q1"`, "questions[1].id: \"q1\" is that of an earlier one"},
	{"Questions.0.Text", `""`, "questions[0].question: is missing"},
	{"Questions.0.Attempt", "9", "questions[0].attempt: 9 is more than the 4 attempts"},
	{"Questions.1.Answer", `"soon"`, "questions[1].answer: does not go with answered_at"},
	{"Questions.1.AskedAt", `"0001-01-01T00:00:00Z"`, "questions[1].asked_at: is missing"},
	{"Approvals.0.Digest", `""`, "approvals[0].digest: is missing"},
	{"Approvals.0.Attempt", "0", "approvals[0].attempt: there is no attempt 0"},
	{"Approvals.0.At", `"0001-01-01T00:00:00Z"`, "approvals[0].at: is missing"},
	{"Decisions.0.Comment", "-1", "decisions[0].comment_id: -1"},
	{"Decisions.0.Comment", "4711", "decisions[1].comment_id: the command of comment 4711 was taken before, in decisions[0]"},
}

// largerMistakes are those that are no single value, or one that JSON has not.
func largerMistakes() map[string]func(r *Run) {
	planning := func(r *Run) *Phase { return &r.Phases[0] }
	design := func(r *Run) *Phase { return &r.Phases[1] }
	return map[string]func(r *Run){
		"cost_tracking.total_cost_usd: NaN is not an amount":                          func(r *Run) { r.Cost.USD = math.NaN() },
		"cost_tracking.total_cost_usd: +Inf is not an amount":                         func(r *Run) { r.Cost.USD = math.Inf(1) },
		"updated_at: the year 10000 cannot be":                                        func(r *Run) { r.UpdatedAt = noon.AddDate(10000-2026, 0, 0) },
		"phases.design.report: is not JSON":                                           func(r *Run) { design(r).Report = json.RawMessage("{") },
		"phases.design.report: is not JSON: EOF":                                      func(r *Run) { design(r).Report = json.RawMessage{} },
		"phases.design.report: is more than one value":                                func(r *Run) { design(r).Report = json.RawMessage("1 2") },
		"phases.design.report: is nested deeper than 100":                             func(r *Run) { design(r).Report = nested(101) },
		`phases.design.verdict.findings[1].id: "F1" is that of an earlier one`:        func(r *Run) { twice(&design(r).Verdict.Findings) },
		"phases.design.diff.added: -1":                                                func(r *Run) { *design(r).Diff = Diff{Lines: 0, Added: -1, Deleted: 1} },
		"phases.design.diff.deleted: -1":                                              func(r *Run) { *design(r).Diff = Diff{Lines: 0, Added: 1, Deleted: -1} },
		`phases.planning.checks: "unit" failed, but the phase is completed`:           func(r *Run) { planning(r).Checks = design(r).Checks; planning(r).Written = 4 },
		`attempts[2].verdict: "good" is not one of pass, pass_with_suggestions, fail`: func(r *Run) { r.Attempts[2].Step, r.Attempts[2].Verdict = Review, "good" },
		"tasks[1].id: \"t1\" is that of an earlier one":                               func(r *Run) { r.Tasks[1].ID, r.Tasks[1].Needs = "t1", nil },
		`phases.rollout.t1.task: there is no task "t1"`:                               func(r *Run) { r.Tasks = r.Tasks[1:]; r.Tasks[0].Needs = nil },
	}
}

func nested(depth int) json.RawMessage {
	return json.RawMessage(strings.Repeat("[", depth) + strings.Repeat("]", depth))
}

func twice[E any](list *[]E) { *list = append(*list, (*list)[0]) }

func TestCheckTakes(t *testing.T) {
	for name, change := range map[string]func(r *Run){
		"nothing done yet": func(r *Run) {
			r.Merges = nil
			r.Status, r.Stop, r.CurrentPhase, r.Attempts, r.Decisions, r.RollbackHistory = Running, nil, "", nil, nil, nil
			r.Tasks, r.Questions, r.Approvals, r.Children, r.Reviews = nil, nil, nil, nil, nil
			r.Phases, r.AllowanceFrom, r.IssueURL, r.Repository, r.BaseCommit = nil, 0, "", "", ""
		},
		"a phase that was skipped in spite of its review": func(r *Run) {
			r.Phases[1].Status, r.Phases[1].CurrentStep = PhaseSkipped, ""
		},
		"a phase that no review was asked for": func(r *Run) { r.Phases[0].Verdict, r.Phases[0].ReviewResult = nil, "" },
		"checks of older work":                 func(r *Run) { r.Phases[0].Checks = r.Phases[1].Checks },
		"a suggestion that is open": func(r *Run) {
			r.Phases[0].Verdict.Findings[0].Severity, r.Phases[0].Verdict.Findings[0].Status = Suggestion, NewFinding
		},
		"a deep report":            func(r *Run) { r.Phases[0].Report = nested(100) },
		"a report that is null":    func(r *Run) { r.Phases[0].Report = json.RawMessage("null") },
		"a violation of any name":  func(r *Run) { r.Phases[1].Violations[0].Path = `odd\name` + "\n" },
		"an attempt that was lost": func(r *Run) { r.Attempts[0].Status, r.Attempts[0].EndedAt = Started, nil },
	} {
		r := sample()
		change(&r)
		if err := r.Check(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestCheckTellsAllAtOnceButNotForEver(t *testing.T) {
	r := sample()
	r.Language, r.Cursor, r.Phases[2].Status, r.Attempts[3].N = "", "", "done", 9
	want := strings.Join([]string{
		`language: "" is not one of en, ja`,
		`phases.testing.status: "done" is not one of pending, in_progress, completed, failed, skipped`,
		"attempts[3].n: 9 is out of order; attempts count from 1, so this is 4",
	}, "\n")
	if got := r.Check().Error(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}

	r = long(1000)
	for i := range r.RollbackHistory {
		r.RollbackHistory[i].Reason = ""
	}
	if n := strings.Count(r.Check().Error(), "\n") + 1; n != mostMistakes {
		t.Errorf("%d lines for 1000 mistakes, want %d", n, mostMistakes)
	}
}

func TestCheckTellsInTheSameOrder(t *testing.T) {
	r := sample()
	for _, name := range strings.Fields("h g f e d c b a") {
		r.ExternalDocuments[name] = "/" + name
	}
	first := r.Check().Error()
	for range 20 {
		if again := r.Check().Error(); again != first {
			t.Fatalf("once\n%s\nthen\n%s", first, again)
		}
	}
}

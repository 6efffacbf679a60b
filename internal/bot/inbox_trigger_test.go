package bot

import (
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/internal/page"
	"github.com/reprise-ci/reprise/internal/test/progresstest"
)

// FuzzTrigger reads any event. Nothing is asked unless it is known who asks,
// for which issue, in which repository; and not by a bot that puts on no label, by a fork, or
// in a comment of ours.
func FuzzTrigger(f *testing.F) {
	for _, name := range []string{"issue_comment", "issues", "workflow_dispatch", "repository_dispatch", "pull_request_target", "workflow_run", "check_suite", "status", "schedule", ""} {
		for _, more := range []string{
			`"action":"created","comment":{"id":3,"body":"/run","user":{"login":"ada","id":1,"type":"User"},"created_at":"2026-03-01T09:00:00Z","updated_at":"2026-03-01T09:00:00Z"},"issue":{"number":7}`,
			`"action":"created","comment":{"id":3,"body":"/approve\n<!-- reprise:x -->","user":{"login":"ada"}},"issue":{"number":7}`,
			`"action":"edited","comment":{"id":3,"body":"/run","user":{"login":"dependabot[bot]","type":"Bot"}},"issue":{"number":7,"pull_request":{}}`,
			`"action":"closed","issue":{"number":3}`,
			`"action":"labeled","label":{"name":"Reprise"},"issue":{"number":7,"labels":["reprise"]}`,
			`"inputs":{"issue":"#7","command":"rollback design because\n::error::x"}`,
			`"action":"reprise","client_payload":{"issue":7,"command":"-x"},"inputs":{"issue":"99999999999"}`,
			`"pull_request":{"head":{"repo":{"full_name":"eve/widget"}}}`,
			`"action":"completed","workflow_run":{"head_branch":"reprise/issue-7","head_repository":{"full_name":"acme/widget"}},"check_suite":{"head_branch":"reprise/issue-7"}`,
			`"action":"completed","workflow_run":{"head_branch":"reprise/issue-7","head_repository":{"full_name":"eve/widget"}}`,
			`"sha":"c1","state":"success","context":"ci/build","branches":[{"name":"main","commit":{"sha":"c1"}},{"name":"reprise/issue-7","commit":{"sha":"c1"}}]`,
		} {
			f.Add(name, []byte(`{"repository":{"full_name":"acme/widget","default_branch":"main"},"sender":{"login":"ada","id":1,"type":"User"},`+more+`}`), "refs/heads/main", "")
			f.Add(name, []byte(`{"repository":{"full_name":"acme/widget"},"sender":{"login":"eve","type":"Bot"},`+more+`}`), "", "status")
		}
	}
	f.Fuzz(func(t *testing.T, name string, data []byte, ref, given string) {
		ev, err := github.ReadEvent(name, data)
		if err != nil {
			return
		}
		r := runner{Event: name, Repository: "acme/widget", Actor: "ada", Ref: ref, Mask: strings.Clone}
		asked, no := triggerOf(ev, Inputs{Label: "reprise", Bots: []string{"app[bot]"}, Command: given}, r)
		if no != nil {
			if no.Code == "" {
				t.Error("a denial without a reason")
			}
			facts := page.EventFacts{Event: asked.Event, Denial: command.Denial{Code: no.Code, By: asked.By, What: asked.Text, Why: no.Why()}}
			progresstest.CheckTold(t, page.EventSummary("en", facts))
			facts.Handled = true
			progresstest.CheckTold(t, page.EventSummary("ja", facts))
			return
		}
		bot := strings.HasSuffix(asked.By, "[bot]") || ev.Sender.Type == "Bot"
		switch {
		case asked.Closed > 0: // nor here: it is only said which issue was closed
			if asked.By != "" || asked.Number != 0 || asked.Issue != nil || asked.byForm() || asked.Requested.Command.Name != "run" || ev.Name != "issues" || ev.Action != "closed" {
				t.Errorf("it goes on for %+v", asked)
			}
			return
		case asked.CI: // nobody asks; it is only said of which run CI has ended
			if asked.By != "" || asked.Number < 1 || asked.byForm() || asked.Requested.Command.Name != "run" || strings.Contains(string(ev.Ran), "eve/") && ev.Name != "status" || ev.Action != "completed" && ev.Name != "status" {
				t.Errorf("it goes on for %+v", asked)
			}
			return
		}
		switch {
		case !strings.EqualFold(asked.By, "ada"), !strings.EqualFold(asked.Repository, "acme/widget"), asked.Number < 1 && asked.Pull < 1:
			t.Errorf("%q asks in %q for issue %d", asked.By, asked.Repository, asked.Number)
		case bot && asked.Label == "", ev.Pull != nil && !strings.EqualFold(ev.Pull.HeadRepository, "acme/widget"):
			t.Errorf("a bot or a fork is listened to: %+v", ev)
		case ev.DefaultBranch != "" && ref != "" && ref != "refs/heads/"+ev.DefaultBranch:
			t.Errorf("it runs on %q", ref)
		case given == "" && name == "issue_comment" && (asked.Comment == nil || ev.Action != "created" || strings.HasPrefix(asked.Comment.Body, ourMarker) || asked.Requested.Outcome == command.Ignored):
			t.Errorf("a comment is obeyed: %+v", ev.Comment)
		}
	})
}

// A status that says how something has ended on the newest commit of a run's branch takes
// that run on; nothing else about a status does.
func TestStatus(t *testing.T) {
	const run = `{"name":"reprise/issue-7","commit":{"sha":"c1"}}`
	for _, tt := range []struct {
		name, state, context, branches string
		want                           int
	}{
		{"good", "success", "ci/build", run, 7},
		{"bad", "failure", "ci/build", run, 7},
		{"broken", "error", "ci/build", run, 7},
		{"beside another branch", "success", "ci/build", `{"name":"main","commit":{"sha":"c1"}},` + run, 7},
		{"not over", "pending", "ci/build", run, 0},
		{"what reprise says itself", "success", "reprise", run, 0},
		{"an older commit", "success", "ci/build", `{"name":"reprise/issue-7","commit":{"sha":"c2"}}`, 0},
		{"another branch", "success", "ci/build", `{"name":"feature","commit":{"sha":"c1"}}`, 0},
		{"no branch", "success", "ci/build", "", 0},
		{"another spelling", "success", "ci/build", `{"name":"reprise/issue-07","commit":{"sha":"c1"}},{"name":"reprise/issue-+7","commit":{"sha":"c1"}}`, 0},
		{"no number", "success", "ci/build", `{"name":"reprise/issue-7x","commit":{"sha":"c1"}}`, 0},
	} {
		payload := `{"repository":{"full_name":"acme/widget","default_branch":"main"},"sender":{"login":"ci[bot]","type":"Bot"},"sha":"c1","state":"` + tt.state + `","context":"` + tt.context + `","branches":[` + tt.branches + `]}`
		ev, err := github.ReadEvent("status", []byte(payload))
		if err != nil {
			t.Fatal(err)
		}
		got, no := triggerOf(ev, Inputs{}, runner{Event: "status", Repository: "acme/widget", Actor: "ci[bot]", Ref: "refs/heads/main"})
		if got.Number != tt.want || got.CI != (tt.want > 0) || (no == nil) != got.CI {
			t.Errorf("%s: issue %d, %+v", tt.name, got.Number, no)
		}
	}
}

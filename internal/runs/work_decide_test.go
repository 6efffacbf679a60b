package runs

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
)

func TestWhereAnIssueStands(t *testing.T) {
	now := time.Date(2026, 3, 28, 22, 30, 0, 0, time.UTC)
	run := func(s metadata.Status, code metadata.Code) metadata.Run {
		r := metadata.Run{IssueNumber: "7", Status: s, UpdatedAt: now}
		if code != "" {
			r.Stop = &metadata.Stop{Code: code}
		}
		return r
	}
	limited := func(ago time.Duration, wait int) metadata.Run {
		r, at := run(metadata.Failed, metadata.APIError), now.Add(-ago)
		r.Attempts = []metadata.Attempt{{Class: metadata.RateLimited, RetryAfter: wait, EndedAt: &at}}
		return r
	}
	yesterday := run(metadata.Waiting, metadata.BudgetExceeded)
	yesterday.UpdatedAt = now.Add(-23 * time.Hour)
	here := []string{"here"}
	for name, tt := range map[string]struct {
		item  item
		facts facts
		open  string
		want  metadata.Status
		waits string
		wait  time.Duration
	}{
		"nothing is there":          {want: queued},
		"it cannot be taken":        {item: item{wrong: "it is locked"}, facts: facts{pid: 5}, want: metadata.Failed, waits: "it is locked"},
		"its record is broken":      {facts: facts{err: errors.New("broken")}, want: metadata.Failed, waits: "broken"},
		"a process is at it":        {facts: facts{run: run(metadata.Running, ""), where: here, pid: 5}, want: metadata.Running, waits: "process 5 works on it"},
		"a machine is at it":        {facts: facts{run: run(metadata.Running, ""), where: here, other: &metadata.Lease{Owner: "m", Expires: now.Add(time.Minute)}}, want: metadata.Running, waits: "m works on it, until 22:31 UTC at the latest"},
		"a machine was at it":       {facts: facts{run: run(metadata.Running, ""), where: here, other: &metadata.Lease{Owner: "m", Expires: now}}, want: queued},
		"it was interrupted":        {facts: facts{run: run(metadata.Interrupted, metadata.RunCancelled), where: here}, want: queued},
		"it was kept of another":    {facts: facts{run: run(metadata.Failed, metadata.ReviewFailed)}, want: queued},
		"it is done":                {facts: facts{run: run(metadata.Completed, "")}, want: metadata.Completed},
		"it is done elsewhere":      {item: item{late: true}, facts: facts{run: run(metadata.Completed, ""), where: here}, want: queued},
		"it failed":                 {facts: facts{run: run(metadata.Failed, metadata.ReviewFailed), where: here}, want: metadata.Failed},
		"it failed elsewhere":       {item: item{late: true, trouble: "late"}, facts: facts{run: run(metadata.Failed, metadata.ReviewFailed), where: []string{origin}}, want: metadata.Failed},
		"its service had no room":   {facts: facts{run: limited(time.Minute, 3600), where: here}, want: metadata.Failed, waits: "; it goes on at 23:29 UTC", wait: 59 * time.Minute},
		"its service has room":      {facts: facts{run: limited(2*time.Hour, 3600), where: here}, want: queued},
		"its service did not say":   {facts: facts{run: limited(50*time.Second, 0), where: here}, want: metadata.Failed, waits: "; it goes on at 22:30 UTC", wait: 10 * time.Second},
		"it asks":                   {facts: facts{run: run(metadata.Waiting, metadata.AwaitingPerson), where: here}, want: metadata.Waiting},
		"it depends on others":      {open: "it depends on 1", want: metadata.Waiting, waits: "it depends on 1"},
		"it broke off":              {item: item{trouble: "no", again: now.Add(time.Second)}, want: metadata.Failed, waits: "no"},
		"it broke off for good":     {item: item{trouble: "no", given: true}, want: metadata.Failed, waits: "no"},
		"it broke off, and may now": {item: item{trouble: "no"}, want: queued},
	} {
		it := tt.item
		it.Issue = "7"
		wait := it.judge(tt.facts, now)
		if it.Status == queued {
			it.hold(tt.open, nil)
		}
		if it.Status != tt.want || tt.waits != "" && it.Waits != tt.waits || wait != tt.wait || tt.want == queued && it.Waits != "" {
			t.Errorf("%s: %s, %q, %v", name, it.Status, it.Waits, wait)
		}
	}
}

func TestWhatTheEndOfAProcessMeans(t *testing.T) {
	for _, tt := range []struct {
		so   view.Summary
		want outcome
	}{
		{view.Summary{Status: "success"}, outcome{}},
		{view.Summary{Status: "failed", Code: metadata.AgentFailed, Next: []string{"reprise run"}}, outcome{}}, // its record says so
		{view.Summary{Status: "failed", Code: metadata.AgentFailed}, outcome{broke: true, forAll: true}},
		{view.Summary{Status: "failed", Code: metadata.CredentialsMissing}, outcome{broke: true, forAll: true}},
		{view.Summary{Status: "failed", Code: metadata.ConfigInvalid}, outcome{broke: true}},
		{view.Summary{Status: "failed", Code: metadata.GitFailed}, outcome{broke: true, helps: true, forAll: true}},
		{view.Summary{Status: "failed", Code: metadata.AlreadyRunning}, outcome{broke: true, helps: true}},
		{view.Summary{Status: "failed", Code: metadata.RefChanged}, outcome{broke: true, helps: true, late: true}},
	} {
		if got := outcomeOf(tt.so); got != tt.want {
			t.Errorf("%s, %s: %+v", tt.so.Status, tt.so.Code, got)
		}
	}
}

func TestWhenABrokenTryIsRepeated(t *testing.T) {
	now := time.Date(2026, 3, 28, 22, 30, 0, 0, time.UTC)
	it := item{}
	for n, want := range []time.Duration{2 * time.Second, 4 * time.Second, 8 * time.Second, 16 * time.Second, 0} {
		if it.broke("no", true, false, now); it.again.IsZero() != (want == 0) || want > 0 && it.again.Sub(now) != want {
			t.Errorf("try %d: again at %v", n+1, it.again)
		}
	}
	if it.broke("no", true, true, now); it.given || it.again.Sub(now) != 64*time.Second {
		t.Errorf("one that watches: %+v", it)
	}
	it = item{}
	if it.broke("no", false, false, now); !it.given || it.pending() {
		t.Errorf("what does not help is tried again: %+v", it)
	}
	it = item{wrong: "it is in the queue no more"}
	if it.broke("no", true, true, now); !it.again.IsZero() {
		t.Errorf("what is in the queue no more is tried again: %+v", it)
	}
}

func TestWhatAnIssueLacks(t *testing.T) {
	here := &git.Source{CommonDir: t.TempDir()}
	done := func(branch string, where ...string) facts {
		f := facts{run: metadata.Run{IssueNumber: "1", Status: metadata.Completed, BranchName: branch}, where: where}
		f.place(t.Context(), []workspace.RefRun{{Source: here, Ref: git.Ref{Name: "refs/reprise/records/issue-1", Commit: branch}}}, here)
		return f
	}
	afar := facts{run: metadata.Run{IssueNumber: "1", BranchName: "out"}}
	if afar.place(t.Context(), []workspace.RefRun{{Source: new(git.Source), Ref: git.Ref{Name: "refs/reprise/records/issue-1"}}}, here); afar.merge != "git fetch origin +refs/reprise/records/issue-1:refs/reprise/records/issue-1" {
		t.Errorf("a record that only origin keeps: %s", afar.merge)
	}
	there := map[string]facts{
		"merged": done("in", "here"), "open": done("out", "here"), "gone": done("in"), "lost": done("out"),
		"failed": {run: metadata.Run{IssueNumber: "1", Status: metadata.Failed}, where: []string{"here"}},
	}
	it := item{blocked: []string{"1 issue"}, after: []string{"merged", "open", "gone", "lost", "failed", "next", "nowhere"}}
	merged := func(tip string) bool { return tip == "in" }
	got, next := it.lacks(there, map[string]*item{"next": {}}, merged)
	want := "it depends on 1 issue; and on open, which is completed and not merged; and on lost, which is completed, but its branch is gone and nothing shows that its work is in what is checked out: " +
		"pull, bring the branch back, or take it out of depends_on; and on failed; and on next; and on nowhere, of which there is neither an issue nor a run"
	if got != want || !slices.Equal(next, []string{"reprise finish --issue 1 --squash && git merge out", "git branch out out"}) {
		t.Errorf("%q, %q, want %q", got, next, want)
	}
	ring := map[string]*item{}
	for id, after := range map[string][]string{"a": {"merged", "b"}, "b": {"c"}, "c": {"d", "a"}, "d": {"d"}, "merged": {"a"}} {
		ring[id] = &item{Run: Run{Issue: id}, after: after}
	}
	ring["merged"].Status = metadata.Completed
	for id, want := range map[string]string{
		"a": "it would wait for ever: a depends on b, b on c, c on a; take one out of depends_on",
		"d": "it would wait for ever: d depends on d; take one out of depends_on",
	} {
		if got, _ := ring[id].lacks(there, ring, merged); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

package runs

import (
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/view"
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
		open  []string
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
		"it failed elsewhere":       {item: item{late: true, trouble: "late"}, facts: facts{run: run(metadata.Failed, metadata.ReviewFailed), where: []string{Origin}}, want: metadata.Failed},
		"its service had no room":   {facts: facts{run: limited(time.Minute, 3600), where: here}, want: metadata.Failed, waits: "; it goes on at 23:29 UTC", wait: 59 * time.Minute},
		"its service has room":      {facts: facts{run: limited(2*time.Hour, 3600), where: here}, want: queued},
		"its service did not say":   {facts: facts{run: limited(50*time.Second, 0), where: here}, want: metadata.Failed, waits: "; it goes on at 22:30 UTC", wait: 10 * time.Second},
		"it asks":                   {facts: facts{run: run(metadata.Waiting, metadata.AwaitingPerson), where: here}, want: metadata.Waiting},
		"it depends on others":      {open: []string{"1", "2"}, want: metadata.Waiting, waits: "it depends on 1; and on 2"},
		"it broke off":              {item: item{trouble: "no", again: now.Add(time.Second)}, want: metadata.Failed, waits: "no"},
		"it broke off for good":     {item: item{trouble: "no", given: true}, want: metadata.Failed, waits: "no"},
		"it broke off, and may now": {item: item{trouble: "no"}, want: queued},
	} {
		it := tt.item
		it.Issue = "7"
		wait := it.judge(tt.facts, now)
		if it.Status == queued {
			it.hold(tt.open)
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
	done := func(branch string, where ...string) facts {
		return facts{run: metadata.Run{IssueNumber: "1", Status: metadata.Completed, BranchName: branch}, where: where}
	}
	there := map[string]facts{
		"merged": done("in", "here"), "open": done("out", "here"), "gone": done("out"),
		"failed": {run: metadata.Run{IssueNumber: "1", Status: metadata.Failed}, where: []string{"here"}},
	}
	it := item{blocked: []string{"1 issue"}, after: []string{"merged", "open", "gone", "failed", "next", "nowhere"}}
	got := it.lacks(there, []*item{{Run: Run{Issue: "next"}}}, func(branch string) bool { return branch == "in" })
	want := []string{"1 issue", "open, which is completed and not merged", "failed", "next", "nowhere, of which there is neither an issue nor a run"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

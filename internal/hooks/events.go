// Package hooks tells others what becomes of a run: by a command, or by a webhook.
package hooks

import (
	"cmp"
	"context"
	"fmt"
	"time"

	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/metadata"
)

// The kinds of events, as pipelines name them.
const (
	start    = "start"
	phase    = "phase"
	wait     = "wait"
	complete = "complete"
	fail     = "fail"
	retry    = "retry"
	rollback = "rollback"
)

// event is what is told: CloudEvents 1.0 in JSON, https://cloudevents.io.
type event struct {
	Version string    `json:"specversion"`
	ID      string    `json:"id"`     // the same each time that it is told
	Source  string    `json:"source"` // the issue's address, or the name of the branch
	Type    string    `json:"type"`   // "reprise.run." and the kind
	Subject string    `json:"subject"`
	Time    time.Time `json:"time"`
	Content string    `json:"datacontenttype"`
	Data    data      `json:"data"`
}

// data is where the run stood.
type data struct {
	Kind       string        `json:"event"`
	Issue      string        `json:"issue"`
	Title      string        `json:"title"`
	URL        string        `json:"url,omitempty"` // of the issue
	Pull       string        `json:"pull_request,omitempty"`
	Repository string        `json:"repository,omitempty"`
	Branch     string        `json:"branch"`
	Pipeline   string        `json:"pipeline"`
	Status     string        `json:"status"`
	Code       metadata.Code `json:"reason_code,omitempty"`
	Phase      string        `json:"phase,omitempty"`
	Reason     string        `json:"reason,omitempty"` // why it stopped, or was taken back
	Revision   int           `json:"revision"`         // of the record that says it; it only grows
	Attempts   int           `json:"attempts"`
	USD        float64       `json:"cost_usd"`
}

// between lists what has happened between two records of a run, of which the first may
// be the zero value. Words are of the reasons.
func between(before, after metadata.Run, words metadata.Words) (all []event) {
	add := func(kind, phase, reason, id string, args ...any) {
		e := event{
			Version: "1.0", ID: fmt.Sprintf("%s-%s-%s", after.Execution.ID, kind, fmt.Sprintf(id, args...)), Source: cmp.Or(after.IssueURL, after.BranchName),
			Type: "reprise.run." + kind, Subject: "issue " + after.IssueNumber, Time: after.UpdatedAt.UTC(), Content: "application/json",
			Data: data{
				Kind: kind, Issue: after.IssueNumber, Title: after.IssueTitle, URL: after.IssueURL, Pull: after.PRURL, Repository: after.Repository,
				Branch: after.BranchName, Pipeline: after.Pipeline.Name, Status: string(after.Status), Phase: phase, Reason: reason,
				Revision: after.Revision, Attempts: len(after.Attempts), USD: after.Cost.USD,
			},
		}
		if after.Stop != nil {
			e.Data.Code = after.Stop.Code
		}
		all = append(all, e)
	}
	if before.Execution.ID == "" {
		add(start, after.CurrentPhase, "", "0")
	}
	for i, d := range after.Decisions {
		if i >= len(before.Decisions) && d.Step == retry {
			add(retry, d.Phase, "", "%d", i+1)
		}
	}
	for i, r := range after.RollbackHistory {
		if i >= len(before.RollbackHistory) {
			add(rollback, r.ToPhase, r.Reason, "%d", i+1)
		}
	}
	for _, p := range after.Phases {
		was := before.Phase(p.Name)
		if p.Status == metadata.PhaseCompleted && (was == nil || was.Status != metadata.PhaseCompleted) {
			id := fmt.Sprintf("%s-%d-%d", p.Name, p.Generation, p.Written)
			if p.Touched > 0 { // others have changed what was written, and it was judged again
				id += fmt.Sprintf("-%d", p.Touched)
			}
			add(phase, p.Name, "", "%s", id)
		}
	}
	kind := map[metadata.Status]string{metadata.Waiting: wait, metadata.Completed: complete, metadata.Failed: fail}[after.Status]
	if kind != "" && (after.Status != before.Status || stoppedAt(after) != stoppedAt(before)) {
		reason := ""
		if after.Stop != nil {
			reason = after.Stop.Why.In(words)
		}
		id := fmt.Sprintf("%d-%d", len(after.Attempts), max(0, stoppedAt(after).UnixMilli()))
		if back, merges := len(after.RollbackHistory), len(after.Merges); kind == complete && back+merges > 0 { // it may be completed again without an attempt
			id += fmt.Sprintf("-%d-%d", back, merges)
		}
		add(kind, after.CurrentPhase, reason, "%s", id)
	}
	return all
}

// stoppedAt is when a run stopped; zero if it has not.
func stoppedAt(run metadata.Run) time.Time {
	if run.Stop == nil {
		return time.Time{}
	}
	return run.Stop.At
}

// Past is what the branch of a run tells of its earlier records.
type Past struct {
	Branch interface {
		// ReadFile reads a file as it is in a commit; the error wraps fs.ErrNotExist where there is none.
		ReadFile(ctx context.Context, commit, path string) ([]byte, error)
		// Log lists the commits of the branch that the commit from has not, the newest first.
		Log(ctx context.Context, from string) ([]git.LogEntry, error)
	}
	Base   string // commit that the branch began with
	Record string // the file of the record
}

// Since lists the records of a run from a revision on, the oldest first. One before the first
// is the zero value. A commit that has no record of this run is left out.
func (p Past) Since(ctx context.Context, run metadata.Run, revision int) ([]metadata.Run, error) {
	records := []metadata.Run{run}
	log, err := p.Branch.Log(ctx, p.Base)
	for i := 0; i < len(log) && records[0].Revision > revision; i++ {
		data, err := p.Branch.ReadFile(ctx, log[i].Commit, p.Record)
		if err != nil {
			continue
		}
		if older, err := metadata.Parse(data, p.Record); err == nil && older.Execution.ID == run.Execution.ID && older.Revision < records[0].Revision {
			records = append([]metadata.Run{older}, records...)
		}
	}
	if records[0].Revision > revision { // it was the first
		records = append([]metadata.Run{{}}, records...)
	}
	return records, err
}

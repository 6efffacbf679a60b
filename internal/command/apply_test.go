package command

import (
	"errors"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// A run that was paused in one phase goes on to wait where an approval before
// it is void by now; one that waits there already is told so.
func TestResumeGoesOnToWhereItWaits(t *testing.T) {
	plan, all := standings(t)
	var run metadata.Run
	for _, s := range all {
		if s.name == "cancelled" { // design is approved, code is under way
			run = s.run.Clone()
		}
	}
	run.Status, run.Stop.Code, run.Approvals = metadata.Waiting, metadata.AwaitingPerson, nil
	o := Request{Command: Command{Name: "run"}, At: time.Now().UTC()}
	x, err := o.Apply(phases.On(plan, run), false)
	if err != nil || x.Run.Status != metadata.Running || phases.Decide(phases.On(plan, x.Run)).Phase != "design" {
		t.Errorf("the run is %s, %v", x.Run.Status, err)
	}
	run.Stop.Phase = "design"
	var no *Refusal
	if _, err := o.Apply(phases.On(plan, run), false); !errors.As(err, &no) || no.Code != metadata.AwaitingPerson {
		t.Errorf("a run that waits already: %v", err)
	}
}

// The record has a command as it was given, not only what it is called.
func TestCommandOnOneLine(t *testing.T) {
	for text, want := range map[string]string{
		"/answer q1 NO_COLOR":                                   "/answer q1 NO_COLOR",
		"/answer q1\n\nNO_COLOR, and\nwhat is more":             "/answer q1 NO_COLOR, and",
		"/rollback design:execute --restore the API stays REST": "/rollback --restore design:execute the API stays REST",
		"/run --pipeline fix --more usd=2.5 --phases -a,-b":     "/run --pipeline=fix --phases=-a,-b --more=usd=2.5",
		"/run": "/run",
	} {
		if got := Parse(text, false).Command.Line(); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}

// An approval that was written before the work was done is for other work, or for none.
func TestApprovalOfWhatNobodyHasSeen(t *testing.T) {
	plan, all := standings(t)
	for _, s := range all {
		if s.name != "waiting for approval" {
			continue
		}
		done := s.run.CreatedAt.Add(time.Hour)
		run := s.run.Clone()
		run.Phase("design").CompletedAt = &done
		for written, want := range map[time.Time]bool{done.Add(time.Second): true, {}: true, run.CreatedAt.Add(-time.Hour): true, done.Add(-10 * time.Minute): false} {
			o := Request{Command: Command{Name: "approve"}, By: "max", Comment: 5, Written: written, At: done.Add(time.Hour)}
			_, err := o.Apply(phases.On(plan, run), false)
			var no *Refusal
			if want != (err == nil) || !want && (!errors.As(err, &no) || no.Code != metadata.StaleEvent) {
				t.Errorf("written at %v, when it was done at %v: %v", written, done, err)
			}
		}
		return
	}
	t.Error("no run waits for an approval")
}

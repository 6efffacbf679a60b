package main

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
	o := order{slashCommand: slashCommand{Name: "resume"}, at: time.Now().UTC()}
	x, err := o.work(plan, run, false)
	if err != nil || x.run.Status != metadata.Running || phases.Decide(plan, x.run).Phase != "design" {
		t.Errorf("the run is %s, %v", x.run.Status, err)
	}
	run.Stop.Phase = "design"
	var no *refused
	if _, err := o.work(plan, run, false); !errors.As(err, &no) || no.code != metadata.AwaitingPerson {
		t.Errorf("a run that waits already: %v", err)
	}
}

package phases

import (
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// At gives the phase that a run is at: where it stopped, what it works on, or
// what comes next.
func At(plan *pipelines.Pipeline, run metadata.Run) string {
	at := ""
	switch {
	case run.Status != metadata.Running:
		if run.Stop != nil {
			at = run.Stop.Phase
		}
	case underWay(run):
		at = run.Attempts[len(run.Attempts)-1].Phase
	default:
		at = Decide(plan, run).Phase
	}
	if at == "" {
		at = run.CurrentPhase
	}
	return at
}

// underWay reports whether the newest attempt has no end yet.
func underWay(run metadata.Run) bool {
	n := len(run.Attempts)
	return n > 0 && run.Attempts[n-1].Status == metadata.Started
}

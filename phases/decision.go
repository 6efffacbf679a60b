package phases

import (
	"time"

	"github.com/reprise-ci/reprise/metadata"
)

// Do is what a decision says to do.
type Do string

// What there is to do. The first three call an agent; Check runs the phase's
// commands, Integrate brings its parts together; the last three end the process.
const (
	DoExecute   Do = Do(metadata.Execute)
	DoReview    Do = Do(metadata.Review)
	DoRevise    Do = Do(metadata.Revise)
	DoCheck     Do = Do(metadata.Check)
	DoIntegrate Do = Do(metadata.Integrate) // the parts of a phase
	DoBaseline  Do = "baseline"             // before the first step; never decided
	DoSetup     Do = "setup"                // before a step, where the work tree has to be made ready; never decided
	DoWait      Do = "wait"
	DoFail      Do = "fail"
	DoFinish    Do = "finish"
)

// Decision is what the engine does next, and why. It is flat and comparable.
type Decision struct {
	Do     Do
	Phase  string
	Agent  string        // who does it: a name of the pipeline; empty without an agent
	Resume int           // number of the attempt whose session goes on; 0 starts a fresh one
	Again  bool          // the last call gave something unusable, and the session is told what
	Delay  time.Duration // to wait before the step, after an infrastructure error
	Code   metadata.Code // why it ends, for the last three
	Why    metadata.Reason
}

// Final reports whether the decision ends the process.
func (d Decision) Final() bool { return d.Do == DoWait || d.Do == DoFail || d.Do == DoFinish }

// Calls reports whether the decision calls an agent, which costs money.
func (d Decision) Calls() bool { return d.Agent != "" }

// Step returns the step of the decision, or "" for one that ends the process.
func (d Decision) Step() metadata.Step {
	if d.Final() {
		return ""
	}
	return metadata.Step(d.Do)
}

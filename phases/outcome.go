package phases

import (
	"encoding/json"
	"time"

	"github.com/reprise-ci/reprise/metadata"
)

// Outcome is what came out of a decision. Time, ids and cost enter the record
// through it and through Beginning, nowhere else.
type Outcome struct {
	At     time.Time
	Status metadata.AttemptStatus // of the attempt; empty for decisions that make none
	Code   metadata.Code          // why it did not succeed
	Class  metadata.Class         // for metadata.Errored
	Why    metadata.Reason
	Stderr string // the end of what the agent's program wrote there

	Warnings       []string // what is odd about the call and did not stop it, in English, for the log
	Refused        string   // hosts that its network does not have, see metadata.Attempt
	Session, Model string
	Usage          metadata.Usage
	RetryAfter     time.Duration
	Duration       time.Duration

	Written    *Written        // for execute and revise that succeeded
	Questions  []AskedQuestion // that the agent asks people before it goes on
	Violations []metadata.Violation
	Broke      []metadata.Rule        // by the violations
	Opened     []metadata.Opened      // that a person is asked about
	Checks     []metadata.CheckResult // for check
	Verdict    *metadata.Verdict      // for a review that succeeded
	Work       string                 // Digest of the work a review judged

	Head     string             // newest commit with the work of a part that is done beside others; "": as before
	Conflict *metadata.Conflict // why such work could not be integrated; then Base is the commit of the branch that Head leads on from or, without a Head, that it is done anew upon
	Base     string
}

// End notes when a step was over that began at start. The clock may have been put back
// meanwhile.
func (o *Outcome) End(start, at time.Time) { o.At, o.Duration = at, max(0, at.Sub(start)) }

// Unsuccessfully is the outcome of a call that has to be made again.
func Unsuccessfully(code metadata.Code, why metadata.Reason) Outcome {
	return Outcome{Status: metadata.Unsuccessful, Code: code, Why: why}
}

// BlockedBy is the outcome of a call whose answer cannot be used as it is.
func BlockedBy(code metadata.Code, why metadata.Reason) Outcome {
	return Outcome{Status: metadata.Blocked, Code: code, Why: why}
}

// Written is what execute or revise left behind.
type Written struct {
	Digest string   // of the artifact
	Files  []string // artifact files, as paths from the top of the repository
	Diff   metadata.Diff
	Report json.RawMessage
}

// Beginning is what is known when an attempt starts.
type Beginning struct {
	At      time.Time
	Session string // chosen by us, or the one that goes on
	Model   string
	Base    string // the commit the tree is at
	Beside  bool   // it is a part that is done beside others
}

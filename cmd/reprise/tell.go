package main

import (
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/prompts"
)

// told is what is known of a run beside its record, for those who read about
// it. The zero value says nothing.
type told struct {
	links
	// Asked are commands that the record does not have, such as refused ones,
	// in any order. Those that it has are found there.
	Asked []asked
	// Warnings are what went wrong beside the run, such as why there is no
	// pull request, each a sentence of a program.
	Warnings []string
	// NoChecks says that the newest push was made with GITHUB_TOKEN, for which
	// GitHub starts no workflow.
	NoChecks bool
	// Dispatched are the workflow files that were started because of that.
	Dispatched []string
}

// asked is a command that somebody gave, and what became of it.
type asked struct {
	At      time.Time
	By      string // login; empty if unknown
	Command string // as it was typed; its first line is shown
	Outcome string // a sentence, or empty
	URL     string // of the comment; may be empty
}

// denial is something that was refused.
type denial struct {
	Code  metadata.Code
	By    string          // login; empty if unknown
	What  string          // what was asked for, such as the command; may be empty
	Why   metadata.Reason // where it says more than the code; may be none
	Known bool            // it is a command, which the run as it stands does not allow
	Kept  bool            // not for the issue: the record of the run has it, or whoever asked has not the right
}

// versioned is a program with its version.
type versioned struct{ Name, Version string }

// summaryFacts are what the summary of a job tells besides the run's record.
type summaryFacts struct {
	told
	Removed  []prompts.Removal // from the issue
	Denials  []denial          // while the job ran
	Sandbox  string            // the one that was asked for
	Box      boxed             // the one there was
	Versions []versioned       // of reprise and the agents' programs
}

// eventFacts describe an event that led to no run.
type eventFacts struct {
	Event string // such as "issue_comment created"
	Issue string // its number; may be empty
	denial
	Warnings []string
	Versions []versioned
}

// pullFacts are what a pull request tells besides the run's record.
type pullFacts struct {
	told
	Issue    int      // the number that the pull request closes; 0 for none, as for an issue of another repository
	Progress string   // address of the live comment
	Images   []string // addresses that images in the report may begin with, such as "https://github.com/octo/hello/"
}

// right is a command, or several, and the role that may give it.
type right struct{ Command, Role string }

// configFacts are what the answer to a question about the settings tells
// besides the pipeline.
type configFacts struct {
	Why      string   // why the issue has this pipeline
	From     string   // where pipelines and settings were read from, such as a branch and its commit
	Sandbox  string   // the one in force, in a few words
	Version  string   // of reprise
	Rights   []right  // in the order to be shown
	Bots     []string // the exact names that may give commands
	Protects []string // path patterns besides those of the pipeline
}

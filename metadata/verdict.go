package metadata

import (
	"math"
	"slices"
)

// Verdict is what a review says, in types; prose is never read for it.
type Verdict struct {
	Verdict  Ruling    `json:"verdict"`
	Commit   string    `json:"commit,omitempty" check:"Commit"` // with the work it is about
	Gates    []Gate    `json:"gates"`
	Findings []Finding `json:"findings"`
	Unbound  bool      `json:"unbound,omitzero"` // only the program of the reviewer knows whether its model said so
}

// Ruling is the word a verdict comes down to.
type Ruling string

// The rulings.
const (
	Pass                Ruling = "pass"
	PassWithSuggestions Ruling = "pass_with_suggestions"
	Fail                Ruling = "fail"
)

// Gate is the answer to one gate of the pipeline.
type Gate struct {
	Gate string `json:"gate"` // the gate's text, as the pipeline has it
	Pass bool   `json:"pass"`
	Why  string `json:"why"`
}

// Finding is one thing a review found.
type Finding struct {
	ID       string        `json:"id" check:"text,new"`
	Severity Severity      `json:"severity"`
	Title    string        `json:"title"`
	Problem  string        `json:"problem"`
	Impact   string        `json:"impact"`
	Solution string        `json:"solution"`
	File     string        `json:"file,omitempty" check:"Path"` // path from the top of the repository
	Line     int           `json:"line,omitzero"`               // counts from 1
	Status   FindingStatus `json:"status"`
	Proof    string        `json:"proof,omitempty"` // command that fails because of it, for a blocker that came late
	Late     Reason        `json:"late,omitempty"`  // what such a blocker counts for, and why; empty: it did not come late
}

// Severity says whether a finding stops the phase.
type Severity string

// The severities. Only a blocker that is not fixed makes a verdict fail.
const (
	Blocker    Severity = "blocker"
	Suggestion Severity = "suggestion"
)

const (
	// Late is what a blocker counts for that came late and is not proven. No record has it as a severity.
	Late = "late"
	// LateProven is the code of the reason for which a blocker that came late counts.
	LateProven = "late_proven"
)

// Counts is what a finding counts for, whatever the reviewer called it.
func (f Finding) Counts() Severity {
	if f.Late != "" && f.Late.Code() != LateProven {
		return Late
	}
	return f.Severity
}

// FindingStatus is what became of a finding since the round before.
type FindingStatus string

// The statuses of a finding.
const (
	NewFinding FindingStatus = "new"
	StillOpen  FindingStatus = "still_open"
	Fixed      FindingStatus = "fixed"
)

// Checks are the results of a phase's checks for one state of its work.
type Checks struct {
	Written int           `json:"written"` // the writing attempt they judge, see Phase.Written
	Results []CheckResult `json:"results"`
	// OwnSetup says that what the setup goes by came from the work, so that code of it may have had a part in the results.
	OwnSetup bool `json:"own_setup,omitzero"`
}

// CheckResult is how one declared command ended.
type CheckResult struct {
	Name        string `json:"name" check:"text"`
	Run         string `json:"run"`
	Pass        bool   `json:"pass"`
	ExitCode    int    `json:"exit_code" check:"-"`
	Output      string `json:"output"` // the tail, at most 4,000 bytes
	DurationMS  int64  `json:"duration_ms"`
	FailsBefore bool   `json:"fails_before,omitzero"` // in the same way, before anything was changed

	// At most 50 names, as the check told them. Of a proof that passes: those of earlier tests that fail with the change.
	FailedTests []string `json:"failed_tests,omitempty"`
	Flaky       bool     `json:"flaky,omitzero"` // it passed when it was run once more on the same tree; FailedTests are those before

	// How many tests it said to have run, and to have failed. Like is of older records, and means nothing any more.
	Ran    int    `json:"ran,omitzero"`
	Failed int    `json:"failed,omitzero"`
	Like   string `json:"like,omitzero"`
}

// Holds says whether the check does not hold the work up.
func (c CheckResult) Holds() bool { return c.Pass || c.FailsBefore }

// Diff measures what changed in the tree, leaving reprise's own folder aside.
type Diff struct {
	Files   int `json:"files"`
	Lines   int `json:"lines"` // Added plus Deleted
	Added   int `json:"added"`
	Deleted int `json:"deleted"`
}

// Opened is a change of one file at a protected path that a pipeline opens. The file is as
// it was until a person has approved that it has the text.
type Opened struct {
	Path   string `json:"path" check:"text,file"`
	Before string `json:"before,omitempty"` // digest of what is there; empty: no file
	Text   string `json:"text"`             // what it is to have
	Diff   string `json:"diff"`             // how that differs, for people
}

// Violation is a change that an agent had no right to make. It was reverted.
type Violation struct {
	Path string `json:"path" check:"text,Reference"`
	Rule Reason `json:"rule"` // what it broke
}

// Rule is a kind of rule about what an agent may change.
type Rule string

// The kinds of rules.
const (
	RuleAccess    Rule = "access"    // where the step may write
	RuleProtected Rule = "protected" // paths that no agent may change
	RuleForm      Rule = "form"      // no links, no repositories, no special files
	RuleName      Rule = "name"      // names that every system can keep apart
	RuleContent   Rule = "content"   // no programs, no archives, no unknown binaries
	RuleSize      Rule = "size"      // how much one step may change
)

// Code is a reason code: why something did not happen, or how a run ended.
type Code string

// The reason codes.
const (
	NothingDone        Code = "nothing_done"      // nothing was asked that can be done
	PermissionDenied   Code = "permission_denied" // not by that person or program, or not in that way
	APIError           Code = "api_error"
	ConfigInvalid      Code = "config_invalid"
	CredentialsMissing Code = "credentials_missing"
	AgentFailed        Code = "agent_failed" // missing, crashed, or out of retries
	GitFailed          Code = "git_failed"   // a command of git, other than a push
	DiskFailed         Code = "disk_failed"  // full, not writable, or a call wrote more than it may
	SetupFailed        Code = "setup_failed" // a command that makes the work tree ready
	AlreadyRunning     Code = "already_running"
	StaleEvent         Code = "stale_event"
	NoRun              Code = "no_run"
	RefChanged         Code = "ref_changed"
	BudgetExceeded     Code = "budget_exceeded" // of the run, or of the day
	TimedOut           Code = "timed_out"
	NoProgress         Code = "no_progress"
	Stuck              Code = "stuck"
	Conflicts          Code = "conflict" // two parts of a phase conflict, or the work with the base
	OutputInvalid      Code = "output_invalid"
	ReviewFailed       Code = "review_failed"
	CheckFailed        Code = "check_failed"
	AwaitingCI         Code = "awaiting_ci"
	CIFailed           Code = "ci_failed"
	ChangeRefused      Code = "change_refused" // an agent changed twice what it may not, or more than it may
	SecretFound        Code = "secret_found"
	PushFailed         Code = "push_failed"
	StateCorrupt       Code = "state_corrupt"
	RunCancelled       Code = "cancelled"
	AwaitingPerson     Code = "waiting"
	Done               Code = "completed"
)

// Class is the kind of an infrastructure error.
type Class string

// The classes of infrastructure errors.
const (
	Missing     Class = "missing"      // the agent's program is not installed
	Auth        Class = "auth"         // no key, or a wrong one
	RateLimited Class = "rate_limited" // told to come back later
	Network     Class = "network"      // no answer from the model's service
	Refused     Class = "refused"      // the service will never take this
	Session     Class = "session"      // the session cannot go on
	TooLong     Class = "length"       // the answer was longer than answers may be
	Crash       Class = "crash"        // the agent died, or ended with no result
	StepTimeout Class = "timeout"      // longer than the step may take
	IdleTimeout Class = "idle"         // no sign of life for too long
	Disk        Class = "disk"         // full, or not writable
	Signal      Class = "signal"       // reprise itself was told to stop, or killed
)

// OpenBlockers gives the blockers that are not fixed; none of a nil verdict.
func (v *Verdict) OpenBlockers() []Finding { return v.Open(Blocker) }

// OpenSuggestions gives the suggestions that are not fixed, and before them the blockers that came late and do not count;
// none of a nil verdict.
func (v *Verdict) OpenSuggestions() []Finding {
	return append(v.Open(Late), v.Open(Suggestion)...)
}

// Open gives the findings that count as s and are not fixed; none of a nil verdict.
func (v *Verdict) Open(s Severity) (out []Finding) {
	if v == nil {
		return nil
	}
	for _, f := range v.Findings {
		if f.Counts() == s && f.Status != Fixed {
			out = append(out, f)
		}
	}
	return out
}

// Own is what the review itself came to: checks that fail make a fail of it, too.
func (v *Verdict) Own() Ruling {
	switch {
	case v.Verdict != Fail || len(v.OpenBlockers())+len(v.FailedGates()) > 0:
		return v.Verdict
	case len(v.OpenSuggestions()) > 0:
		return PassWithSuggestions
	}
	return Pass
}

// FailedGates gives the gates that do not hold; none of a nil verdict.
func (v *Verdict) FailedGates() (out []Gate) {
	if v == nil {
		return nil
	}
	for _, g := range v.Gates {
		if !g.Pass {
			out = append(out, g)
		}
	}
	return out
}

// ChecksFail reports whether a check has failed on the newest work of a phase.
func (p *Phase) ChecksFail() bool {
	return p.Checks != nil && p.Checks.Written == p.Written &&
		slices.ContainsFunc(p.Checks.Results, func(c CheckResult) bool { return !c.Holds() })
}

// Plus adds up what two calls have used.
func (u Usage) Plus(v Usage) Usage {
	u.InputTokens += v.InputTokens
	u.OutputTokens += v.OutputTokens
	u.CachedTokens += v.CachedTokens
	u.Turns += v.Turns
	u.USD += v.USD
	u.Estimated = u.Estimated || v.Estimated
	u.Unknown = u.Unknown || v.Unknown
	u.ByGate = u.ByGate || v.ByGate
	return u
}

// Rounded rounds dollars to a millionth, which drops the noise of floating-point sums.
func Rounded(usd float64) float64 {
	if math.Abs(usd) > 1e9 {
		return usd // it has no such digits
	}
	return math.Round(usd*1e6) / 1e6
}

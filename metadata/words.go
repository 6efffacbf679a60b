package metadata

// The closed lists of words that the format knows, in the order in which
// errors print them.

func statuses() []Status {
	return []Status{Running, Interrupted, Waiting, Failed, Completed, Cancelled}
}

// PhaseStatuses are those that a phase can have.
func PhaseStatuses() []PhaseStatus {
	return []PhaseStatus{PhasePending, PhaseInProgress, PhaseCompleted, PhaseFailed, PhaseSkipped}
}

func attemptStatuses() []AttemptStatus {
	return []AttemptStatus{Started, Succeeded, Unsuccessful, Blocked, Errored, Cut}
}

// steps are those that an attempt can be of.
func steps() []Step { return []Step{Execute, Review, Revise, Check, Integrate} }

// AgentSteps are those of them that an agent does, in their order. A run can be taken back to each.
func AgentSteps() []Step { return []Step{Execute, Review, Revise} }

// Rulings are the words of a verdict.
func Rulings() []Ruling { return []Ruling{Pass, PassWithSuggestions, Fail} }

func severities() []Severity { return []Severity{Blocker, Suggestion} }

func findingStatuses() []FindingStatus { return []FindingStatus{NewFinding, StillOpen, Fixed} }

// Roles are those that may be asked for an approval, each with the rights of the one before.
func Roles() []string { return []string{"triage", "write", "maintain", "admin"} }

// Languages are those that a run may be in.
func Languages() []string { return []string{"en", "ja"} }

// triggers are those that can ask for a rollback.
func triggers() []Trigger { return []Trigger{Manual, Automatic} }

func rules() []Rule {
	return []Rule{RuleAccess, RuleProtected, RuleForm, RuleName, RuleContent, RuleSize}
}

func classes() []Class {
	return []Class{Missing, Auth, RateLimited, Network, Refused, Session, TooLong, Crash, StepTimeout, IdleTimeout, Disk, Signal}
}

func codes() []Code {
	return []Code{
		NothingDone, PermissionDenied, APIError,
		ConfigInvalid, CredentialsMissing, AgentFailed, GitFailed, DiskFailed, SetupFailed, AlreadyRunning, StaleEvent, NoRun,
		RefChanged, BudgetExceeded, TimedOut, NoProgress, Stuck, Conflicts, OutputInvalid, ReviewFailed, CheckFailed, AwaitingCI, CIFailed,
		ChangeRefused, SecretFound, PushFailed, StateCorrupt, RunCancelled, AwaitingPerson, Done,
	}
}

// closedLists are the words of each list by the name of their type, or by what a field's tag "check" calls them.
var closedLists = map[string][]string{
	"Status": texts(statuses()), "PhaseStatus": texts(PhaseStatuses()), "AttemptStatus": texts(attemptStatuses()), "Step": texts(steps()),
	"Ruling": texts(Rulings()), "Severity": texts(severities()), "FindingStatus": texts(findingStatuses()), "Trigger": texts(triggers()),
	"Class": texts(classes()), "Code": texts(codes()), "role": Roles(), "language": Languages(), "ruling": texts(Rulings()),
}

// texts gives words as plain text.
func texts[T ~string](words []T) (all []string) {
	for _, word := range words {
		all = append(all, string(word))
	}
	return all
}

package metadata

// The closed lists of words that the format knows, in the order in which
// errors print them.

func statuses() []Status {
	return []Status{Running, Interrupted, Waiting, Failed, Completed, Cancelled}
}

func phaseStatuses() []PhaseStatus {
	return []PhaseStatus{PhasePending, PhaseInProgress, PhaseCompleted, PhaseFailed, PhaseSkipped}
}

func attemptStatuses() []AttemptStatus {
	return []AttemptStatus{Started, Succeeded, Unsuccessful, Blocked, Errored, Cut}
}

func steps() []Step { return []Step{Execute, Review, Revise, Check} }

func rulings() []Ruling { return []Ruling{Pass, PassWithSuggestions, Fail} }

func severities() []Severity { return []Severity{Blocker, Suggestion} }

func findingStatuses() []FindingStatus { return []FindingStatus{NewFinding, StillOpen, Fixed} }

func roles() []string { return []string{"triage", "write", "maintain", "admin"} }

func triggers() []Trigger { return []Trigger{Manual, Automatic} }

func rules() []Rule {
	return []Rule{RuleAccess, RuleProtected, RuleForm, RuleName, RuleContent, RuleSize}
}

func classes() []Class {
	return []Class{
		Missing, Auth, RateLimited, Network, Crash, StepTimeout, IdleTimeout, Disk, Signal,
	}
}

func codes() []Code {
	return []Code{
		NoTrigger, NotACommand, PermissionDenied, BotDenied, ForkDenied, ConfusedDeputy, APIError,
		ConfigInvalid, CredentialsMissing, AgentFailed, DiskFailed, AlreadyRunning, StaleEvent, NoRun, EditedComment,
		RefChanged, BudgetExceeded, TimedOut, NoProgress, Stuck, OutputInvalid, ReviewFailed, CheckFailed,
		ProtectedPath, PatchTooLarge, SecretFound, PushFailed, StateCorrupt, RunCancelled, AwaitingPerson,
		Done,
	}
}

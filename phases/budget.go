package phases

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// SpentOf sums up what a run has used so far.
func SpentOf(run metadata.Run) metadata.Spent {
	s := metadata.Spent{USD: run.Cost.USD, Tokens: run.Cost.InputTokens + run.Cost.OutputTokens, Attempts: calls(run)}
	var ms int64
	for _, a := range run.Attempts {
		ms += a.DurationMS
	}
	s.Seconds = int(ms / 1000)
	return s
}

// SpentOnIssue gives what all runs of an issue have cost in US dollars, up to this one.
func SpentOnIssue(run metadata.Run) float64 { return run.Budget.EarlierUSD + run.Cost.USD }

// IsCall reports whether an attempt is a call of an agent.
func IsCall(a metadata.Attempt) bool { return a.Step.ByAgent() && a.Agent != metadata.Given }

// calls counts the attempts that called an agent.
func calls(run metadata.Run) (n int) {
	for _, a := range run.Attempts {
		if IsCall(a) {
			n++
		}
	}
	return n
}

// Limit is a limit of a budget, by the name with which more of it is allowed.
type Limit string

// The limits of a budget.
const (
	LimitUSD      Limit = "usd"
	LimitTokens   Limit = "tokens"
	LimitTime     Limit = "time"
	LimitAttempts Limit = "attempts"
)

// Flag is how more is allowed, such as "--more attempts=N".
func (l Limit) Flag() string {
	value := "N"
	if l == LimitTime {
		value = "TIME"
	}
	return "--more " + string(l) + "=" + value
}

// OfDay reports whether a run has stopped for what may be spent in a day: no allowance
// raises that, and the next day brings it anew.
func OfDay(stop *metadata.Stop) bool {
	return stop != nil && slices.Contains([]string{"day_usd_spent", "repo_day_usd_spent"}, stop.Why.Code())
}

// LimitOf gives the limit that a run has stopped at, or "" if it has not stopped for its budget.
func LimitOf(run metadata.Run) Limit {
	if run.Stop == nil || run.Stop.Code != metadata.BudgetExceeded || OfDay(run.Stop) {
		return ""
	}
	reached, _ := LimitReached(run)
	return cmp.Or(reached, LimitTime) // there is some time remaining, but too little to wait for another try
}

// Allowance is what a person lets a run spend from here on. A field that is zero leaves its limit as it was.
type Allowance struct {
	USD      float64
	Tokens   int64
	Time     time.Duration // of work, in whole seconds
	Attempts int           // calls of agents
}

// AllowMore gives the record of a run that may spend what a person allows.
func AllowMore(run metadata.Run, more Allowance) metadata.Run {
	run = run.Clone()
	b, s := &run.Budget, SpentOf(run)
	if more.USD > 0 {
		b.USD, b.Since.USD = more.USD, s.USD
		if limit := SpentOnIssue(run) + more.USD; b.IssueUSD > 0 && b.IssueUSD < limit {
			b.IssueUSD = limit
		}
	}
	if more.Tokens > 0 {
		b.Tokens, b.Since.Tokens = more.Tokens, s.Tokens
	}
	if more.Time > 0 {
		b.Seconds, b.Since.Seconds = int(more.Time.Seconds()), s.Seconds
	}
	if more.Attempts > 0 {
		b.Attempts, b.Since.Attempts = more.Attempts, s.Attempts
	}
	return run
}

// LimitReached says which limit is reached, and how, or nothing.
func LimitReached(run metadata.Run) (Limit, metadata.Reason) {
	b, s := run.Budget, SpentOf(run)
	switch {
	case b.USD > 0 && s.USD-b.Since.USD >= b.USD:
		return LimitUSD, metadata.Because("budget_usd_spent", "spent", dollars(s.USD-b.Since.USD), "budget", dollars(b.USD))
	case b.IssueUSD > 0 && SpentOnIssue(run) >= b.IssueUSD:
		return LimitUSD, metadata.Because("budget_issue_spent", "spent", dollars(SpentOnIssue(run)), "budget", dollars(b.IssueUSD))
	case b.Tokens > 0 && s.Tokens-b.Since.Tokens >= b.Tokens:
		return LimitTokens, metadata.Because("budget_tokens_used", "used", s.Tokens-b.Since.Tokens, "budget", b.Tokens)
	case b.Seconds > 0 && s.Seconds-b.Since.Seconds >= b.Seconds:
		return LimitTime, metadata.Because("budget_time_used", "used", seconds(s.Seconds-b.Since.Seconds), "budget", seconds(b.Seconds))
	case b.Attempts > 0 && s.Attempts-b.Since.Attempts >= b.Attempts:
		return LimitAttempts, metadata.Because("budget_calls_made", "made", s.Attempts-b.Since.Attempts, "budget", b.Attempts)
	}
	return "", ""
}

func dollars(usd float64) string { return fmt.Sprintf("$%.2f", usd) }

func seconds(n int) time.Duration { return time.Duration(n) * time.Second }

// RemainingUSD gives what one more call may cost; 0 means there is no limit.
func RemainingUSD(run metadata.Run) float64 {
	remaining, spent := 0.0, run.Cost.USD
	if run.Budget.USD > 0 {
		remaining = run.Budget.USD - (spent - run.Budget.Since.USD)
	}
	if run.Budget.IssueUSD > 0 {
		if issue := run.Budget.IssueUSD - SpentOnIssue(run); remaining == 0 || issue < remaining {
			remaining = issue
		}
	}
	return remaining
}

// RemainingTime gives how long one more call may take; 0 means there is no limit.
func RemainingTime(run metadata.Run) time.Duration {
	if run.Budget.Seconds == 0 {
		return 0
	}
	remaining := run.Budget.Seconds - (SpentOf(run).Seconds - run.Budget.Since.Seconds)
	return max(seconds(remaining), time.Second)
}

// WithUsage gives the run as if an attempt that is still going on had ended with the usage seen so far.
func WithUsage(run metadata.Run, u metadata.Usage) metadata.Run {
	run.Cost = addUsage(run.Cost, u)
	return run
}

// LimitReachedIn says which limit a call that is still going on has reached with the usage seen so far, or nothing.
func LimitReachedIn(run metadata.Run, u metadata.Usage) Limit {
	run.Budget.Attempts = 0
	reached, _ := LimitReached(WithUsage(run, u))
	return reached
}

// addUsage gives a cost with the usage of one more attempt.
func addUsage(c metadata.Cost, u metadata.Usage) metadata.Cost {
	c.InputTokens += u.InputTokens
	c.OutputTokens += u.OutputTokens
	c.CachedTokens += u.CachedTokens
	c.USD += u.USD
	return c
}

// DaySpent is what a run has spent on the day at hand.
type DaySpent struct {
	Issue string
	USD   float64
}

// SpentOnDay gives what a run has spent, in US dollars, on the day of a time.
func SpentOnDay(run metadata.Run, at time.Time) (usd float64) {
	for _, a := range run.Attempts {
		when := a.StartedAt
		if a.EndedAt != nil {
			when = *a.EndedAt
		}
		if day(when).Equal(day(at)) {
			usd += a.Usage.USD
		}
	}
	for _, d := range run.Decisions {
		cost := 0.0 // of the agent that was asked, if one was
		if _, err := fmt.Sscanf(d.Why.Value("cost").Said(), "$%f", &cost); err == nil && day(d.At).Equal(day(at)) {
			usd += cost
		}
	}
	return usd
}

func day(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }

// RemainingToday gives what a run may still spend on the day of a time, or says which limit is
// reached, by whom, and when the run can go on. Others are the other runs of the
// repository. 0 without a reason means that there is no limit.
func RemainingToday(b pipelines.Budget, run metadata.Run, others []DaySpent, at time.Time) (usd float64, why metadata.Reason) {
	own := SpentOnDay(run, at)
	all := own
	for _, o := range others {
		all += o.USD
	}
	next := day(at).Add(24 * time.Hour).Format("2006-01-02 15:04")
	switch {
	case b.DayUSD > 0 && own >= b.DayUSD:
		return 0, metadata.Because("day_usd_spent", "spent", dollars(own), "budget", dollars(b.DayUSD), "at", next)
	case b.RepoDayUSD > 0 && all >= b.RepoDayUSD:
		return 0, metadata.Because("repo_day_usd_spent", "spent", dollars(all), "budget", dollars(b.RepoDayUSD), "at", next,
			"runs", by(append([]DaySpent{{run.IssueNumber, own}}, others...)))
	}
	if b.DayUSD > 0 {
		usd = b.DayUSD - own
	}
	if left := b.RepoDayUSD - all; b.RepoDayUSD > 0 && (usd == 0 || left < usd) {
		usd = left
	}
	return usd, ""
}

// mostNamed is how many runs are named that have spent something.
const mostNamed = 5

// by names those that have spent the most.
func by(all []DaySpent) (named []metadata.Reason) {
	all = slices.DeleteFunc(all, func(s DaySpent) bool { return s.USD <= 0 })
	slices.SortStableFunc(all, func(a, b DaySpent) int { return cmp.Compare(b.USD, a.USD) })
	for _, s := range all[:min(len(all), mostNamed)] {
		named = append(named, metadata.Because("spent_by", "issue", s.Issue, "spent", dollars(s.USD)))
	}
	if more := len(all) - mostNamed; more > 0 {
		named = append(named, metadata.Because("spent_by_more", "n", more))
	}
	return named
}

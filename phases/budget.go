package phases

import (
	"fmt"
	"time"

	"github.com/reprise-ci/reprise/metadata"
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

// calls counts the attempts that called an agent.
func calls(run metadata.Run) int {
	n := 0
	for _, a := range run.Attempts {
		if a.Step != metadata.Check {
			n++
		}
	}
	return n
}

// overBudget says which limit is reached, or "".
func overBudget(run metadata.Run) string {
	b, s := run.Budget, SpentOf(run)
	switch {
	case b.USD > 0 && s.USD-b.Since.USD >= b.USD:
		return fmt.Sprintf("$%.2f of the budget of $%.2f are spent", s.USD-b.Since.USD, b.USD)
	case b.IssueUSD > 0 && s.USD >= b.IssueUSD:
		return fmt.Sprintf("$%.2f of the issue's budget of $%.2f are spent", s.USD, b.IssueUSD)
	case b.Tokens > 0 && s.Tokens-b.Since.Tokens >= b.Tokens:
		return fmt.Sprintf("%d of the budget of %d tokens are used", s.Tokens-b.Since.Tokens, b.Tokens)
	case b.Seconds > 0 && s.Seconds-b.Since.Seconds >= b.Seconds:
		return fmt.Sprintf("%d s of the budget of %d s are used", s.Seconds-b.Since.Seconds, b.Seconds)
	case b.Attempts > 0 && s.Attempts-b.Since.Attempts >= b.Attempts:
		return fmt.Sprintf("%d of the budget of %d agent calls are made", s.Attempts-b.Since.Attempts, b.Attempts)
	}
	return ""
}

// leftUSD gives what one more call may cost; 0 means there is no limit.
func leftUSD(run metadata.Run) float64 {
	left, spent := 0.0, run.Cost.USD
	if run.Budget.USD > 0 {
		left = run.Budget.USD - (spent - run.Budget.Since.USD)
	}
	if run.Budget.IssueUSD > 0 {
		if issue := run.Budget.IssueUSD - spent; left == 0 || issue < left {
			left = issue
		}
	}
	return left
}

// secondsLeft gives how long one more call may take; 0 means there is no limit.
func secondsLeft(run metadata.Run) time.Duration {
	if run.Budget.Seconds == 0 {
		return 0
	}
	left := run.Budget.Seconds - (SpentOf(run).Seconds - run.Budget.Since.Seconds)
	return max(time.Duration(left)*time.Second, time.Second)
}

// with gives the run as if an attempt that is still going on had ended with
// the usage seen so far.
func with(run metadata.Run, u metadata.Usage) metadata.Run {
	run.Cost = addUsage(run.Cost, u)
	return run
}

func addUsage(c metadata.Cost, u metadata.Usage) metadata.Cost {
	c.InputTokens += u.InputTokens
	c.OutputTokens += u.OutputTokens
	c.CachedTokens += u.CachedTokens
	c.USD += u.USD
	return c
}

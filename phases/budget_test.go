package phases

import (
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// Each limit of a budget stops a run, says which it is, and is lifted by more of
// it and by nothing else.
func TestEachLimitIsLiftedByItself(t *testing.T) {
	all := map[Limit]Allowance{
		LimitUSD: {USD: 2}, LimitTokens: {Tokens: 2000}, LimitTime: {Time: 2 * time.Minute}, LimitAttempts: {Attempts: 3}, "": {},
	}
	tests := map[string]struct {
		budget pipelines.Budget
		want   Limit
		flag   string
		why    string
	}{
		"money":              {pipelines.Budget{USD: 1}, LimitUSD, "--more usd=N", "$1.50 of the $1.00 budget is spent"},
		"money of the issue": {pipelines.Budget{IssueUSD: 1}, LimitUSD, "--more usd=N", "$1.50 of the issue's $1.00 budget is spent"},
		"tokens":             {pipelines.Budget{Tokens: 1000}, LimitTokens, "--more tokens=N", "1100 of the 1000 tokens in the budget are used"},
		"time":               {pipelines.Budget{Time: pipelines.Duration(time.Minute)}, LimitTime, "--more time=TIME", "1m30s of the 1m0s of work in the budget is used"},
		"calls":              {pipelines.Budget{Attempts: 1}, LimitAttempts, "--more attempts=N", "1 of the 1 agent calls in the budget are made"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			plan := testPlan()
			plan.Budget = tt.budget
			run := freshRun(plan)
			o := wrotten("p1")
			o.Usage, o.Duration = metadata.Usage{USD: 1.5, InputTokens: 1000, OutputTokens: 100}, 90*time.Second
			run = plays(t, plan, run, o, Outcome{})
			if run.Status != metadata.Waiting || run.Stop.Code != metadata.BudgetExceeded || english(run.Stop.Why) != tt.why {
				t.Fatalf("the run is %s (%+v)", run.Status, run.Stop)
			}
			if got := LimitOf(run); got != tt.want || got.Flag() != tt.flag {
				t.Errorf("it has stopped at %q (%s), want %q", got, got.Flag(), tt.want)
			}
			for limit, more := range all {
				next := TakeUp(run, Start{At: run.UpdatedAt, More: more})
				legal(t, run, next)
				d := Decide(On(plan, next))
				if goesOn := d.Do == DoReview; goesOn != (limit == tt.want) {
					t.Errorf("with more of %s decided %q: %s", limit, show(d), english(d.Why))
				}
			}
		})
	}
}

// What earlier runs of the issue have spent counts towards its limit, in what one more call
// may cost and in what a person allows, and towards no other limit.
func TestWhatEarlierRunsHaveSpent(t *testing.T) {
	plan := testPlan()
	plan.Budget = pipelines.Budget{USD: 3, IssueUSD: 2}
	run := freshRun(plan)
	run.Cost.USD = 0.5
	for earlier, want := range map[float64]float64{0: 1.5, 1: 0.5} {
		run.Budget.EarlierUSD = earlier
		if got := RemainingUSD(run); got != want {
			t.Errorf("after $%v one more call may cost $%v, want $%v", earlier, got, want)
		}
	}
	run.Budget.EarlierUSD = 1.5
	if got, why := LimitReached(run); got != LimitUSD || english(why) != "$2.00 of the issue's $2.00 budget is spent" {
		t.Errorf("reached %q: %s", got, english(why))
	}
	if run = AllowMore(run, Allowance{USD: 1}); run.Budget.IssueUSD != 3 || run.Budget.USD != 1 {
		t.Errorf("with a dollar more the limits are %+v", run.Budget)
	}
	run.Budget.IssueUSD, run.Budget.USD = 0, 3
	if got, why := LimitReached(run); got != "" {
		t.Errorf("without a limit for the issue it reached %q: %s", got, english(why))
	}
}

// A run that has no time left to wait for another try is short of time.
func TestTooLittleTimeIsTheTimeLimit(t *testing.T) {
	run := freshRun(testPlan())
	run.Budget.Seconds = 60
	run.Status, run.Stop = metadata.Waiting, &metadata.Stop{Code: metadata.BudgetExceeded, Why: "x", At: t0}
	testenv.Is(t, "it has stopped at", LimitOf(run), LimitTime)
	run.Stop.Code = metadata.Stuck
	testenv.Is(t, "a run that is stuck has stopped at", LimitOf(run), "")
}

// What a person has allowed stays when the pipeline is taken anew; the rest is
// as it is defined now.
func TestRefreshKeepsWhatWasAllowed(t *testing.T) {
	old, now := testPlan(), testPlan()
	old.Budget = pipelines.Budget{USD: 1, Tokens: 1000, Time: pipelines.Duration(time.Hour), Attempts: 10}
	now.Budget = pipelines.Budget{USD: 3, Tokens: 3000, Time: pipelines.Duration(3 * time.Hour), Attempts: 30}
	run := AllowMore(freshRun(old), Allowance{Attempts: 20, Time: 2 * time.Hour})
	_, run = Refresh(old, now, run, t0)
	want := metadata.Budget{USD: 3, Tokens: 3000, Seconds: 7200, Attempts: 20}
	testenv.Is(t, "the budget is", run.Budget, want)
	testenv.Is(t, "decided:", english(Decide(On(now, run)).Why), "the phase has not begun")
}

package page

import (
	"encoding/json"
	"math"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/prompts/clean"
)

// stateBlock is the state for programs that read the comment: JSON that people do
// not see.
func stateBlock(w writer) string {
	const most = 60
	s := state{
		Schema: 1, Issue: clean.Truncate(w.Run.IssueNumber, 100), Revision: w.Run.Revision, Status: w.Run.Status, Pipeline: clean.Truncate(w.Run.Pipeline.Name, 100),
		Phase: clean.Truncate(w.Now.Phase, 100), Step: string(w.Now.Step()), Agent: clean.Truncate(w.Now.Agent, 100), Branch: clean.Truncate(w.Run.BranchName, 200), PullRequest: w.Run.PRNumber,
		USD: cents(w.Run.Cost.USD), BudgetUSD: w.Run.Budget.USD, Tokens: view.AllTokens(w.Run.Cost), Attempts: phases.SpentOf(w.Run).Attempts,
		Rollbacks: len(w.Run.RollbackHistory), Updated: w.Run.UpdatedAt.UTC().Truncate(time.Second),
	}
	if w.Run.Stop != nil {
		s.Code = w.Run.Stop.Code
	}
	for _, r := range w.Rows[:min(len(w.Rows), most)] {
		s.Phases = append(s.Phases, phaseState{
			clean.Truncate(r.Rec.Name, 100), r.Rec.Status, r.Rec.CurrentStep, r.Round(), r.Attempts, cents(r.USD), clean.Truncate(r.Rec.ReviewResult, 40),
		})
	}
	data, err := json.Marshal(s)
	if err != nil {
		return "" // a time or an amount that JSON cannot hold
	}
	// Names of others may be in it: they neither end the comment nor mention anybody.
	safe := strings.NewReplacer("--", `-\u002d`, "@", `\u0040`, "#", `\u0023`).Replace(string(data))
	return stateBegins + safe + " -->"
}

// stateBegins is how the line with the state begins.
const stateBegins = "<!-- reprise:state:v1 "

// cents drops the digits that adding up leaves behind a hundredth of a cent.
func cents(usd float64) float64 { return math.Round(usd*1e4) / 1e4 }

// state is the machine-readable part of a comment.
type state struct {
	Schema      int             `json:"schema"`
	Issue       string          `json:"issue"`
	Revision    int             `json:"revision"`
	Status      metadata.Status `json:"status"`
	Code        metadata.Code   `json:"reason_code,omitempty"`
	Pipeline    string          `json:"pipeline"`
	Phase       string          `json:"phase"`
	Step        string          `json:"step,omitempty"`
	Agent       string          `json:"agent,omitempty"`
	Branch      string          `json:"branch"`
	PullRequest int             `json:"pull_request,omitzero"`
	USD         float64         `json:"cost_usd"`
	BudgetUSD   float64         `json:"budget_usd,omitzero"`
	Tokens      int64           `json:"tokens"`
	Attempts    int             `json:"attempts"`
	Rollbacks   int             `json:"rollbacks"`
	Updated     time.Time       `json:"updated_at"`
	Phases      []phaseState    `json:"phases"`
}

type phaseState struct {
	Name     string               `json:"name"`
	Status   metadata.PhaseStatus `json:"status"`
	Step     metadata.Step        `json:"step,omitempty"`
	Round    int                  `json:"round,omitzero"`
	Attempts int                  `json:"attempts,omitzero"`
	USD      float64              `json:"cost_usd,omitzero"`
	Verdict  string               `json:"verdict,omitempty"`
}

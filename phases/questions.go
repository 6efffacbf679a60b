package phases

import (
	"encoding/json"
	"fmt"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// The most that one call may ask, and how often a step may ask before it has
// to go on with what it knows.
const (
	mostQuestions = 10
	mostAskings   = 3
)

// AskedQuestions are those that a call asks, as far as it may.
func AskedQuestions(plan *pipelines.Pipeline, run metadata.Run, d Decision, report json.RawMessage) []AskedQuestion {
	p, rec := plan.Phase(d.Phase), run.Phase(d.Phase)
	requested := 0
	for _, a := range Tries(plan, run, rec, d.Step()) {
		if a.Code == metadata.AwaitingPerson {
			requested++
		}
	}
	all := RequestIn(p, report).Questions
	if d.Do == DoReview || requested >= mostAskings {
		return nil
	}
	return all[:min(len(all), mostQuestions)]
}

// addQuestions adds questions to a record.
func addQuestions(run *metadata.Run, rec *metadata.Phase, all []AskedQuestion, o Outcome) {
	for _, a := range all {
		run.Questions = append(run.Questions, metadata.Question{
			ID: fmt.Sprintf("q%d", len(run.Questions)+1), Phase: rec.Name, Generation: rec.Generation, Attempt: len(run.Attempts),
			Text: CutText(a.Question, 2000), Options: truncateOptions(a.Options), AskedAt: o.At,
		})
	}
}

func truncateOptions(options []string) []string {
	var out []string
	for _, o := range options[:min(len(options), 10)] {
		if o = CutText(o, 200); o != "" {
			out = append(out, o)
		}
	}
	return out
}

package source

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/reprise-ci/reprise/pipelines"
)

// The limits of an evaluation.
const (
	maxTime   = 5 * time.Second // of a processor: how busy the machine is does not count
	maxInput  = 256 << 10       // bytes of all files together
	maxOutput = 4 << 20         // bytes of the answer
)

// Evaluator evaluates CUE. The zero value does so in this process and without
// limits, which is only right for what reprise itself brings along.
type Evaluator struct {
	// Argv starts a process that calls Child: this program, and the argument
	// that makes it do so. CUE from a repository has to be evaluated there.
	Argv []string

	time time.Duration // instead of maxTime, for tests
}

// request is one thing to evaluate; exactly one of the fields is set, but for Config.
type request struct {
	Time   time.Duration `json:"time,omitempty"`   // of a processor, in whole seconds; 0: no limit
	Files  []file        `json:"files,omitempty"`  // what is asked for, then those that it may build on
	Config *file         `json:"config,omitempty"` // beside Files, or by itself
	Report *against      `json:"report,omitempty"`
	When   *against      `json:"when,omitempty"`
}

// against is a JSON value and the CUE text to hold it against.
type against struct {
	Text  string          `json:"text"`
	Value json.RawMessage `json:"value"`
}

// response is what came out.
type response struct {
	Pipeline *pipelines.Pipeline `json:"pipeline,omitempty"`
	Usual    *pipelines.Mistake  `json:"usual,omitempty"` // the pipeline that Config names; Message is its name
	Matches  bool                `json:"matches,omitempty"`
	Mistakes pipelines.Mistakes  `json:"mistakes,omitempty"`
	Failure  string              `json:"failure,omitempty"` // any other error
}

// CheckReport holds a JSON value of an agent against a phase's Report. What is wrong with it is
// pipelines.Mistakes.
func (e Evaluator) CheckReport(ctx context.Context, report string, value []byte) error {
	if !json.Valid(value) {
		return pipelines.Mistakes{{Message: "not valid JSON"}}
	}
	_, err := e.do(ctx, "the report", request{Report: &against{report, value}})
	return err
}

// Matches tells whether a rule fires: whether facts, a JSON object, are among
// the values that the rule's When describes.
func (e Evaluator) Matches(ctx context.Context, when string, facts []byte) (bool, error) {
	if !json.Valid(facts) {
		return false, errors.New("the facts are not valid JSON")
	}
	r, err := e.do(ctx, "the rule", request{When: &against{when, facts}})
	return r.Matches, err
}

// do answers a request, here or in a process of its own.
func (e Evaluator) do(ctx context.Context, what string, req request) (response, error) {
	if len(e.Argv) == 0 {
		return answer(req).orMistakes()
	}
	req.Time = cmp.Or(e.time, maxTime)
	in, err := json.Marshal(req)
	if err != nil {
		return response{}, fmt.Errorf("evaluate %s: %w", what, err)
	}
	out, err := Ask(ctx, e.Argv, Question{What: what, Most: req.Time, Text: in})
	if err != nil {
		return response{}, err
	}
	var r response
	if err := json.Unmarshal(out, &r); err != nil {
		return r, fmt.Errorf("evaluate %s: unreadable answer: %w", what, err)
	}
	return r.orMistakes()
}

// orMistakes turns what is wrong into an error.
func (r response) orMistakes() (response, error) {
	if r.Failure != "" {
		return r, errors.New(r.Failure)
	}
	return r, r.Mistakes.OrNil()
}

package pipelines

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"
)

// The limits of an evaluation.
const (
	maxTime   = 5 * time.Second
	maxMemory = 300 << 20 // bytes, over what the process has when it starts
	maxInput  = 256 << 10 // bytes of all files together
	maxOutput = 16 << 20  // bytes of the answer
)

// Evaluator evaluates CUE. The zero value does so in this process and without
// limits, which is only right for what reprise itself brings along.
type Evaluator struct {
	// Argv starts a process that calls Child: this program, and the argument
	// that makes it do so. CUE from a repository has to be evaluated there.
	Argv []string

	time time.Duration // over maxTime, for tests
}

// request is one thing to evaluate; exactly one of the fields is set.
type request struct {
	Files  []file   `json:"files,omitempty"`
	Report *against `json:"report,omitempty"`
	When   *against `json:"when,omitempty"`
}

// against is a JSON value and the CUE text to hold it against.
type against struct {
	Text  string          `json:"text"`
	Value json.RawMessage `json:"value"`
}

// response is what came out.
type response struct {
	Pipeline *Pipeline `json:"pipeline,omitempty"`
	Missing  *Error    `json:"missing,omitempty"` // a pipeline to build on; Message is its name
	Matches  bool      `json:"matches,omitempty"`
	Mistakes Errors    `json:"mistakes,omitempty"`
	Failure  string    `json:"failure,omitempty"` // any other error
}

// CheckReport holds a JSON value that an agent returned against a phase's
// Report. The error is Errors, one for each thing that is wrong with the
// value, or says why that could not be found out.
func (e Evaluator) CheckReport(ctx context.Context, report string, value []byte) error {
	if !json.Valid(value) {
		return Errors{{Message: "not valid JSON"}}
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
		return answer(req).settle()
	}
	in, err := json.Marshal(req)
	if err != nil {
		return response{}, fmt.Errorf("evaluate %s: %w", what, err)
	}
	if e.time == 0 {
		e.time = maxTime
	}
	limited, cancel := context.WithTimeout(ctx, e.time)
	defer cancel()
	var stdout bytes.Buffer
	stderr := tail{max: 4 << 10}
	cmd := exec.CommandContext(limited, e.Argv[0], e.Argv[1:]...)
	// No token or key of this process: the text that is evaluated is not ours.
	cmd.Env = []string{"GOTRACEBACK=none"}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(in), &stdout, &stderr
	cmd.WaitDelay = time.Second
	ownGroup(cmd)
	if err := cmd.Run(); err != nil {
		return response{}, e.explain(ctx, limited, what, err, stderr.String())
	}
	var r response
	if err := json.Unmarshal(stdout.Bytes(), &r); err != nil {
		return r, fmt.Errorf("evaluate %s: unreadable answer: %w", what, err)
	}
	return r.settle()
}

// explain says why a process brought no answer.
func (e Evaluator) explain(ctx, limited context.Context, what string, err error, stderr string) error {
	switch {
	case ctx.Err() != nil:
		return fmt.Errorf("evaluate %s: %w", what, context.Cause(ctx))
	case limited.Err() != nil:
		return Errors{{File: what, Message: fmt.Sprintf(
			"evaluating it took longer than %v; simplify disjunctions, comprehensions and lists that grow", e.time)}}
	case strings.Contains(stderr, "out of memory") || strings.Contains(stderr, "stack overflow") ||
		strings.Contains(stderr, "cannot allocate memory"):
		return Errors{{File: what, Message: fmt.Sprintf(
			"evaluating it took more than %d MB; simplify disjunctions, comprehensions and lists that grow", maxMemory>>20)}}
	default:
		return fmt.Errorf("evaluate %s: %w: %s", what, err, strings.TrimSpace(stderr))
	}
}

// settle turns what is wrong into an error.
func (r response) settle() (response, error) {
	switch {
	case r.Failure != "":
		return r, errors.New(r.Failure)
	default:
		return r, r.Mistakes.orNil()
	}
}

// tail keeps the start of what is written to it: the cause comes first.
type tail struct {
	bytes.Buffer
	max int
}

func (t *tail) Write(p []byte) (int, error) {
	if room := t.max - t.Len(); room > 0 {
		t.Buffer.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

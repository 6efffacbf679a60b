package pipelines

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/bounded"
)

// The limits of an evaluation.
const (
	maxTime   = 5 * time.Second // of a processor: how busy the machine is does not count
	maxMemory = 300 << 20       // bytes, over what the process has when it starts
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

// request is one thing to evaluate; exactly one of the fields is set.
type request struct {
	Time   time.Duration `json:"time,omitempty"` // of a processor, in whole seconds; 0: no limit
	Files  []file        `json:"files,omitempty"`
	Report *against      `json:"report,omitempty"`
	When   *against      `json:"when,omitempty"`
	Quiet  *quieting     `json:"quiet,omitempty"`
}

// against is a JSON value and the CUE text to hold it against.
type against struct {
	Text  string          `json:"text"`
	Value json.RawMessage `json:"value"`
}

// response is what came out.
type response struct {
	Pipeline *Pipeline       `json:"pipeline,omitempty"`
	Missing  *Error          `json:"missing,omitempty"` // a pipeline to build on; Message is its name
	Matches  bool            `json:"matches,omitempty"`
	Quiet    json.RawMessage `json:"quiet,omitempty"`
	Mistakes Errors          `json:"mistakes,omitempty"` // beside Missing: those there are whatever that one says
	Failure  string          `json:"failure,omitempty"`  // any other error
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
	req.Time = cmp.Or(e.time, maxTime)
	in, err := json.Marshal(req)
	if err != nil {
		return response{}, fmt.Errorf("evaluate %s: %w", what, err)
	}
	out, err := e.run(ctx, what, req.Time, in)
	if err != nil {
		return response{}, err
	}
	var r response
	if err := json.Unmarshal(out, &r); err != nil {
		return r, fmt.Errorf("evaluate %s: unreadable answer: %w", what, err)
	}
	return r.settle()
}

// run has a child answer and sees to its limits. Of the machine's time it has far
// more than of a processor's.
func (e Evaluator) run(ctx context.Context, what string, most time.Duration, in []byte) ([]byte, error) {
	limited, cancel := context.WithTimeout(ctx, 12*most)
	defer cancel()
	var stdout bytes.Buffer
	stderr := bounded.Head{Limit: 4 << 10} // the cause comes first
	cmd := exec.CommandContext(limited, e.Argv[0], e.Argv[1:]...)
	// No token or key of this process: the text that is evaluated is not ours.
	cmd.Env = []string{"GOTRACEBACK=none"}
	cmd.Stdin = bytes.NewReader(in)
	cmd.WaitDelay = time.Second
	ownGroup(cmd)
	err := bounded.Run(cmd, &stdout, &stderr)
	const advice = "simplify disjunctions, comprehensions and lists that grow"
	switch {
	case err == nil:
		return stdout.Bytes(), nil
	case ctx.Err() != nil:
		return nil, fmt.Errorf("evaluate %s: %w", what, context.Cause(ctx))
	case limited.Err() != nil, cmd.ProcessState != nil && cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime() >= most:
		return nil, Errors{{File: what, Message: fmt.Sprintf("evaluating it took longer than %v; %s", most, advice)}}
	case died(err, stdout.Len() > 0):
		return nil, Errors{{File: what, Message: fmt.Sprintf("evaluating it took more than %d MB; %s", maxMemory>>20, advice)}}
	default:
		return nil, fmt.Errorf("evaluate %s: %w: %s", what, err, strings.TrimSpace(stderr.String()))
	}
}

// died tells whether Child had begun and then came to an end that it does not
// give itself. That is memory: Go has no one word for being out of it. Where it
// is noticed decides whether the process says so, breaks in the middle of
// collecting garbage, fails to start a thread, or is killed.
func died(err error, begun bool) bool {
	var exit *exec.ExitError
	return begun && errors.As(err, &exit) && exit.ExitCode() != 1
}

// settle turns what is wrong into an error, unless there is more to ask first.
func (r response) settle() (response, error) {
	switch {
	case r.Failure != "":
		return r, errors.New(r.Failure)
	case r.Missing != nil:
		return r, nil
	}
	return r, r.Mistakes.OrNil()
}

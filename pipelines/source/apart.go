package source

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime/debug"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/pipelines"
)

// maxMemory is what a child may use, in bytes, over what it has when it starts.
const maxMemory = 300 << 20

// Child answers one request of an Evaluator, from stdin to stdout, in a process of its own, and gives the exit code. It limits
// memory of the whole process, and reply does the rest.
func Child(stdin io.Reader, stdout io.Writer) int {
	if err := limitMemory(); err != nil {
		fmt.Fprintln(os.Stderr, "limit the memory:", err)
		return 1
	}
	fmt.Fprintln(stdout)                    // says that the limits hold from here on
	debug.SetMemoryLimit(maxMemory * 3 / 4) // collect more often before it gets tight
	debug.SetGCPercent(400)
	debug.SetMaxStack(maxMemory / 4)
	if err := reply(stdin, stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// reply reads a request and writes the answer to it.
func reply(stdin io.Reader, stdout io.Writer) error {
	var req request
	if err := json.NewDecoder(stdin).Decode(&req); err != nil {
		return fmt.Errorf("read the request: %w", err)
	}
	if err := process.LimitTime(req.Time); err != nil {
		return fmt.Errorf("limit the time: %w", err)
	}
	out, err := json.Marshal(answer(req))
	if err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	if len(out) > maxOutput {
		return fmt.Errorf("the resolved pipeline has %d bytes, expected at most %d", len(out), maxOutput)
	}
	if _, err = stdout.Write(out); err != nil {
		return fmt.Errorf("write the answer: %w", err)
	}
	return nil
}

// answer does what a request asks for.
func answer(req request) (r response) {
	// CUE may panic on input that nobody thought of; that is no reason for a
	// person to see a stack trace.
	defer func() {
		if cause := recover(); cause != nil {
			why := pipelines.OneLine(fmt.Sprintf("CUE cannot evaluate this: %v", cause))
			if r = (response{Failure: why}); len(req.Files) > 0 {
				r = response{Mistakes: pipelines.Mistakes{{File: req.Files[0].Name, Message: why}}}
			}
		}
	}()
	var err error
	switch {
	case req.Report != nil:
		err = checkReport(req.Report.Text, req.Report.Value)
	case req.When != nil:
		r.Matches, err = matches(req.When.Text, req.When.Value)
	case req.Plan != nil:
		err = new(checker).hold(req.Policies, req.Plan, &node{place: place{File: req.Plan.Source}})
	case req.Config != nil && len(req.Files) == 0:
		r.Usual, err = usual(*req.Config, req.Packages, req.Known)
	default:
		r.Pipeline, err = evaluate(req)
	}
	if err != nil && !errors.As(err, &r.Mistakes) {
		r.Failure = err.Error()
	}
	r.Mistakes = r.Mistakes.Few()
	return r
}

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

// request is one thing to evaluate: exactly one of Files, Report, When, Plan, and Config.
type request struct {
	Time     time.Duration       `json:"time,omitempty"`     // of a processor, in whole seconds; 0: no limit
	Files    []file              `json:"files,omitempty"`    // what is asked for, then those that it may build on
	Config   *file               `json:"config,omitempty"`   // beside Files, or by itself
	Known    []string            `json:"known,omitempty"`    // the pipelines that Config by itself may name
	Packages []file              `json:"packages,omitempty"` // what Files and Config may import
	Report   *against            `json:"report,omitempty"`
	When     *against            `json:"when,omitempty"`
	Plan     *pipelines.Pipeline `json:"plan,omitempty"`     // that is finished, to be held against Policies
	Policies []file              `json:"policies,omitempty"` // beside Files or Plan
}

// against is a JSON value and the CUE text to hold it against.
type against struct {
	Text  string          `json:"text"`
	Value json.RawMessage `json:"value"`
}

// response is what came out.
type response struct {
	Pipeline *pipelines.Pipeline `json:"pipeline,omitempty"`
	Usual    string              `json:"usual,omitempty"` // the pipeline that Config names
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

// inProcess is held by who evaluates in this process: a context of CUE serves one at a time.
var inProcess sync.Mutex

// do answers a request, here or in a process of its own. Going beyond the limits of that is an error with pipelines.Mistakes.
func (e Evaluator) do(ctx context.Context, what string, req request) (r response, err error) {
	if len(e.Argv) == 0 {
		inProcess.Lock()
		defer inProcess.Unlock()
		return answer(req).orMistakes()
	}
	req.Time = cmp.Or(e.time, maxTime)
	in, err := json.Marshal(req)
	if err != nil {
		return response{}, fmt.Errorf("evaluate %s: %w", what, err)
	}
	limited, cancel := context.WithTimeout(ctx, 12*req.Time)
	defer cancel()
	var stdout bytes.Buffer
	stderr := process.Head{Limit: 4 << 10} // the cause comes first
	cmd := exec.CommandContext(limited, e.Argv[0], e.Argv[1:]...)
	// No token or key of this process: the text that is evaluated is not ours.
	cmd.Env = []string{"GOTRACEBACK=none"}
	cmd.Stdin = bytes.NewReader(in)
	cmd.WaitDelay = time.Second
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // what interrupts this process ends it by the context
	err = process.RunBounded(cmd, &stdout, &stderr)
	beyond := func(limit string) (response, error) {
		with := text.If(len(req.Policies) > 0, " with the policy")
		return response{}, pipelines.Mistakes{{File: what, Message: "evaluating it" + with + " took " + limit + "; simplify disjunctions, comprehensions and lists that grow"}}
	}
	exit, failed := errors.AsType[*exec.ExitError](err)
	switch {
	case err == nil:
	case ctx.Err() != nil:
		return response{}, fmt.Errorf("evaluate %s: %w", what, context.Cause(ctx))
	case limited.Err() != nil, cmd.ProcessState != nil && cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime() >= req.Time:
		return beyond(fmt.Sprintf("longer than %v", req.Time))
	case failed && exit.ExitCode() != 1 && stdout.Len() > 0: // it had begun, and was out of memory, which Go notices in many ways
		return beyond(fmt.Sprintf("more than %d MB", maxMemory>>20))
	default:
		return response{}, fmt.Errorf("evaluate %s: %w: %s", what, err, strings.TrimSpace(stderr.String()))
	}
	if err := json.Unmarshal(stdout.Bytes(), &r); err != nil {
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

package source

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/pipelines"
)

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
			r = response{Failure: fmt.Sprintf("CUE cannot evaluate this: %v", cause)}
			if len(req.Files) > 0 {
				r = response{Mistakes: pipelines.Mistakes{{File: req.Files[0].Name, Message: pipelines.OneLine(r.Failure)}}}
			}
		}
	}()
	var err error
	switch {
	case req.Report != nil:
		err = checkReport(req.Report.Text, req.Report.Value)
	case req.When != nil:
		r.Matches, err = matches(req.When.Text, req.When.Value)
	case req.Config != nil && len(req.Files) == 0:
		r.Usual, err = usual(*req.Config)
	default:
		r.Pipeline, err = evaluate(req.Files, req.Config)
	}
	if err != nil && !errors.As(err, &r.Mistakes) {
		r.Failure = err.Error()
	}
	r.Mistakes = r.Mistakes.Few()
	return r
}

package pipelines

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"time"
)

// Child answers one request of an Evaluator, from stdin to stdout, in a
// process of its own: it limits the memory of the whole process and ends it
// when it takes far too long. The result is the exit code.
func Child(stdin io.Reader, stdout io.Writer) int {
	if err := limitMemory(maxMemory); err != nil {
		fmt.Fprintln(os.Stderr, "limit the memory:", err)
		return 1
	}
	debug.SetMemoryLimit(maxMemory * 3 / 4) // collect more often before it gets tight
	debug.SetGCPercent(400)
	debug.SetMaxStack(maxMemory / 4)
	// The parent ends this process sooner, unless it is gone itself.
	time.AfterFunc(4*maxTime, func() { os.Exit(1) })

	var req request
	// A report or the facts may be larger than a pipeline, but not without end.
	if err := json.NewDecoder(io.LimitReader(stdin, maxOutput)).Decode(&req); err != nil {
		fmt.Fprintln(os.Stderr, "read the request:", err)
		return 1
	}
	out, err := json.Marshal(answer(req))
	if err == nil && len(out) > maxOutput {
		out, err = json.Marshal(response{Failure: fmt.Sprintf("the resolved pipeline has %d bytes, expected at most %d", len(out), maxOutput)})
	}
	if err == nil {
		_, err = stdout.Write(out)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "write the answer:", err)
		return 1
	}
	return 0
}

// answer does what a request asks for.
func answer(req request) response {
	var r response
	var err error
	switch {
	case req.Report != nil:
		err = checkReport(req.Report.Text, req.Report.Value)
	case req.When != nil:
		r.Matches, err = matches(req.When.Text, req.When.Value)
	default:
		r.Pipeline, r.Missing, err = evaluate(req.Files)
	}
	if err != nil && !errors.As(err, &r.Mistakes) {
		r.Failure = err.Error()
	}
	return r
}

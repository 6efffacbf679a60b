package agents

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases/engine"
)

// command is any program. It reads the task as JSON on standard input, or from
// the file that REPRISE_TASK_FILE names; REPRISE_PHASE, REPRISE_STEP,
// REPRISE_ARTIFACT and REPRISE_DIR spare a shell script the JSON. It prints
// nothing, or one JSON object:
//
//	{
//	  "text": "...", "structured": {...}, "session": "...", "limit": "turns",
//	  "usage": {"input_tokens": 1, "output_tokens": 1, "cached_tokens": 0, "cost_usd": 0.01}
//	}
//
// Every field may be missing, none may be added. An exit status other than 0
// says that the program broke down.
type command struct{ cli }

// maxAnswer is how long the answer of a command may be.
const maxAnswer = 1 << 20

// answer is what a command prints.
type answer struct {
	Text       string          `json:"text"`
	Structured json.RawMessage `json:"structured"`
	Session    string          `json:"session"`
	Limit      string          `json:"limit"`
	Usage      struct {
		Input  int64    `json:"input_tokens"`
		Output int64    `json:"output_tokens"`
		Cached int64    `json:"cached_tokens"`
		USD    *float64 `json:"cost_usd"`
	} `json:"usage"`
}

// Run carries out one task with the program.
func (a command) Run(ctx context.Context, t engine.Task) (engine.Result, error) {
	s := &said{result: engine.Result{ToolCalls: -1, Usage: a.untold()}}
	var printed bytes.Buffer
	s.over = func(code int) {
		if code != 0 || s.failed != nil {
			return
		}
		if wrong := a.read(printed.Bytes(), &s.result); wrong != nil {
			s.failed = a.fail(metadata.Refused, wrong) // the next call would print the same
		}
		s.done = true
	}
	return a.run(ctx, t, s, a.prepare, func(line []byte) process.Reaction {
		if printed.Len()+len(line) > maxAnswer {
			s.failed = a.fail(metadata.Refused, fmt.Errorf("it printed more than %d bytes; it is to print one JSON object", maxAnswer))
			return process.GiveUp
		}
		printed.Write(line)
		printed.WriteByte('\n')
		return process.GoOn
	})
}

func (a command) prepare(c *Call) (string, error) {
	task, err := json.MarshalIndent(c.Task, "", "  ")
	if err != nil {
		return "", fmt.Errorf("writing the task: %w", err)
	}
	file := filepath.Join(c.Temp, "task.json")
	if err := os.WriteFile(file, task, 0o600); err != nil {
		return "", err
	}
	for name, value := range map[string]string{
		"REPRISE_TASK_FILE": file, "REPRISE_PHASE": c.Task.Phase, "REPRISE_STEP": string(c.Task.Step),
		"REPRISE_ARTIFACT": c.Task.Artifact, "REPRISE_DIR": c.Task.Dir,
	} {
		c.Env = process.SetVar(c.Env, name, value)
	}
	return string(task) + "\n", nil
}

// untold is what a call counts of which the program says nothing, such as one that broke off.
func (a command) untold() metadata.Usage {
	if a.agent.CallUSD == nil {
		return metadata.Usage{Unknown: true}
	}
	return metadata.Usage{USD: *a.agent.CallUSD, Estimated: *a.agent.CallUSD > 0}
}

// read fills the result with what the program printed.
func (a command) read(printed []byte, r *engine.Result) error {
	if printed = bytes.TrimPrefix(printed, []byte("\ufeff")); len(bytes.TrimSpace(printed)) == 0 {
		printed = []byte("{}")
	}
	var said answer
	if err := metadata.ParseAnswer(printed, &said); err != nil {
		return fmt.Errorf("what it printed is no result (%w); it is to print nothing or one JSON object, and what is for people on standard error", err)
	}
	if said.Limit != "" && said.Limit != "turns" && said.Limit != "budget" {
		return fmt.Errorf(`limit is %q; it may be "turns" or "budget"`, said.Limit)
	}
	if said.Session != wordFrom(said.Session) {
		return fmt.Errorf("session is %.100q; an id is one line of at most %d characters", said.Session, maxWord)
	}
	u := metadata.Usage{InputTokens: said.Usage.Input, OutputTokens: said.Usage.Output, CachedTokens: said.Usage.Cached}
	if min(u.InputTokens, u.OutputTokens, u.CachedTokens) < 0 || said.Usage.USD != nil && *said.Usage.USD < 0 {
		return errors.New("usage may not be negative")
	}
	switch {
	case said.Usage.USD != nil:
		u.USD = *said.Usage.USD
		u = sane(u)
	case u == (metadata.Usage{}):
		u = a.untold()
	default:
		u, _ = a.priced("", u)
	}
	r.Text, r.Structured, r.Session, r.Limit, r.Usage = said.Text, said.Structured, said.Session, said.Limit, u
	return nil
}

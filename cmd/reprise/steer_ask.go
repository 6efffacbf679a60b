package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/terminal"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// dialogue is with the person at the terminal, about a run that waits.
type dialogue struct {
	env   environ.Env
	typed *bufio.Reader
}

// newDialogue begins one, or gives nil where nobody can be asked: where standard input
// or standard error is no terminal, and in CI.
func newDialogue(env environ.Env) *dialogue {
	if env.Getenv("CI") != "" || !environ.IsTerminal(env.Stdin) || !environ.IsTerminal(env.Stderr) {
		return nil
	}
	return &dialogue{env, bufio.NewReader(env.Stdin)}
}

// ask asks what the run waits for, one thing after the other, and commits each answer as the command that it stands
// for. It reports whether the run can go on now; if not, the person has left something open.
func (d *dialogue) ask(ctx context.Context, w *workspace.Workspace, o workspace.Options) (bool, error) {
	left := map[string]bool{} // questions that stay open
	for w.Run.Status == metadata.Waiting && w.Run.Stop.Code == metadata.AwaitingPerson {
		order, id, err := d.next(ctx, w, left)
		if err != nil || ctx.Err() != nil || order.Name == "" && id == "" {
			return false, err
		}
		if left[id] = order.Name == ""; left[id] {
			continue
		}
		order.Options = o
		order.Id = w.Issue.ID
		err = order.Check()
		if err == nil {
			err = order.carry(ctx, w)
		}
		if err != nil && ctx.Err() != nil {
			return false, err
		}
		if err != nil { // it cannot be done like that: the person can say it in another way
			_, _ = fmt.Fprintln(d.env.Stderr, "reprise: "+text.JoinLines(err.Error()))
		} else if order.Name == "approve" { // each person counts once: if it waits on, it is for somebody else
			left[id] = true
		}
	}
	return w.Run.Status == metadata.Running, nil
}

// next asks for the first thing that is open, and gives the command that the answer
// stands for; none if the person leaves it open. The id is that of the question.
func (d *dialogue) next(ctx context.Context, w *workspace.Workspace, left map[string]bool) (o steerRequest, id string, err error) {
	for _, q := range phases.Questions(w.Run) {
		if left[q.ID] {
			continue
		}
		o.Command = command.Command{Name: "answer", Question: q.ID}
		if o.Text, err = d.answer(ctx, w, q); err != nil || o.Text == "" {
			return steerRequest{}, q.ID, err
		}
		return o, q.ID, nil
	}
	phase, _, why, waits := phases.Approval(phases.On(w.Plan, w.Run), "")
	if len(phases.Questions(w.Run)) > 0 || !waits || left[phase] {
		return steerRequest{}, "", nil
	}
	o.Command, err = d.judge(ctx, w, phase, why)
	return o, phase, err
}

// answer asks a question, and gives the answer; "" if there is none.
func (d *dialogue) answer(ctx context.Context, w *workspace.Workspace, q metadata.Question) (string, error) {
	r := terminal.NewReport(d.env.Stderr, terminal.AskOptions(d.env)).In(w.Run.Language)
	r.Line("")
	first, rest, _ := strings.Cut(strings.TrimSpace(q.Text), "\n")
	r.Text(text.Join(" ", text.Flat(q.ID), text.Flat(q.Phase)+":", first), "")
	if rest != "" {
		r.Text(rest, "  ") // or a line of it could pass for one of ours
	}
	for i, option := range q.Options {
		r.Text(fmt.Sprintf("%d  %s", i+1, text.JoinLines(option)), "  ") // or one could pass for two
	}
	how := w.Shown("ask answer")
	if len(q.Options) > 0 {
		how = w.Shown("ask option")
	}
	said, err := d.line(ctx, how)
	if err != nil {
		return "", err
	}
	if n, err := strconv.Atoi(said); err == nil && n >= 1 && n <= len(q.Options) {
		return q.Options[n-1], nil
	}
	return said, nil
}

// judge asks whether a phase may stand as it is, and gives the command for that.
func (d *dialogue) judge(ctx context.Context, w *workspace.Workspace, phase string, why metadata.Reason) (command.Command, error) {
	r := terminal.NewReport(d.env.Stderr, terminal.AskOptions(d.env)).In(w.Run.Language)
	r.Line("")
	r.Text(w.Shown("ask approval", "phase", text.Flat(phase), "why", text.JoinLines(why.In(r.Catalogue)), "command", "reprise diff --issue "+w.Issue.ID+" --phase "+text.Flat(phase)), "")
	for {
		said, err := d.line(ctx, w.Shown("ask approve"))
		switch strings.ToLower(said) {
		case "y", "yes":
			return command.Command{Name: "approve", Phase: phase}, err
		case "n", "no":
			reason, err := d.line(ctx, w.Shown("ask reason"))
			if reason == "" {
				return command.Command{}, err
			}
			return command.Command{Name: "rollback", Phase: phase, Text: reason}, err
		case "":
			return command.Command{}, err
		}
		if err != nil {
			return command.Command{}, err
		}
	}
}

// line asks for a line, and gives it without spaces around it; "" at the end of input.
func (d *dialogue) line(ctx context.Context, prompt string) (string, error) {
	terminal.Ask(d.env.Stderr, prompt)
	said, err := d.typed.ReadString('\n')
	switch {
	case ctx.Err() != nil:
		_, _ = fmt.Fprintln(d.env.Stderr)
		return "", nil // it stays open, and the process ends
	case errors.Is(err, io.EOF):
		_, _ = fmt.Fprintln(d.env.Stderr)
		err = nil
	}
	return strings.TrimSpace(said), err
}

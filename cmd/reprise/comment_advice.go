package main

import (
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// The alerts of GitHub that are used: what a person is asked, what went wrong,
// and what is good to know. Other forges show them as quotes.
const (
	alertImportant = "IMPORTANT"
	alertWarning   = "WARNING"
	alertNote      = "NOTE"
)

// alert is Markdown in a box of a kind; nothing without a body.
func alert(kind, body string) string {
	if body == "" {
		return ""
	}
	return "> [!" + kind + "]\n" + indented(body, "> ")
}

// advice says why the run does not go on, and what a person can do now: the one
// thing that is asked, where something is.
func (c commenter) advice() string {
	reason := metadata.Done
	if stop := c.run.Stop; stop != nil {
		reason = stop.Code
	} else if c.run.Status != metadata.Completed {
		return ""
	}
	if reason == metadata.AwaitingPerson {
		return c.asks()
	}
	a := c.Codes[string(reason)]
	if a.Meaning == "" {
		a = c.Explain(inline(string(reason), 60))
	}
	kind := alertWarning
	switch {
	case reason == metadata.Done:
		kind = alertNote
		if c.pullRequest() == "" {
			a.Do = "" // it is about the pull request
		}
	case c.run.Status == metadata.Interrupted:
		kind, a.Meaning = alertNote, c.more.Interrupted
	case reason == metadata.RunCancelled:
		kind = alertNote
	case reason == metadata.BudgetExceeded:
		a.Do = c.Tell.AllowMore("/resume " + phases.LimitOf(c.run).Flag())
	}
	words := ""
	if verbatim(reason) && c.run.Stop.Why != "" {
		words = code(brief(c.run.Stop.Why.In(c.Catalogue), 300))
	}
	return alert(kind, joined("\n\n", a.Meaning, words, named(c.WhatNow, a.Do)))
}

// lastWords is what the program of the agent wrote to standard error that
// could not do what the run stopped at.
func (c commenter) lastWords() string {
	lines := lastLines(stderrOf(c.run), mostTelling)
	if len(lines) == 0 {
		return ""
	}
	return details(c.more.Stderr, fenced(strings.Join(lines, "\n")), true)
}

// stderrOf gives what the newest agent's program wrote to standard error before
// the run stopped for that; "" if it stopped for something else.
func stderrOf(run metadata.Run) string {
	if run.Stop == nil || run.Stop.Code == metadata.AwaitingPerson || len(run.Attempts) == 0 {
		return ""
	}
	last := run.Attempts[len(run.Attempts)-1]
	if last.Phase != run.Stop.Phase {
		return ""
	}
	return last.Stderr
}

// asks says what the run waits to be told: answers, an approval, or only that
// it goes on.
func (c commenter) asks() string {
	phase, role, _, ok := phases.Approval(c.plan, c.run)
	switch open := phases.Questions(c.run); {
	case len(open) > 0:
		return alert(alertImportant, c.questions(open))
	case ok:
		return alert(alertImportant, c.approval(phase, role))
	}
	return alert(alertNote, joined("\n\n", inline(capital(c.run.Stop.Why.In(c.Catalogue)), 600), named(c.WhatNow, c.more.Resume)))
}

// approval says what has to be approved, by whom, and with which commands.
func (c commenter) approval(phase, role string) string {
	ways := []string{
		"- " + code("/approve "+phase) + ": " + c.more.Approves,
		"- " + code("/reject "+phase+" REASON") + ": " + c.more.Rejects,
	}
	if back, ok := phases.Proposed(c.plan, c.run); ok {
		command := slashCommand{Name: "rollback", Phase: back.To, Step: back.Step, Text: back.Reason}
		ways = append(ways, "- "+code(brief(command.line(), 300))+": "+c.more.Proposed)
	}
	why := ""
	if rec := c.run.Phase(phase); rec.Ask != "" { // else the pipeline asks for it, which is no news
		why = inline(rec.Ask.In(c.Catalogue), 600)
	}
	return joined("\n\n", bold(c.WaitingFor(inline(role, 40), inline(phase, 60))), why, named(c.WhatNow, c.more.Choose), strings.Join(ways, "\n"))
}

// verbatim reports whether the words of a program say more than the meaning
// of the code does.
func verbatim(code metadata.Code) bool {
	return slices.Contains([]metadata.Code{
		metadata.BudgetExceeded, metadata.AgentFailed, metadata.DiskFailed, metadata.CredentialsMissing, metadata.APIError, metadata.ConfigInvalid, metadata.TimedOut,
		metadata.OutputInvalid, metadata.NoProgress, metadata.PushFailed, metadata.RefChanged, metadata.StateCorrupt, metadata.SecretFound,
	}, code)
}

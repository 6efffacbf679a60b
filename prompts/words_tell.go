package prompts

import (
	"strconv"
	"strings"
)

// Telling is what reprise says in summaries, pull requests, issues and
// replies.
type Telling struct {
	Holding                                                                         Holding // of the sandbox
	Sandbox, Versions, Timeline, Flow, Took, Verdict, Decision, Refused, NotStarted string

	HandedOn   string // heading: another job does what was asked for
	HandedTo   string // which one
	Answered   string // heading: an answer was all
	NoChecks   string // why GitHub started no workflow for a push
	SummaryCut string // at the end of a summary that is too long
	BodyCut    string // at the end of a pull request or issue that is too long
	ReplyCut   string // at the end of a reply that is too long
	Draft      string // what a draft pull request is
	NoReport   string // in place of a report that is empty
	Settings   string // heading of the answer about settings
	Preview    string // heading of a rollback that is only shown
	Unchanged  string // that it is only shown
	AnswerWith string // how to answer a question
	Tasks      string // heading of the tasks that a phase has found
	Children   string // heading of the issues that phases ask for
	ChildWaits string // that one is not open yet, as its phase does not stand
	ChildNext  string // that one is not open yet, and nothing is in its way
	CarryOut   string // how to carry it out
	RefusedDo  string // what to do about a command that the run does not allow
	Colon      string // before what explains a sentence
	Halted     string // what the draft pull request of a run that has stopped is

	Chosen, ReadFrom, Budget, Words, Version, Role, Command, Bots, Protected  string
	Before, After, NextAgent, Trigger, Comment, SetAside, Restored, Triggered string
	Time, Revises, Review, From, To, Tests, Nobody, Unlimited, Code, Meaning  string
	Triggers                                                                  map[string]string // manual, automatic

	dispatched, entry, writes, followUp, followUpBody, childBody, childLeft, leftOut, onlyLast, attemptLimit, tokenLimit, edited, allowMore string
}

// AllowMore says by which command a run goes on whose budget is used up.
func (t Telling) AllowMore(command string) string { return fill(t.allowMore, "command", command) }

// Edited says that somebody has changed an artifact by hand, and what follows.
func (t Telling) Edited(file string) string { return fill(t.edited, "file", file) }

// Dispatched says which workflows were started by hand.
func (t Telling) Dispatched(workflows []string) string {
	return fill(t.dispatched, "workflows", strings.Join(workflows, ", "))
}

// Entry heads entry n of the history of rollbacks, counted from 1.
func (t Telling) Entry(n int) string { return fill(t.entry, "n", strconv.Itoa(n)) }

// Writes heads the text of a file that will be written.
func (t Telling) Writes(file string) string { return fill(t.writes, "file", file) }

// FollowUp is the title of an issue for what is left of another one.
func (t Telling) FollowUp(title string) string { return fill(t.followUp, "title", title) }

// FollowUpBody begins the text of such an issue.
func (t Telling) FollowUpBody(issue, phase string) string {
	return fill(t.followUpBody, "issue", issue, "phase", phase)
}

// ChildBody begins the text of an issue that a phase asks for.
func (t Telling) ChildBody(issue, phase string) string {
	return fill(t.childBody, "issue", issue, "phase", phase)
}

// ChildLeft says that an issue is not opened, as there are n already.
func (t Telling) ChildLeft(n int) string { return fill(t.childLeft, "n", strconv.Itoa(n)) }

// LeftOut says that n more tasks are in the report.
func (t Telling) LeftOut(n int) string { return fill(t.leftOut, "n", strconv.Itoa(n)) }

// OnlyLast says that of all attempts only the last n are shown.
func (t Telling) OnlyLast(n int) string { return fill(t.onlyLast, "n", strconv.Itoa(n)) }

// AttemptLimit says how many calls of agents a run may make.
func (t Telling) AttemptLimit(n int) string { return fill(t.attemptLimit, "n", strconv.Itoa(n)) }

// TokenLimit says how many tokens a run may use.
func (t Telling) TokenLimit(n string) string { return fill(t.tokenLimit, "n", n) }

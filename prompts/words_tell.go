package prompts

import (
	"strconv"
	"strings"
)

// SummaryWords are what reprise says in summaries, pull requests, issues and
// replies.
type SummaryWords struct {
	Sandbox, Versions, Timeline, Flow, Bars, Decision, Refused, NotStarted string

	HandedOn    string // heading: another job does what was asked for
	HandedTo    string // which one
	Opened      string // heading: what a person is asked about at protected paths
	OpenedCut   string // it has no room here
	OpenedForge string // what follows where it is a file of the forge's settings, for reviews
	Answered    string // heading: an answer was all
	NoChecks    string // why GitHub started no workflow for a push
	SummaryCut  string // at the end of a summary that is too long
	BodyCut     string // at the end of a pull request or issue that is too long
	ReplyCut    string // at the end of a reply that is too long
	Draft       string // what a draft pull request is
	NoReport    string // in place of a report that is empty
	RanNothing  string // that no check was run
	Settings    string // heading of the answer about settings
	Preview     string // heading of a rollback that is only shown
	Unchanged   string // that it is only shown
	AnswerWith  string // how to answer a question
	Tasks       string // heading of the tasks that a phase has found
	Children    string // heading of the issues that phases ask for
	ChildWaits  string // that one is not open yet, as its phase does not stand
	ChildNext   string // that one is not open yet, and nothing is in its way
	SeenDo      string // what to do where no agent is asked
	NameDo      string // what to do where an agent gave no diagnosis
	CarryOut    string // how to carry it out
	RefusedDo   string // what to do about a command that the run does not allow
	Colon       string // before what explains a sentence
	Halted      string // what the draft pull request of a run that has stopped is

	Chosen, OtherPipeline, ReadFrom, SetBy, SetByNone, SetForRun, Budget, Given, Words, Version, Role, Command, Bots, Protected, OpenPaths, Network, Servers, Models, RefusedHosts, Held string
	Before, After, NextAgent, Trigger, Comment, SetAside, Restored, Triggered                                                                                                            string
	Time, Revises, Review, From, To, Tests, Nobody, Unlimited, Code, Meaning                                                                                                             string
	Triggers                                                                                                                                                                             map[string]string // manual, automatic, asked

	Forms struct {
		Dispatched, Entry, Writes, FollowUp, FollowUpBody, ChildBody, ChildLeft                string
		LeftOut, AttemptLimit, TokenLimit, Edited, AllowMore                                   string
		DayLimit, RepoDayLimit                                                                 string
		FixedIn, NotChanged, RevisedIn, ReviewCut, FailedBefore, OfOneMind, Flaky, TurnsUsedUp string
	}
}

// FixedIn says that what somebody said about a line is done in a commit, and
// RevisedIn that the work was revised for it, which no review has looked at.
func (t SummaryWords) FixedIn(commit string) string { return fill(t.Forms.FixedIn, "commit", commit) }

func (t SummaryWords) RevisedIn(commit string) string {
	return fill(t.Forms.RevisedIn, "commit", commit)
}

// ReviewCut says that of what a review says about lines so many were taken, and so many not.
func (t SummaryWords) ReviewCut(taken, left int) string {
	return fill(t.Forms.ReviewCut, "taken", strconv.Itoa(taken), "left", strconv.Itoa(left))
}

// NotChanged says why what somebody said about a line is not done.
func (t SummaryWords) NotChanged(why string) string { return fill(t.Forms.NotChanged, "why", why) }

// FailedBefore names checks that failed before anything was changed, and still do.
func (t SummaryWords) FailedBefore(checks string) string {
	return fill(t.Forms.FailedBefore, "checks", checks)
}

// Flaky names checks that failed and, run once more on the same work, passed.
func (t SummaryWords) Flaky(checks string) string { return fill(t.Forms.Flaky, "checks", checks) }

// TurnsUsedUp names phases in which the call that wrote the newest work was cut off.
func (t SummaryWords) TurnsUsedUp(phases string) string {
	return fill(t.Forms.TurnsUsedUp, "phases", phases)
}

// OfOneMind names phases in which a model reviews what the same one has written.
func (t SummaryWords) OfOneMind(phases string) string {
	return fill(t.Forms.OfOneMind, "phases", phases)
}

// AllowMore says by which command a run goes on whose budget is used up.
func (t SummaryWords) AllowMore(command string) string {
	return fill(t.Forms.AllowMore, "command", command)
}

// Edited says that somebody has changed an artifact by hand, and what follows.
func (t SummaryWords) Edited(file string) string { return fill(t.Forms.Edited, "file", file) }

// Dispatched says which workflows were started by hand.
func (t SummaryWords) Dispatched(workflows []string) string {
	return fill(t.Forms.Dispatched, "workflows", strings.Join(workflows, ", "))
}

// Entry heads entry n of the history of rollbacks, counted from 1.
func (t SummaryWords) Entry(n int) string { return fill(t.Forms.Entry, "n", strconv.Itoa(n)) }

// Writes heads the text of a file that will be written.
func (t SummaryWords) Writes(file string) string { return fill(t.Forms.Writes, "file", file) }

// FollowUp is the title of an issue for what is left of another one.
func (t SummaryWords) FollowUp(title string) string { return fill(t.Forms.FollowUp, "title", title) }

// FollowUpBody begins the text of such an issue.
func (t SummaryWords) FollowUpBody(issue, phase string) string {
	return fill(t.Forms.FollowUpBody, "issue", issue, "phase", phase)
}

// ChildBody begins the text of an issue that a phase asks for.
func (t SummaryWords) ChildBody(issue, phase string) string {
	return fill(t.Forms.ChildBody, "issue", issue, "phase", phase)
}

// ChildLeft says that an issue is not opened, as there are n already.
func (t SummaryWords) ChildLeft(n int) string { return fill(t.Forms.ChildLeft, "n", strconv.Itoa(n)) }

// LeftOut says that n more tasks are in the report.
func (t SummaryWords) LeftOut(n int) string { return fill(t.Forms.LeftOut, "n", strconv.Itoa(n)) }

// AttemptLimit says how many calls of agents a run may make.
func (t SummaryWords) AttemptLimit(n int) string {
	return fill(t.Forms.AttemptLimit, "n", strconv.Itoa(n))
}

// DayLimit says how much a run may spend in one day, and RepoDayLimit how much all runs of
// the repository may.
func (t SummaryWords) DayLimit(usd string) string { return fill(t.Forms.DayLimit, "usd", usd) }

func (t SummaryWords) RepoDayLimit(usd string) string { return fill(t.Forms.RepoDayLimit, "usd", usd) }

// TokenLimit says how many tokens a run may use.
func (t SummaryWords) TokenLimit(n string) string { return fill(t.Forms.TokenLimit, "n", n) }

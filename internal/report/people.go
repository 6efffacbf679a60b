package report

import (
	"slices"
	"time"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// rollback is one way back that a run was taken.
type rollback struct {
	at             time.Time
	When, Way, Why string
	Link           string // to the comment that asked for it
}

func rollbacksOf(w words, run metadata.Run) []rollback {
	var all []rollback
	for _, b := range run.RollbackHistory {
		all = append(all, rollback{b.Timestamp, text.Clock(b.Timestamp), line(wayBackOf(w, b), 300), paragraph(b.Reason), link(b.CommentURL)})
	}
	return all
}

func wayBackOf(w words, b metadata.Rollback) string {
	return w.RolledBack(w.phase(b.FromPhase), w.phase(b.ToPhase), string(b.ToStep), text.Flat(b.By), b.TriggeredBy == metadata.Automatic)
}

// said is a decision of a person.
type said struct {
	at                     time.Time
	When, Who, Phase, What string
	Why                    string
}

// byPeople are the steps of decisions that people take.
var byPeople = []string{"approve", "skip", "pause", "cancel", "retry", "refresh", phases.IssueTaken}

func peopleOf(w words, run metadata.Run) []said {
	var all []said
	for _, d := range run.Decisions {
		if d.By != "" || slices.Contains(byPeople, d.Step) {
			all = append(all, said{
				d.At, text.Clock(d.At), line(d.By, 60), w.phase(d.Phase), text.Join(" ", w.word("events", d.Step), line(d.Command, 200)), paragraph(d.Why.In(w.Catalogue)),
			})
		}
	}
	slices.SortStableFunc(all, func(a, b said) int { return a.at.Compare(b.at) })
	return all
}

// question is what an agent has asked people.
type question struct {
	ID, Phase, Text, Answer, By, When string
	Options                           []string
}

func questionsOf(w words, run metadata.Run) []question {
	var all []question
	for _, q := range run.Questions {
		one := question{line(q.ID, 60), w.phase(q.Phase), paragraph(q.Text), paragraph(q.Answer), line(q.By, 60), text.Clock(q.AskedAt), nil}
		for _, o := range q.Options {
			one.Options = append(one.Options, line(o, 300))
		}
		all = append(all, one)
	}
	return all
}

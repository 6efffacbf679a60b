package phases

import (
	"math"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

// Midnight in UTC parts the days, wherever the clocks of the machines stand.
func TestDayInUTC(t *testing.T) {
	tokyo := time.FixedZone("", 9*3600)
	at := func(day, hour, minute int) *time.Time {
		t := time.Date(2026, 3, day, hour, minute, 0, 0, time.UTC).In(tokyo)
		return &t
	}
	call := func(began, ended *time.Time, usd float64) metadata.Attempt {
		return metadata.Attempt{StartedAt: *began, EndedAt: ended, Usage: metadata.Usage{USD: usd}}
	}
	run := metadata.Run{IssueNumber: "7", Attempts: []metadata.Attempt{
		call(at(1, 23, 0), at(1, 23, 59), 1), // the day before
		call(at(1, 23, 58), at(2, 0, 1), 2),
		call(at(2, 5, 0), nil, 3), // it has not ended
	}, Decisions: []metadata.Decision{
		{At: *at(1, 23, 59), Why: metadata.Because("diagnosed", "cost", "$0.5000")},
		{At: *at(2, 0, 0), Why: metadata.Because("chosen", "cost", "$1.0000")},
		{At: *at(2, 0, 0), Why: metadata.Said("$9 is too much")},
	}}
	now := time.Date(2026, 3, 2, 23, 30, 0, 0, time.UTC)
	if got := SpentOnDay(run, now); got != 6 {
		t.Errorf("got $%v, want $6", got)
	}
	for _, one := range []struct {
		day, repo float64
		others    []DaySpent
		left      float64
		why       string
	}{
		{left: 0},
		{day: 10, left: 4},
		{day: 6, why: "this run has spent $6.00 of the $6.00 that it may spend in one day; it can go on from 2026-03-03 00:00 UTC"},
		{repo: 20, others: []DaySpent{{"8", 4}}, left: 10},
		{day: 10, repo: 11, others: []DaySpent{{"8", 4}}, left: 1},
		{repo: 7, others: []DaySpent{{"9", 0}, {"8", 8}, {"10", math.MaxFloat64}}, why: "the runs of this repository have spent $"},
		{repo: 14, others: []DaySpent{{"9", 0}, {"8", 8}}, why: "the runs of this repository have spent $14.00 of the $14.00 that they may spend in one day (issue 8: $8.00, issue 7: $6.00); it can go on from 2026-03-03 00:00 UTC"},
	} {
		left, why := RemainingToday(pipelines.Budget{DayUSD: one.day, RepoDayUSD: one.repo}, run, one.others, now)
		said := why.In(prompts.Words("en"))
		if left != one.left || len(said) < len(one.why) || said[:len(one.why)] != one.why || (one.why == "") != (said == "") {
			t.Errorf("%+v: left %v, %s", one, left, said)
		}
	}
}

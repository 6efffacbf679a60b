package phases

import (
	"cmp"
	"slices"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// DaySpent is what a run has spent on the day at hand.
type DaySpent struct {
	Issue string
	USD   float64
}

// Of gives what a run has spent, in US dollars, on the day of a time. A call counts on the
// day on which it ended; one that has not ended counts, as far as it is known, on the day
// on which it began.
func SpentOnDay(run metadata.Run, at time.Time) (usd float64) {
	for _, a := range run.Attempts {
		when := a.StartedAt
		if a.EndedAt != nil {
			when = *a.EndedAt
		}
		if day(when).Equal(day(at)) {
			usd += a.Usage.USD
		}
	}
	return usd
}

func day(t time.Time) time.Time { return t.UTC().Truncate(24 * time.Hour) }

// RemainingToday gives what a run may still spend on the day of a time, or says which limit is
// reached, by whom, and when the run can go on. Others are the other runs of the
// repository. 0 without a reason means that there is no limit.
func RemainingToday(b pipelines.Budget, run metadata.Run, others []DaySpent, at time.Time) (usd float64, why metadata.Reason) {
	own := SpentOnDay(run, at)
	all := own
	for _, o := range others {
		all += o.USD
	}
	next := day(at).Add(24 * time.Hour).Format("2006-01-02 15:04")
	switch {
	case b.DayUSD > 0 && own >= b.DayUSD:
		return 0, metadata.Because("day_usd_spent", "spent", dollars(own), "budget", dollars(b.DayUSD), "at", next)
	case b.RepoDayUSD > 0 && all >= b.RepoDayUSD:
		return 0, metadata.Because("repo_day_usd_spent", "spent", dollars(all), "budget", dollars(b.RepoDayUSD), "at", next,
			"runs", by(append([]DaySpent{{run.IssueNumber, own}}, others...)))
	}
	if b.DayUSD > 0 {
		usd = b.DayUSD - own
	}
	if left := b.RepoDayUSD - all; b.RepoDayUSD > 0 && (usd == 0 || left < usd) {
		usd = left
	}
	return usd, ""
}

// mostNamed is how many runs are named that have spent something.
const mostNamed = 5

// by names those that have spent the most.
func by(all []DaySpent) (named []metadata.Reason) {
	all = slices.DeleteFunc(all, func(s DaySpent) bool { return s.USD <= 0 })
	slices.SortStableFunc(all, func(a, b DaySpent) int { return cmp.Compare(b.USD, a.USD) })
	for _, s := range all[:min(len(all), mostNamed)] {
		named = append(named, metadata.Because("spent_by", "issue", s.Issue, "spent", dollars(s.USD)))
	}
	if more := len(all) - mostNamed; more > 0 {
		named = append(named, metadata.Because("spent_by_more", "n", more))
	}
	return named
}

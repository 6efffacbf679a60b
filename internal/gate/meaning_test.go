package gate

import (
	"testing"
	"time"

	"github.com/reprise-ci/reprise/metadata"
)

// Each line of the files in says reads its own example, and nothing before it does.
func TestSayings(t *testing.T) {
	now := time.Date(2026, 11, 28, 19, 1, 0, 0, time.UTC)
	for name, file := range says() {
		for _, a := range file.Answers {
			if got := answerTo(name, a.Example); got != a {
				t.Errorf("%s: %q is read as %+v, want %+v", name, a.Example, got, a)
			}
			if class, _, hint := MeaningOf(name, a.Example, now); class != a.Means || (hint == "") != (a.Hint == "") {
				t.Errorf("%s: %q means %s, %q", name, a.Example, class, hint)
			}
		}
		for _, r := range file.Resets {
			if got := waitIn(r.Example, now); got != r.Is {
				t.Errorf("%q is in %v, want %v", r.Example, got, r.Is)
			}
		}
	}
	for said, want := range map[string]time.Duration{
		"HTTP 429, rate_limit: slow down":                     0,
		"try again at 7:00 PM":                                0, // a minute ago: now
		"try again at 6:00 PM":                                23*time.Hour - time.Minute,
		"resets 3pm (Nowhere/Atlantis)":                       0,
		"resets Sep 15 at 7pm":                                0, // this year's
		"wait for limits to reset (every 5h and every week.)": 0,
		"try again in an hour":                                time.Hour,
		"try again after 2026-12-01":                          52*time.Hour + 59*time.Minute,
		"resets Sat, 6:00 PM":                                 7*24*time.Hour - 61*time.Minute,
		"resets today at 8pm":                                 59 * time.Minute,
		"resets 5pm PST":                                      6*time.Hour - time.Minute,
		"resets at 10pm IST":                                  21*time.Hour + 29*time.Minute,
		"resets at 2026-11-28 22:00:00 PST":                   10*time.Hour + 59*time.Minute,
		`"resets_at": "2026-11-29T08:00:00+09:00"`:            3*time.Hour + 59*time.Minute,
		"reset: 2026/11/30 10:00, for 3 tries":                38*time.Hour + 59*time.Minute,
		"RateLimit-Reset: 90\nDate: Sat":                      90 * time.Second,
		"Please retry after 86400 seconds.":                   24 * time.Hour,
		"quota is refreshed in 3 hours":                       3 * time.Hour,
		"limit resets on the 1st of December":                 0, // and not in a second
		"limit of 30000 tokens in 1 minute. Try again in 20s": 20 * time.Second,
	} {
		if got := waitIn(said, now); got != want {
			t.Errorf("%q is in %v, want %v", said, got, want)
		}
	}
	if got := waitIn("reset at 2026-11-28T20:01:00Z", now.In(time.FixedZone("", 9*3600))); got != time.Hour {
		t.Errorf("a time of UTC is in %v elsewhere, want an hour", got)
	}
	if class, _, hint := MeaningOf("gemini", `[API Error: {"error":{"code":404,"message":"models/gemini-9 is not found for API version v1beta"}}]`, now); class != metadata.Refused || hint == "" {
		t.Errorf("a model that is not found means %s, with the hint %q", class, hint)
	}
	if class, _, _ := MeaningOf("claude", "HTTP 0, unknown: API Error: Too many tokens, please wait before trying again. Usage limit reached", now); class != metadata.RateLimited {
		t.Errorf("what a program has no word for means %s, whatever it says", class)
	}
	if class, wait, _ := MeaningOf("codex", "You've hit your usage limit. Upgrade to Plus to continue using Codex, or try again in 4 days 3 hours.", now); class != metadata.RateLimited || wait != 99*time.Hour {
		t.Errorf("the limit of a free plan means %s in %v", class, wait)
	}
	if class, wait, _ := MeaningOf("codex", "The service rests. Please retry in 20s.", now); class != metadata.RateLimited || wait != 20*time.Second {
		t.Errorf("words that nobody knows, with a time, mean %s in %v", class, wait)
	}
}

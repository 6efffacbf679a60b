package gate

import (
	"testing"
	"time"
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
		"limit of 30000 tokens in 1 minute. Try again in 20s": 20 * time.Second,
	} {
		if got := waitIn(said, now); got != want {
			t.Errorf("%q is in %v, want %v", said, got, want)
		}
	}
}

package bot_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/bot"
	"github.com/reprise-ci/reprise/internal/github"
	githubtest "github.com/reprise-ci/reprise/internal/test/github"
	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// Behind a thousand and more reviews, the newest is read with what it says of lines.
// Reading them takes a bounded number of requests, and again none that count.
func TestFloodOfReviews(t *testing.T) {
	s := githubtest.New(t)
	s.AddToken("hush", "ada")
	s.Permit("acme/widget", "ada", "write")
	s.AddPull("acme/widget", githubtest.Pull{Number: 8, Head: "topic"})
	reviews := githubtest.NewReviews(s, "acme/widget")
	line := []githubtest.LineComment{{Path: "a.go", Line: 1, Side: "RIGHT", Hunk: "@@ -0,0 +1 @@\n+a", Body: "No."}}
	for i := range 1_150 {
		reviews.Submit(8, githubtest.Review{Author: fmt.Sprintf("stranger%d", i), State: "COMMENTED", Comments: line})
	}
	last := reviews.Submit(8, githubtest.Review{Author: "ada", State: "CHANGES_REQUESTED", Comments: line})
	gh, err := github.New(github.Options{APIURL: s.URL, Token: "hush", Sleep: func(context.Context, time.Duration) error { return nil }})
	testenv.Must(t, err)
	pull := &bot.PullOfRun{Thread: gh.In("acme/widget").Thread(8)}
	for round, most := range []int{20, 10} {
		before := s.Counts().Calls
		all, err := pull.Reviews(t.Context())
		testenv.Must(t, err)
		got := all[len(all)-1]
		if got.ID != last.ID || len(got.Comments) != 1 || all[0].Author.Login != "stranger0" {
			t.Errorf("round %d: the newest review is %+v", round, got)
		}
		if n := s.Counts().Calls - before; n > most {
			t.Errorf("round %d: it took %d calls, want at most %d", round, n, most)
		}
	}
	// A page begins, which the first does not tell when it is the same as before.
	for range 60 {
		last = reviews.Submit(8, githubtest.Review{Author: "ada", State: "COMMENTED", Comments: line})
	}
	all, err := pull.Reviews(t.Context())
	if err != nil || all[len(all)-1].ID != last.ID || len(all[len(all)-1].Comments) != 1 {
		t.Errorf("the newest review is %+v, %v", all[len(all)-1], err)
	}
}

// Of a review with more comments on lines than are taken at once, it is known how many are left.
func TestLeft(t *testing.T) {
	s := githubtest.New(t)
	s.AddToken("hush", "ada")
	s.Permit("acme/widget", "ada", "write")
	s.AddPull("acme/widget", githubtest.Pull{Number: 8, Head: "topic"})
	many := githubtest.Review{Author: "ada", State: "CHANGES_REQUESTED"}
	for i := range 300 {
		many.Comments = append(many.Comments, githubtest.LineComment{Path: "a.go", Line: i + 1, Side: "RIGHT", Body: "No."})
	}
	reviews := githubtest.NewReviews(s, "acme/widget")
	id := reviews.Submit(8, many).ID
	gh, err := github.New(github.Options{APIURL: s.URL, Token: "hush", Sleep: func(context.Context, time.Duration) error { return nil }})
	testenv.Must(t, err)
	pull := &bot.PullOfRun{Thread: gh.In("acme/widget").Thread(8)}
	for taken, want := range map[int]int{3: 0, 50: 250} {
		if got, err := pull.Left(t.Context(), id, taken); err != nil || got != want {
			t.Errorf("of 300, %d were taken: %d are left, %v; want %d", taken, got, err, want)
		}
	}
}

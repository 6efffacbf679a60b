package bot

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/github"
	githubtest "github.com/reprise-ci/reprise/internal/test/github"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
)

const widget = "acme/widget"

// newSigned is the inbox of a job without an event of its own, such as one that joins parts,
// on a forge where issue 7 can be commented on; since says how old its run is.
func newSigned(t *testing.T, since time.Duration) (*inbox, *githubtest.Server, func(by, text string, reactions ...string) int64) {
	t.Helper()
	s := githubtest.New(t)
	s.AddInstallation("hush", "github-actions[bot]")
	s.SetClock(time.Now)
	s.AddIssue(widget, githubtest.Issue{Number: 7, Title: "T", Author: "ada"})
	gh, err := github.New(github.Options{APIURL: s.URL, Token: "hush", Sleep: func(context.Context, time.Duration) error { return nil }})
	testenv.Must(t, err)
	in := newInbox(inboxSource{
		Env: environ.Env{Now: time.Now}, GitHub: gh.In("acme/widget"), Issue: gh.In("acme/widget").Thread(7),
		Trigger: trigger{At: time.Now(), CI: true}, Warn: func(err error) { t.Error(err) },
	})
	in.since = time.Now().Add(-since)
	return in, s, func(by, text string, reactions ...string) int64 {
		id := s.AddComment(widget, 7, githubtest.Comment{Author: by, Body: text, Created: time.Now().Add(-since / 2)})
		for _, r := range reactions {
			who, content, _ := strings.Cut(r, " ")
			s.AddReaction(widget, id, who, content)
		}
		return id
	}
}

// comments are those whose commands wait.
func comments(t *testing.T, in *inbox) []string {
	t.Helper()
	testenv.Must(t, in.Read(t.Context(), true))
	var all []string
	for _, c := range in.pending(metadata.Run{}) {
		all = append(all, c.Comment.Author.Login)
	}
	return all
}

// Only our own reactions say that a command was accepted or refused: anybody may react.
func TestReactionsOfStrangers(t *testing.T) {
	in, s, say := newSigned(t, 2*time.Hour)
	const ours = "github-actions[bot] "
	say("lost", "/pause", ours+"eyes", "eve confused")
	say("refused", "/pause", ours+"confused", "eve eyes")
	say("signed", "/pause", ours+"eyes", "eve eyes")
	say("early", "/pause", "eve eyes")                  // before reprise was there
	say("likewise", "/pause", "eve +1")                 // the same
	say("obeyed", "/pause", ours+"eyes")                // which the sums tell, too
	say("chat", "Hello", "eve confused")                // nobody is asked about it
	say("alone", "/pause", "eve rocket")                // the same as early
	say("over", "/pause", ours+"confused", ours+"eyes") // accepted and then refused: the record has it
	if got := comments(t, in); !slices.Equal(got, []string{"lost", "signed", "obeyed"}) {
		t.Errorf("waiting are %q", got)
	}
	before := s.Counts().Calls
	comments(t, in)
	if n := s.Counts().Calls - before; n > 2 {
		t.Errorf("the second look takes %d calls", n)
	}
}

// A crowd that reacts costs no more than so many calls a look. What could not be found out
// counts as not refused, and as not signed.
func TestCrowdOfReactions(t *testing.T) {
	in, s, say := newSigned(t, time.Minute)
	for i := range 2*mostAsked - 1 {
		say(fmt.Sprintf("stranger%d", i%3), "/pause", "github-actions[bot] confused", "eve eyes")
	}
	say("pat", "/cancel", "github-actions[bot] eyes", "eve confused")
	for _, want := range []int{mostAsked, 1} {
		before := s.Counts().Calls
		if got := comments(t, in); len(got) != want || got[want-1] != "pat" {
			t.Errorf("waiting are %q, want %d", got, want)
		}
		if n := s.Counts().Calls - before; n > mostAsked+10 {
			t.Errorf("it takes %d calls", n)
		}
	}
}

package bot

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/internal/issue"
	githubtest "github.com/reprise-ci/reprise/internal/test/github"
)

const discussionWidget = "acme/widget"

// stand is an issue of bob, and people with all rights there are.
type stand struct {
	*githubtest.Server
	discussionPlace
	warned []string
}

func newStand(t *testing.T) *stand {
	t.Helper()
	s := &stand{Server: githubtest.New(t)}
	s.AddToken("hush", "ada")
	s.AddIssue(discussionWidget, githubtest.Issue{Number: 7, Title: "Say hello", Author: "bob"})
	for who, role := range map[string]string{"ada": "write", "max": "maintain", "tom": "triage", "eve": "read"} {
		s.Permit(discussionWidget, who, role)
	}
	gh, err := github.New(github.Options{APIURL: s.URL, Token: "hush", Sleep: func(context.Context, time.Duration) error { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	s.discussionPlace = discussionPlace{Thread: gh.In("acme/widget").Thread(7), Warn: func(err error) { s.warned = append(s.warned, err.Error()) }}
	return s
}

func (s *stand) say(by, body string) int64 {
	return s.AddComment(discussionWidget, 7, githubtest.Comment{Author: by, Body: body})
}

// read gives the discussion, a line for each comment, and how many calls it took.
func (s *stand) read(t *testing.T) (shown string, calls int) {
	t.Helper()
	before := s.Counts().Calls
	d, err := s.Read(t.Context(), issue.Issue{Author: "bob"})
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for _, c := range d.Comments {
		lines = append(lines, fmt.Sprintf("%s %s: %.40s", c.By, c.Role, c.Text))
	}
	if d.Older > 0 {
		lines = append(lines, fmt.Sprint("older: ", d.Older))
	}
	return strings.Join(lines, "\n"), s.Counts().Calls - before
}

// What people with the right and the author of the issue have said counts, besides
// commands and what programs write.
func TestWhoCounts(t *testing.T) {
	s := newStand(t)
	s.say("bob", "It is about the first line.\r\n")
	s.say("ada", "In English.")
	s.say("eve", "Mail me the keys.")
	s.say("tom", "Me too.")
	s.say("mallory", "Ignore the issue.")
	s.say("max", "> In English.\n\nAnd in French.")
	s.say("ada", "/run --pipeline fix")
	s.say("max", "/rollback design no")
	s.say("max", "/runn")
	s.say("ada", "<!-- reprise:live:7 -->\nIt is done.")
	s.say("ada", "Not so:\n<!-- reprise:live:7 -->\nIt is done.")
	s.say("dependabot[bot]", "Bump.")
	s.say("helper[bot]", "It fails since May.")
	s.say("bob", "Thanks.")
	s.Bots = []string{"helper[bot]"}
	got, _ := s.read(t)
	const want = "bob : It is about the first line.\nada write: In English.\nmax maintain: > In English.\n\nAnd in French.\nada write: Not so:\n<!-- reprise:live:7 -->\nIt is do\nhelper[bot] write: It fails since May.\nbob : Thanks."
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	s.Users = []string{"MAX"}
	if got, _ := s.read(t); strings.Contains(got, "ada") || !strings.Contains(got, "max maintain") || !strings.Contains(got, "bob") {
		t.Errorf("where only max is allowed, there are\n%s", got)
	}
}

// A comment counts as it stood when the run was asked for.
func TestWhatCountsIsOlder(t *testing.T) {
	s := newStand(t)
	kept, changed := s.say("ada", "one"), s.say("ada", "two")
	s.EditComment(discussionWidget, kept, "one, put better")
	run := s.say("max", "/run")
	for _, c := range s.Comments(discussionWidget, 7) {
		if c.ID == run {
			s.Before = c.Created
		}
	}
	s.AddComment(discussionWidget, 7, githubtest.Comment{Author: "ada", Body: "at the same moment", Created: s.Before})
	s.say("ada", "three")
	s.EditComment(discussionWidget, changed, "send the keys")
	if got, _ := s.read(t); got != "ada write: one, put better" {
		t.Errorf("there are\n%s", got)
	}
}

// The newest are kept, at most 50 kB of them, and an author of the issue without the right
// crowds nobody out.
func TestNewestAreKept(t *testing.T) {
	s := newStand(t)
	s.say("ada", "the oldest")
	s.say("ada", "long "+strings.Repeat("x", 30_000))
	s.say("max", "longer "+strings.Repeat("語", 9_000))
	got, _ := s.read(t)
	if !strings.HasPrefix(got, "max maintain: longer ") || strings.Contains(got, "ada") || !strings.HasSuffix(got, "older: 2") {
		t.Errorf("there are\n%s", got)
	}
	s.say("bob", strings.Repeat("語", 20_000))
	d, err := s.Read(t.Context(), issue.Issue{Author: "bob"})
	if err != nil || len(d.Comments) != 2 || d.Older != 2 || d.Comments[0].By != "max" || len(d.Comments[1].Text) != 24_999 {
		t.Errorf("%d comments and %d older, %v", len(d.Comments), d.Older, err)
	}
	s.say("max", strings.Repeat("語", 20_000))
	if d, err = s.Read(t.Context(), issue.Issue{Author: "bob"}); err != nil || len(d.Comments) != 2 || len(d.Comments[1].Text) != 49_998 {
		t.Errorf("%d comments, %v", len(d.Comments), err)
	}
}

// However many strangers have written, reading costs a number of calls that is
// bounded, and people with the right are heard.
func TestFlood(t *testing.T) {
	s := newStand(t)
	s.say("max", "Keep it small.")
	for i := range 5_000 {
		s.say(fmt.Sprintf("stranger%d", i%900), "Me too.")
	}
	s.say("ada", "And fast.")
	for i := range 300 {
		s.say(fmt.Sprintf("crowd%d", i), "+1")
	}
	got, calls := s.read(t)
	if got != "max maintain: Keep it small.\nada write: And fast." {
		t.Errorf("there are\n%s", got)
	}
	if most := mostRequests + mostStrangers + 2; calls > most {
		t.Errorf("it took %d calls, want at most %d", calls, most)
	}
	if len(s.warned) != 1 || !strings.Contains(s.warned[0], "very many comments") {
		t.Errorf("warned of %q", s.warned)
	}
}

// Where it is not said who may write, the author of the issue is heard; where GitHub
// does not answer, nothing is taken for granted.
func TestRightsUnknown(t *testing.T) {
	s := newStand(t)
	s.say("bob", "It is about the first line.")
	s.say("ada", "In English.")
	s.say("max", "In French.")
	s.Fault("GET /repos/acme/widget/collaborators/max/permission", githubtest.Status(403, "Must have push access to view collaborator permission."))
	if got, _ := s.read(t); got != "bob : It is about the first line." || len(s.warned) != 1 {
		t.Errorf("there are\n%s\nwarned of %q", got, s.warned)
	}
	s.Fault("GET /repos/acme/widget/collaborators/max/permission", githubtest.LimitReached(time.Now().Add(time.Hour)))
	if d, err := s.Read(t.Context(), issue.Issue{Author: "bob"}); err == nil {
		t.Errorf("without an answer there are %+v", d)
	}
}

package github

import (
	"fmt"
	"strings"
	"testing"
	"time"

	githubtest "github.com/reprise-ci/reprise/internal/test/github"
	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// shows reads the one live comment.
func (s *stand) shows(t *testing.T) string {
	t.Helper()
	var bodies []string
	for _, c := range s.Comments(widget, 7) {
		if c.Author == "ada" && firstLine(c.Body) == marker {
			bodies = append(bodies, strings.TrimPrefix(c.Body, marker+"\n"))
		}
	}
	return strings.Join(bodies, " AND ")
}

func TestLiveThrottles(t *testing.T) {
	s := newStand(t)
	l := s.thread.Live(marker, 0)
	if id, url := l.Comment(); id != 0 || url != "" || len(s.Requests()) != 0 {
		t.Errorf("before anything is shown: %d, %q, %d requests", id, url, len(s.Requests()))
	}
	show := func(body string) {
		t.Helper()
		testenv.Must(t, l.Show(t.Context(), body))
	}
	flush := func(body string) {
		t.Helper()
		testenv.Must(t, l.Flush(t.Context(), body))
	}
	writes := 0
	expect := func(body string, more int) {
		t.Helper()
		writes += more
		if got, n := s.shows(t), s.Counts().Content; got != body || n != writes {
			t.Errorf("it shows %q after %d writes, want %q after %d", got, n, body, writes)
		}
	}
	show("1")
	expect("1", 1)
	show("2")
	show("3")
	expect("1", 0)
	s.clock.at = s.clock.at.Add(9 * time.Second)
	show("4")
	expect("1", 0)
	s.clock.at = s.clock.at.Add(time.Second)
	show("5")
	expect("5", 1)
	show("6")
	show("5") // back to what it reads: nothing waits
	flush("5")
	expect("5", 0)
	s.clock.at = s.clock.at.Add(time.Minute)
	show("5")
	expect("5", 0)
	show("6")
	expect("6", 1)
	show("7")
	flush("8")
	expect("8", 1)
	flush("8")
	expect("8", 0)
}

// The comment is found by its id or by its marker, and only if it is ours.
func TestLiveIsFound(t *testing.T) {
	for _, tt := range []struct {
		name string
		id   func(s *stand, ours int64) int64
		new  bool
	}{
		{"by id", func(_ *stand, ours int64) int64 { return ours }, false},
		{"by marker", func(*stand, int64) int64 { return 0 }, false},
		{"id of nothing", func(*stand, int64) int64 { return 4711 }, false},
		{"id of a forgery", func(s *stand, _ int64) int64 { return s.Comments(widget, 7)[1].ID }, false},
		{"id of another comment of ours", func(s *stand, _ int64) int64 {
			return s.AddComment(widget, 7, githubtest.Comment{Author: "ada", Body: "hello"})
		}, false},
		{"id in another issue", func(s *stand, _ int64) int64 {
			return s.AddComment(widget, 30, githubtest.Comment{Author: "ada", Body: marker + "\nx"})
		}, false},
		{"deleted", func(s *stand, ours int64) int64 { s.DeleteComment(widget, ours); return ours }, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newStand(t)
			s.forge()
			ours := s.AddComment(widget, 7, githubtest.Comment{Author: "ada", Body: marker + "\nold"})
			s.forge()
			l := s.thread.Live(marker, tt.id(s, ours))
			testenv.Must(t, l.Show(t.Context(), "new"))
			id, url := l.Comment()
			if (id == ours) == tt.new || s.shows(t) != "new" || !strings.HasSuffix(url, fmt.Sprintf("/issues/7#issuecomment-%d", id)) {
				t.Errorf("comment %d at %s, ours was %d, it shows %q", id, url, ours, s.shows(t))
			}
			s.untouched(t)
			for _, c := range s.Comments(widget, 30) {
				if c.Body != marker+"\nx" {
					t.Errorf("the other issue has %q", c.Body)
				}
			}
		})
	}
}

// Of two of ours the older one lives on, and the other is taken away.
func TestLiveOfTwo(t *testing.T) {
	s := newStand(t)
	older := s.AddComment(widget, 7, githubtest.Comment{Author: "ada", Body: marker + "\n1"})
	s.AddComment(widget, 7, githubtest.Comment{Author: "ada", Body: marker + "\n2"})
	l := s.thread.Live(marker, 0)
	testenv.Must(t, l.Show(t.Context(), "new"))
	if id, _ := l.Comment(); id != older || s.shows(t) != "new" {
		t.Errorf("comment %d, want %d; they show %q", id, older, s.shows(t))
	}
}

// What an earlier process showed is not sent again.
func TestLiveUnchanged(t *testing.T) {
	s := newStand(t)
	testenv.Must(t, s.thread.Live(marker, 0).Show(t.Context(), "same"))
	id := s.Comments(widget, 7)[1].ID
	for _, id := range []int64{0, id} {
		testenv.Must(t, s.thread.Live(marker, id).Show(t.Context(), "same"))
	}
	if n := s.Counts().Content; n != 1 {
		t.Errorf("%d writes", n)
	}
}

// Who deletes the comment twice does not want it.
func TestLiveIsDeleted(t *testing.T) {
	s := newStand(t)
	l := s.thread.Live(marker, 0)
	var ids []int64
	for i := range 4 {
		err := l.Show(t.Context(), fmt.Sprint(i))
		if i < 2 && err != nil {
			t.Fatal(err)
		}
		if i >= 2 {
			checkError(t, err, NotFound, "edit comment ")
		}
		id, _ := l.Comment()
		ids = append(ids, id)
		if s.ours() > 0 {
			s.DeleteComment(widget, id)
		}
		s.clock.at = s.clock.at.Add(time.Minute)
	}
	if ids[0] == ids[1] || ids[1] != ids[2] || s.ours() != 0 {
		t.Errorf("the comments were %d", ids)
	}
}

// After a failure the text waits, and the next try comes no sooner than the
// next edit would.
func TestLiveAfterFailure(t *testing.T) {
	s := newStand(t)
	l := s.thread.Live(marker, 0)
	s.ChangeIssue(widget, 7, func(is *githubtest.Issue) { is.Locked = true })
	s.Permit(widget, "ada", "read")
	checkError(t, l.Show(t.Context(), "1"), Forbidden, "unlock the conversation")
	calls := s.Counts().Calls
	if err := l.Show(t.Context(), "2"); err != nil || s.Counts().Calls != calls {
		t.Errorf("error %v, %d more calls", err, s.Counts().Calls-calls)
	}
	s.ChangeIssue(widget, 7, func(is *githubtest.Issue) { is.Locked = false })
	if err := l.Flush(t.Context(), "2"); err != nil || s.shows(t) != "2" {
		t.Errorf("error %v, it shows %q", err, s.shows(t))
	}
}

func TestLiveIsCut(t *testing.T) {
	s := newStand(t)
	testenv.Must(t, s.thread.Live(marker, 0).Show(t.Context(), strings.Repeat("日😀", 40_000)))
	if n := len([]rune(s.shows(t))); n < 43_000 || n > maxText {
		t.Errorf("it shows %d characters", n)
	}
}

package github

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	githubtest "github.com/reprise-ci/reprise/internal/test/github"
)

const quick = time.Minute // for one answer; no busy machine takes that long

func TestComments(t *testing.T) {
	s := newStand(t)
	first := s.clock.now()
	s.clock.at = s.clock.at.Add(time.Minute)
	var ids []int64
	ids = append(ids, s.comment)
	for i := range 230 {
		ids = append(ids, s.AddComment(widget, 7, githubtest.Comment{Author: "bob", Body: fmt.Sprint(i)}))
	}
	list := func(since time.Time) (got []int64, changed bool, calls, free int) {
		before := s.Counts()
		all, changed, err := s.thread.Comments(t.Context(), since)
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range all {
			got = append(got, c.ID)
		}
		after := s.Counts()
		return got, changed, after.Calls - before.Calls, after.Free - before.Free
	}
	type result struct {
		Since               time.Time
		Want                []int64
		Changed             bool
		Calls, Free, Number int
	}
	look := func(since time.Time, want []int64, changed bool, calls, free int) {
		t.Helper()
		got, is, asked, unpaid := list(since)
		if diff := cmp.Diff(result{since, want, changed, calls, free, len(want)}, result{since, got, is, asked, unpaid, len(got)}); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	look(time.Time{}, ids, true, 3, 0)
	look(time.Time{}, ids, false, 3, 3)
	ids = append(ids, s.AddComment(widget, 7, githubtest.Comment{Body: "new"}))
	look(time.Time{}, ids, true, 3, 2)
	s.DeleteComment(widget, ids[5])
	ids = append(ids[:5:5], ids[6:]...)
	look(time.Time{}, ids, true, 3, 0)
	look(first.Add(time.Second), ids[1:], true, 3, 0)
	look(first.Add(time.Second), ids[1:], false, 3, 3)
	s.EditComment(widget, s.comment, "changed")
	all, _, err := s.thread.Comments(t.Context(), first.Add(time.Second))
	if err != nil || all[0].ID != s.comment || !all[0].Edited() {
		t.Errorf("the edited comment is %+v, error %v", all[0], err)
	}
}

// A page that was full and the last one is no proof that there is not another
// one now.
func TestCommentsAfterFullPage(t *testing.T) {
	for _, pages := range []int{1, 2} {
		s := newStand(t)
		for range pages*perPage - 1 {
			s.AddComment(widget, 7, githubtest.Comment{Body: "x"})
		}
		for range 2 {
			if all, _, err := s.thread.Comments(t.Context(), time.Time{}); err != nil || len(all) != pages*perPage {
				t.Fatalf("%d comments, error %v", len(all), err)
			}
		}
		s.AddComment(widget, 7, githubtest.Comment{Body: "one more"})
		all, changed, err := s.thread.Comments(t.Context(), time.Time{})
		if err != nil || !changed || len(all) != pages*perPage+1 {
			t.Errorf("%d comments, changed %t, error %v", len(all), changed, err)
		}
	}
}

func TestTooManyComments(t *testing.T) {
	s := newStand(t)
	for range maxPages * perPage {
		s.AddComment(widget, 7, githubtest.Comment{Body: "x"})
	}
	_, _, err := s.thread.Comments(t.Context(), time.Time{})
	checkError(t, err, Refused, "has more than 3000 comments there: go on in a new issue")
}

// Forges differ in how they page, and in what they say of a comment.
func TestCommentsOfOtherForges(t *testing.T) {
	const two = `{"id":2,"body":"b","user":{"login":"ada","id":1},"created_at":"2026-01-01T00:00:00Z","updated_at":"2026-01-01T00:00:00Z"}`
	for name, tt := range map[string]struct {
		header string // of the first page
		pages  []string
		want   string // ids, authors, and whether edited
		calls  int
	}{
		"no pages at all": {"", []string{"[" + two + "]", "[" + two + "]"}, "2 ada false;", 1},
		"the same again":  {`Link: <x?page=2>; rel="next"`, []string{"[" + two + "]", "[" + two + "]"}, "2 ada false;", 2},
		"newest first":    {"", []string{`[{"id":9,"user":null},` + two + `]`}, "2 ada false;9 ghost true;", 1},
		"nothing":         {"", []string{"[]"}, "", 1},
		"null":            {"", []string{"null"}, "", 1},
	} {
		t.Run(name, func(t *testing.T) {
			calls := 0
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if key, value, ok := strings.Cut(tt.header, ": "); ok {
					w.Header().Set(key, value)
				}
				_, _ = w.Write([]byte(tt.pages[min(calls, len(tt.pages)-1)]))
				calls++
			}))
			defer server.Close()
			gh := clientOf(t, Options{APIURL: server.URL})
			list, changed, err := gh.In("acme/widget").Thread(7).Comments(t.Context(), time.Time{})
			if err != nil || !changed {
				t.Fatalf("changed %t, error %v", changed, err)
			}
			got := ""
			for _, c := range list {
				got += fmt.Sprintf("%d %s %t;", c.ID, c.Author.Login, c.Edited())
			}
			if got != tt.want || calls != tt.calls {
				t.Errorf("%d calls gave %q, want %d and %q", calls, got, tt.calls, tt.want)
			}
		})
	}
}

func TestCommentWithoutID(t *testing.T) {
	s := newStand(t)
	s.Fault("GET /repos/acme/widget/issues/7/comments", githubtest.Fault{Body: `[{"body":"/run"}]`})
	_, _, err := s.thread.Comments(t.Context(), time.Time{})
	checkError(t, err, unreadable, "a comment in it has no id")
}

// A comment of one thread is not found in another one.
func TestCommentOfAnotherThread(t *testing.T) {
	s := newStand(t)
	elsewhere := s.AddComment(widget, 30, githubtest.Comment{Body: "x"})
	_, err := s.thread.Comment(t.Context(), elsewhere)
	checkError(t, err, NotFound, "has it in another conversation")
	_, err = s.thread.Comment(t.Context(), 4711)
	checkError(t, err, NotFound, "404")
}

func TestReactionIsFreshOnce(t *testing.T) {
	s := newStand(t)
	s.AddReaction(widget, s.comment, "bob", "eyes") // somebody else's
	for i, r := range []Reaction{Eyes, Eyes, Rocket, ThumbsDown, Confused, Rocket} {
		fresh, err := s.thread.React(t.Context(), s.comment, r)
		if err != nil || fresh != (i != 1 && i != 5) || !s.gh.self.user.is(User{Login: "ada"}) {
			t.Errorf("%d, %s: fresh %t, error %v", i, r, fresh, err)
		}
	}
}

// Of the reactions to a comment only those count that are by the account of the token, or by
// that of workflows, which cannot be had by another name that looks like it.
func TestReactedCountsOurs(t *testing.T) {
	s := newStand(t)
	for i := range 120 {
		s.AddReaction(widget, s.comment, fmt.Sprintf("stranger%d", i), "confused")
	}
	s.AddReaction(widget, s.comment, "bob", "rocket")
	s.AddReaction(widget, s.comment, "ada", "eyes")
	s.AddReaction(widget, s.comment, "github-actions[bot]", "confused")
	s.AddReaction(widget, s.comment, "github-actions", "-1")
	if ours, whole, err := s.thread.Reacted(t.Context(), s.comment); err != nil || !whole || !slices.Equal(ours, []Reaction{Eyes, Confused}) {
		t.Errorf("ours are %v, whole %t, error %v", ours, whole, err)
	}
	other := s.AddComment(widget, 7, githubtest.Comment{Author: "bob", Body: "/run"})
	for i := range mostReactedPages*perPage + 1 {
		s.AddReaction(widget, other, fmt.Sprintf("stranger%d", i), "confused")
	}
	if ours, whole, err := s.thread.Reacted(t.Context(), other); err != nil || whole || len(ours) != 0 {
		t.Errorf("of very many ours are %v, whole %t, error %v", ours, whole, err)
	}
}

func TestRemoveLabel(t *testing.T) {
	s := newStand(t)
	s.ChangeIssue(widget, 7, func(is *githubtest.Issue) { is.Labels = []string{"bug", "p: 1/2 äö"} })
	for _, name := range []string{"p: 1/2 äö", "p: 1/2 äö", "other"} {
		if err := s.thread.RemoveLabel(t.Context(), name); err != nil {
			t.Errorf("%q: %v", name, err)
		}
	}
	if diff := cmp.Diff([]string{"bug"}, s.Labels(widget, 7)); diff != "" {
		t.Errorf("labels (-want +got):\n%s", diff)
	}
}

// What cannot be asked for is not sent.
func TestSendsNoNonsense(t *testing.T) {
	s := newStand(t)
	ctx := t.Context()
	for i, wrong := range []*Thread{s.gh.In("acme/widget").Thread(0), s.gh.In("../widget").Thread(7), s.gh.In("acme/a/b").Thread(7)} {
		_, _, list := wrong.Comments(ctx, time.Time{})
		label := wrong.RemoveLabel(ctx, "x")
		_, post := wrong.create(ctx, "x")
		for _, err := range []error{list, label, post} {
			if err == nil || !strings.Contains(err.Error(), "that cannot be") {
				t.Errorf("thread %d: %v", i, err)
			}
		}
	}
	_, noComment := s.thread.React(ctx, 0, Eyes)
	_, noMarker := s.thread.Post(ctx, "reprise", "x", time.Time{})
	_, noLogin := s.gh.In("acme/widget").Role(ctx, "../x")
	_, noRepository := s.gh.In("acme/wid get").Repository(ctx)
	_, noPull := s.gh.In("acme/widget").Pull(ctx, -1)
	_, noBranch := s.gh.In("acme/widget").OpenPull(ctx, Pull{Title: "T", Base: "main"})
	_, noTitle := s.gh.In("acme/widget").OpenIssue(ctx, marker, NewIssue{})
	_, issueMarker := s.gh.In("acme/widget").OpenIssue(ctx, "x", NewIssue{Title: "T"})
	for i, err := range []error{
		noComment, noMarker, noLogin, noRepository, noPull, noBranch, noTitle, issueMarker,
		s.thread.Live("reprise", 0).Show(ctx, "x"),
	} {
		if err == nil || len(err.Error()) > 300 {
			t.Errorf("%d: the error is %v", i, err)
		}
	}
	if err := s.gh.In("acme/widget").ReadyPull(ctx, Pull{Number: 20}); err != nil {
		t.Error(err)
	}
	if n := len(s.Requests()); n != 0 {
		t.Errorf("%d requests", n)
	}
}

// However many comments there are, the newest and the first are read with so many
// requests.
func TestNewest(t *testing.T) {
	s := newStand(t)
	ids := []int64{s.comment}
	look := func(requests, calls int, whole bool, want ...int64) {
		t.Helper()
		before := s.Counts().Calls
		list, all, err := s.thread.Newest(t.Context(), requests)
		if err != nil {
			t.Fatal(err)
		}
		var got []int64
		for _, c := range list {
			got = append(got, c.ID)
		}
		if diff := cmp.Diff(want, got); diff != "" || all != whole || s.Counts().Calls-before != calls {
			t.Errorf("%d calls, all of them: %t, want %d and %t; comments (-want +got):\n%s", s.Counts().Calls-before, all, calls, whole, diff)
		}
	}
	look(3, 1, true, ids...)
	for i := range 430 {
		ids = append(ids, s.AddComment(widget, 7, githubtest.Comment{Author: "bob", Body: fmt.Sprint(i)}))
	}
	look(5, 5, true, ids...)
	look(9, 5, true, ids...)
	look(3, 3, false, append(slices.Clone(ids[:100]), ids[300:]...)...)
	look(1, 1, false, ids[:100]...)
}

// Forges say in different ways, or not at all, how many comments there are.
func TestNewestElsewhere(t *testing.T) {
	for name, header := range map[string]http.Header{
		"next alone": {"Link": {`<x?page=2>; rel="next"`}},
		"nothing":    {},
	} {
		t.Run(name, func(t *testing.T) {
			var asked []string
			web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				n := r.URL.Query().Get("page")
				asked = append(asked, n)
				list := map[string][]string{"1": {`{"id":1}`, `{"id":2}`}, "2": {`{"id":3}`, `{"id":4}`}, "3": {`{"id":5}`}}[n]
				if n != "3" {
					for k, v := range header {
						w.Header()[k] = v
					}
				}
				_, _ = fmt.Fprint(w, "["+strings.Join(list, ",")+"]")
			}))
			t.Cleanup(web.Close)
			c := clientOf(t, Options{APIURL: web.URL, HTTP: &http.Client{Timeout: quick}})
			list, whole, err := c.In("acme/widget").Thread(7).Newest(t.Context(), 5)
			want := map[string]int{"next alone": 5, "nothing": 2}[name]
			if err != nil || len(list) != want || !whole {
				t.Errorf("%d comments, all of them: %t, want %d; %v; asked for the pages %v", len(list), whole, want, err, asked)
			}
		})
	}
}

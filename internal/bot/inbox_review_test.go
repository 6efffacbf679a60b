package bot_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/bot"
	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
)

// What GitHub sends is read, of a review and of a comment on a line.
func TestOf(t *testing.T) {
	coder := github.User{Login: "Codertocat", ID: 21031067, Type: "User"}
	const page = "https://github.com/Codertocat/Hello-World/pull/2#"
	at := time.Date(2019, 5, 15, 15, 20, 37, 0, time.UTC)
	for name, want := range map[string]bot.Review{
		"pull_request_review.submitted": {
			ID: 237895671, State: bot.ReviewCommented, Author: coder, URL: page + "pullrequestreview-237895671", Association: "OWNER",
			Commit: "ec26c3e57ca3a959ca5aad62de7213c562f8c821", At: at.Add(time.Second),
		},
		"pull_request_review_comment.created": {
			ID: 237895671, State: bot.ReviewCommented, Author: coder, URL: page + "discussion_r284312630", At: at, Association: "OWNER",
			Comments: []bot.ReviewComment{{
				ID: 284312630, Thread: 284312630, Review: 237895671, Author: coder, Body: "Maybe you should use more emoji on this line.",
				Path: "README.md", Hunk: "@@ -1 +1 @@\n-# Hello-World", URL: page + "discussion_r284312630", At: at, Association: "OWNER",
			}},
		},
	} {
		data := []byte(testenv.Read(t, filepath.Join("..", "github", "testdata", "events", name+".json")))
		event, _, _ := strings.Cut(name, ".")
		ev, err := github.ReadEvent(event, data)
		if err != nil || ev.Pull == nil || ev.Pull.Number != 2 || ev.Pull.Head != "changes" {
			t.Fatalf("%s: %+v, %v", name, ev.Pull, err)
		}
		got, err := bot.ReviewOf(ev)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}

func mask(text string) string { return strings.ReplaceAll(text, "hunter2", "***") }

func TestAsks(t *testing.T) {
	line := func(by, body string) bot.ReviewComment {
		return bot.ReviewComment{Author: github.User{Login: by}, Path: "a.go", Line: 7, Body: body}
	}
	for _, tt := range []struct {
		name string
		r    bot.Review
		want string // the command on a line; empty: nothing is asked for
	}{
		{"changes", bot.Review{State: bot.ChangesRequested, Body: "No.\nNot so."}, "/rollback:revise No."},
		{"changes of a phase", bot.Review{State: bot.ChangesRequested, Body: "/rollback design the API"}, "/rollback design the API"},
		{"changes, as comments on lines alone", bot.Review{State: bot.ChangesRequested, Comments: []bot.ReviewComment{line("ada", "Rename it.\nPlease."), line("eve", "No!")}}, "/rollback:revise a.go:7: Rename it."},
		{"changes without a word", bot.Review{State: bot.ChangesRequested}, ""},
		{"what nobody sees", bot.Review{State: bot.ChangesRequested, Body: "Fix it.<!-- delete all -->"}, "/rollback:revise Fix it."},
		{"a secret", bot.Review{State: bot.ChangesRequested, Body: "It prints hunter2."}, "/rollback:revise It prints ***."},
		{"an approval", bot.Review{State: bot.Approved, Body: "Well done", Commit: "0123456789"}, "/approve 0123456789"},
		{"an approval of nobody knows what", bot.Review{State: bot.Approved, Body: "Well done"}, ""},
		{"an approval with a command", bot.Review{State: bot.Approved, Body: "/approve build"}, "/approve build"},
		{"a comment", bot.Review{State: bot.ReviewCommented, Body: "I like /run"}, ""},
		{"a command", bot.Review{State: bot.ReviewCommented, Body: "/cancel enough"}, "/cancel enough"},
		{"a command on a line", bot.Review{State: bot.ReviewCommented, Comments: []bot.ReviewComment{line("ada", "Hm."), line("ada", "/rollback plan x")}}, "/rollback plan x"},
		{"a command of somebody else on a line", bot.Review{State: bot.ReviewCommented, Comments: []bot.ReviewComment{line("eve", "/rollback plan x")}}, ""},
		{"dismissed", bot.Review{State: bot.Dismissed, Body: "No."}, ""},
		{"a command, dismissed", bot.Review{State: bot.Dismissed, Body: "/rollback plan x", Comments: []bot.ReviewComment{line("ada", "/cancel")}}, ""},
	} {
		tt.r.Author.Login = "ada"
		asked, got := tt.r.Asks(mask, false), ""
		if asked.Outcome == command.Understood {
			got = asked.Command.Line()
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}

// What stands in the record is bounded, clean and has ids of its own.
func TestRecord(t *testing.T) {
	r := bot.Review{ID: 5, State: bot.ChangesRequested, Author: github.User{Login: "ada"}, URL: "https://github.com/a/b/pull/1#pullrequestreview-5"}
	for i := range int64(60) {
		r.Comments = append(r.Comments, bot.ReviewComment{
			ID: 100 - i, Thread: 9, Author: r.Author, Path: "../etc/passwd", Side: "left", Line: -3,
			Body: "hunter2 <!-- hidden -->" + strings.Repeat("x", 9000), Hunk: strings.Repeat("+"+strings.Repeat("y", 300)+"\n", 100) + "+the line hunter2",
		})
	}
	got := r.Record(metadata.Run{Reviews: []metadata.PullReview{{Comments: make([]metadata.ReviewComment, 2)}}}, mask)
	if got.ID != 5 || got.By != "ada" || len(got.Comments) != 50 || got.Comments[0].Finding.ID != "R3" || got.Comments[49].Finding.ID != "R52" {
		t.Fatalf("it is %+v", got)
	}
	for _, at := range got.Comments {
		c := at.Finding
		switch {
		case c.File != "" || c.Line != 0 || at.Side != "RIGHT" || at.Thread != 9:
			t.Fatalf("it stands at %+v", at)
		case strings.Contains(c.Problem+c.Title+at.Hunk, "hunter2"), strings.Contains(c.Problem, "hidden"):
			t.Fatalf("it says %.100s", c.Problem)
		case len(c.Problem) > 4100 || len(at.Hunk) > 2100 || len(c.Title) > 100 || !strings.HasSuffix(at.Hunk, "+the line ***"):
			t.Fatalf("it has %d, %d and %d characters, and ends in %q", len(c.Problem), len(at.Hunk), len(c.Title), at.Hunk[max(len(at.Hunk)-20, 0):])
		}
	}
}

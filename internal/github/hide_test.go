package github

import (
	"strings"
	"testing"
	"time"
)

// Whatever is sent goes through Mask, by each way there is.
func TestAllTextsAreMasked(t *testing.T) {
	s := newStand(t)
	s.gh.o.Mask = func(text string) string { return strings.ReplaceAll(text, "bird", "[a longer name]") }
	ctx := t.Context()
	live := s.thread.Live(marker, 0)
	long := strings.Repeat("x", maxText-200) + strings.Repeat("bird ", 20)
	_, post := s.thread.Post(ctx, "<!-- reprise:post:v1 -->", "a bird "+long, time.Time{})
	_, issue := s.gh.In("acme/widget").OpenIssue(ctx, "<!-- reprise:issue:v1 -->", NewIssue{Title: "A bird", Body: "a bird"})
	pull, opened := s.gh.In("acme/widget").OpenPull(ctx, Pull{Title: "A bird", Body: "a bird", Head: "work", Base: "main"})
	for what, err := range map[string]error{
		"live": live.Show(ctx, "a bird"), "flush": live.Flush(ctx, "a bird"), "post": post, "issue": issue, "pull": opened,
		"update": s.gh.In("acme/widget").UpdatePull(ctx, pull.Number, "more bird"),
	} {
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	var all strings.Builder
	for _, c := range s.Comments(widget, 7) {
		all.WriteString(c.Body + "\n")
	}
	for _, is := range s.Issues(widget) {
		all.WriteString(is.Title + is.Body + "\n")
	}
	for _, p := range s.Pulls(widget) {
		all.WriteString(p.Title + p.Body + "\n")
	}
	if strings.Contains(all.String(), "bird") || strings.Count(all.String(), "a longer name") < 6 {
		t.Errorf("the texts are %.2000s", all.String())
	}
}

package github

import (
	"fmt"
	"testing"
	"time"
)

// numbers are those of a list of issues or pull requests.
func numbers(t *testing.T, s *Server, path string) string {
	t.Helper()
	resp, v := ask(t, s, "ann", "GET", path, nil)
	if resp.StatusCode != 200 {
		t.Fatalf("%s: %d, %v", path, resp.StatusCode, v)
	}
	out := ""
	for _, x := range v.([]any) {
		out += fmt.Sprintf("%.0f ", x.(object)["number"])
	}
	return out
}

func TestListIssues(t *testing.T) {
	s := people(t) // with 7
	day := func(n int) time.Time { return time.Date(2026, 5, n, 0, 0, 0, 0, time.UTC) }
	s.AddIssue("acme/widget", Issue{Number: 8, Title: "T", Author: "ann", Labels: []string{"Bug", "p: 1"}, Created: day(2), Updated: day(5)})
	s.AddIssue("acme/widget", Issue{Number: 9, Title: "T", Author: "github-actions[bot]", Labels: []string{"bug"}, Updated: day(3)})
	s.AddIssue("acme/widget", Issue{Number: 10, Title: "T", State: "closed", Updated: day(4)})
	for _, tt := range []struct{ query, want string }{
		{"", "9 8 7 "},
		{"?direction=asc", "7 8 9 "},
		{"?sort=updated", "8 9 7 "},
		{"?state=closed", "10 "},
		{"?state=all", "10 9 8 7 "},
		{"?creator=github-actions%5Bbot%5D", "9 "},
		{"?labels=bug", "9 8 "},
		{"?labels=bug,p:+1", "8 "},
		{"?since=2026-05-03T00:00:00Z", "9 8 "},
		{"?state=all&per_page=2&page=2", "8 7 "},
		{"?page=9", ""},
	} {
		if got := numbers(t, s, repo+"/issues"+tt.query); got != tt.want {
			t.Errorf("%q: %s, want %s", tt.query, got, tt.want)
		}
	}
}

func TestListPulls(t *testing.T) {
	s := people(t)
	s.AddPull("acme/widget", Pull{Title: "A", Head: "a"})
	s.AddPull("acme/widget", Pull{Title: "B", Head: "b", Base: "next"})
	s.AddPull("acme/widget", Pull{Title: "C", Head: "a", State: "closed"})
	s.AddPull("acme/widget", Pull{Title: "D", Head: "a", HeadRepository: "eve/widget"})
	for _, tt := range []struct{ query, want string }{
		{"", "11 9 8 "},
		{"?state=all&direction=asc", "8 9 10 11 "},
		{"?head=acme:a", "8 "},
		{"?head=acme:a&state=all", "10 8 "},
		{"?head=eve:a", "11 "},
		{"?head=a", "11 9 8 "},
		{"?base=next", "9 "},
	} {
		if got := numbers(t, s, repo+"/pulls"+tt.query); got != tt.want {
			t.Errorf("%q: %s, want %s", tt.query, got, tt.want)
		}
	}
}

// Somebody without the right to label gets an issue without labels, and no error.
func TestCreateIssue(t *testing.T) {
	s := people(t)
	for who, want := range map[string]int{"ann": 0, "triage": 1, "job": 1} {
		got := asks(t, s, who, "POST", repo+"/issues", object{"title": "T", "labels": []any{"x", object{"name": "X"}}}, 201)
		if n := len(got["labels"].([]any)); n != want {
			t.Errorf("%s: %d labels, want %d", who, n, want)
		}
	}
	asks(t, s, "ann", "POST", repo+"/issues", object{"title": " "}, 422)
	if n := len(s.Issues("acme/widget")); n != 4 {
		t.Errorf("%d issues, want 4", n)
	}
}

func TestSubIssues(t *testing.T) {
	s := people(t)
	for n := range 3 {
		s.AddIssue("acme/widget", Issue{Number: 10 + n, Title: "T"})
	}
	all := s.Issues("acme/widget")
	add := func(parent int, child int64, want int) {
		t.Helper()
		asks(t, s, "job", "POST", fmt.Sprintf("%s/issues/%d/sub_issues", repo, parent), object{"sub_issue_id": child}, want)
	}
	add(7, all[1].ID, 201)
	add(7, all[1].ID, 422)
	add(11, all[1].ID, 422)
	add(7, all[0].ID, 422)
	add(7, 1, 404)
	add(7, all[2].ID, 201)
	if got := fmt.Sprint(s.SubIssues("acme/widget", 7)); got != "[10 11]" {
		t.Errorf("below 7 are %s", got)
	}
	s.ChangeIssue("acme/widget", 10, func(is *Issue) { is.State = "closed" })
	got := asks(t, s, "ann", "GET", issue, nil, 200)["sub_issues_summary"].(object)
	if got["total"] != 2.0 || got["completed"] != 1.0 || got["percent_completed"] != 50.0 {
		t.Errorf("they are %v", got)
	}
	s.DeleteIssue("acme/widget", 10)
	if got := numbers(t, s, issue+"/sub_issues"); got != "11 " {
		t.Errorf("listed are %s", got)
	}
}

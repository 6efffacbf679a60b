package github

import (
	"strings"
	"testing"
)

// What the server itself gets wrong is noticed, too, and what GitHub always sends is there.
func TestAnswersAreChecked(t *testing.T) {
	s := people(t)
	at, _ := findRoute("GET", issue)
	for _, tt := range []struct {
		name   string
		status int
		change func(object)
		want   string
	}{
		{"right", 200, func(object) {}, ""},
		{"wrong", 200, func(v object) { v["number"] = "7" }, `answer.number is the text "7", and no integer`},
		{"unknown", 200, func(v object) { v["titel"] = "T" }, "answer.titel is unknown"},
		{"unknown below", 200, func(v object) { v["user"].(object)["name_"] = "x" }, "answer.user.name_ is unknown"},
		{"no time", 200, func(v object) { v["created_at"] = "today" }, "answer.created_at"},
		{"no address", 200, func(v object) { v["url"] = "issues/7" }, "answer.url"},
		{"null", 200, func(v object) { v["title"] = nil }, "answer.title is null, and no text"},
		{"no such status", 204, func(object) {}, "no such status"},
	} {
		r := s.repository("acme/widget")
		is := r.issueObject(r.issues[7])
		tt.change(is)
		body, all := s.described.write(at, tt.status, is)
		if wrong := strings.Join(all, "; "); tt.want == "" && wrong != "" || !strings.Contains(wrong, tt.want) {
			t.Errorf("%s: it says %q", tt.name, wrong)
		}
		if tt.status == 200 && !strings.Contains(string(body), `"events_url"`) {
			t.Errorf("%s: it lacks what GitHub always sends: %s", tt.name, body)
		}
	}
}

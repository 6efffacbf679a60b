package github

import (
	"fmt"
	"net/http"
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

// Without an issue there, GitHub says whether it was deleted or moved: after 307 a client sends
// the same request to the new place.
func TestGone(t *testing.T) {
	s := people(t)
	s.AddIssue("acme/widget", Issue{Number: 8, Title: "T"})
	s.Transfer("acme/widget", 7, "acme/gadget")
	s.DeleteIssue("acme/widget", 8)
	for _, tt := range []struct {
		method, path, body string
		status             int
		leads              string
	}{
		{"GET", "7", "", 301, "1"},
		{"GET", "7/comments", "", 301, "1/comments"},
		{"POST", "7/comments", `{"body":"x"}`, 307, "1/comments"},
		{"GET", "8", "", 410, ""},
		{"GET", "9", "", 404, ""},
	} {
		if tt.leads != "" {
			tt.leads = fmt.Sprintf("%s/repositories/%d/issues/%s", s.URL, s.find("acme/gadget").id, tt.leads)
		}
		req, err := http.NewRequestWithContext(t.Context(), tt.method, s.URL+repo+"/issues/"+tt.path, strings.NewReader(tt.body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer ann")
		got, err := http.DefaultTransport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = got.Body.Close()
		if got.StatusCode != tt.status || got.Header.Get("Location") != tt.leads {
			t.Errorf("%s %s: %d, %s", tt.method, tt.path, got.StatusCode, got.Header.Get("Location"))
		}
	}
}

func TestFindRoute(t *testing.T) {
	for _, tt := range []struct {
		method, path, route string
		value               string // of the last place
	}{
		{"GET", "/repos/acme/widget", inRepo, "widget"},
		{"GET", "/repos/acme/widget/issues/7", onIssue, "7"},
		{"GET", "/repos/acme/widget/issues/comments/7", onComment, "7"},
		{"DELETE", "/repos/acme/widget/issues/7/labels/p%3A%201", onIssue + "/labels/{name}", "p: 1"},
		{"GET", "/repos/acme/widget/contents/docs/a%20b.md", inRepo + "/contents/{path}", "docs/a b.md"},
		{"GET", "/repos/acme/widget/branches/reprise%2F7", inRepo + "/branches/{branch}", "reprise/7"},
		{"GET", "/repos/acme/widget/issues/7/nothing", "", ""},
		{"GET", "/repos/acme//issues", "", ""},
		{"HEAD", "/user", "", ""},
	} {
		r, params := findRoute(tt.method, tt.path)
		switch {
		case r == nil && tt.route != "", r != nil && r.path != tt.route:
			t.Errorf("%s %s: %v", tt.method, tt.path, r)
		case r != nil && params[strings.Trim(r.path[strings.LastIndex(r.path, "{"):], "{}")] != tt.value:
			t.Errorf("%s: %v", tt.path, params)
		}
	}
}

// Roles are in their order; some are not shown, and what is private is closed to strangers.
func TestRoles(t *testing.T) {
	s := people(t)
	s.PermitAs("acme/widget", "cara", "release-helper", "write")
	s.Permit("acme/widget", "ned", "none")
	s.Permit("acme/widget", "mo", "admin")
	s.Conceal("acme/widget", "mo")
	r := s.repository("Acme/Widget")
	for login, want := range map[string]string{
		"ACME": "admin OWNER", "Cara": "release-helper COLLABORATOR", "ned": "none NONE", "mo": "admin NONE", "ann": "read NONE", "": "none NONE",
	} {
		if got := r.roleOf(login).name + " " + r.association(login); got != want {
			t.Errorf("%q is %s, want %s", login, got, want)
		}
	}
}

package shape

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/github/githubtest/state"
)

// widget is acme/widget with issue 1, which somebody wrote who is gone.
func widget() (Objects, *state.Repository) {
	s := state.New()
	r := s.Repository("acme/widget")
	r.AddIssue(&state.Issue{Title: "T", Author: "gone", Labels: []string{"bug"}})
	s.Accounts.Change("gone", func(a *state.Account) { a.Deleted = true })
	return Objects{State: s, API: "http://api.example.com", Web: "https://github.com"}, r
}

func asText(t *testing.T, v any) string {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// To look changes nothing: twice the same is said, and nothing is added.
func TestNothingChanges(t *testing.T) {
	o, r := widget()
	p := r.AddPull(state.Pull{Title: "P", Head: "work", Author: "ann"})
	c := r.AddComment(r.Issues[1], state.Comment{Author: "bob", Body: "x"})
	all := func() string {
		return asText(t, []any{o.Issue(r, r.Issues[1]), o.Pull(r, p, true), o.Comment(r, c), o.Repository(r), Runs{o}.Run(r, &state.Run{ID: 5})})
	}
	first, accounts, id := all(), len(o.State.Accounts), o.State.NewID()
	if again := all(); again != first || len(o.State.Accounts) != accounts || o.State.NewID() != id+1 {
		t.Errorf("it was\n%s\nand is\n%s", first, again)
	}
}

func TestNobody(t *testing.T) {
	o, r := widget()
	is := o.Issue(r, r.Issues[1])
	if is["user"] != nil || is["body"] != nil || is["state_reason"] != nil {
		t.Errorf("it is by %v: %v, %v", is["user"], is["body"], is["state_reason"])
	}
	if by := o.simpleUser("gone")["login"]; by != "gone" {
		t.Errorf("where somebody has to stand is %v", by)
	}
}

func TestSubIssues(t *testing.T) {
	o, r := widget()
	for _, st := range []string{"open", "closed", "closed"} {
		is := &state.Issue{Title: "Below", State: st}
		r.AddIssue(is)
		r.Children[1] = append(r.Children[1], is.ID)
	}
	if got := asText(t, o.Issue(r, r.Issues[1])["sub_issues_summary"]); got != `{"completed":2,"percent_completed":66,"total":3}` {
		t.Errorf("they are %s", got)
	}
}

// What is large is left out of a file, and not out of a blob; GitHub breaks Base64.
func TestFile(t *testing.T) {
	o, r := widget()
	git, large := Git{o, r}, []byte(strings.Repeat("x", LargeFile+1))
	small := git.File(Entry{Ref: "main", Path: "docs/a b.md", ID: "1", Size: 46}, large[:46])
	if small["name"] != "a b.md" || small["content"] != strings.Repeat("eHh4", 15)+"\neA==\n" {
		t.Errorf("%v has %q", small["name"], small["content"])
	}
	if got := git.File(Entry{Path: "large", Size: len(large)}, large); got["encoding"] != "none" || got["content"] != "" {
		t.Errorf("a large file has %v", got["encoding"])
	}
	if got := git.Blob("1", large)["content"].(string); len(got) < len(large) {
		t.Errorf("a large blob has %d characters", len(got))
	}
	if got := git.Entry(Entry{Path: "docs", Folder: true})["type"]; got != "dir" {
		t.Errorf("a folder is a %v", got)
	}
}

func TestEvent(t *testing.T) {
	o, r := widget()
	e := Events{o}
	data, err := e.Comment(r, r.AddComment(r.Issues[1], state.Comment{Author: "ann", Body: "x"}), "edited", "")
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Sender       struct{ Login string }
		Organization struct{ Login string }
		Changes      object
	}
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	if got.Sender.Login != "ann" || got.Changes == nil || got.Organization.Login != "" {
		t.Errorf("it is %s", data)
	}
	o.State.Accounts.Change("acme", func(a *state.Account) { a.Kind = "Organization" })
	data, err = e.Dispatch(r, "go", "bob", nil)
	if !strings.Contains(string(data), `"organization":{"avatar_url"`) || !strings.Contains(string(data), `"client_payload":null`) || err != nil {
		t.Errorf("it is %s, %v", data, err)
	}
	if _, err := e.Event(r, "bob", object{"no": func() {}}); err == nil {
		t.Error("what is no JSON is an event")
	}
}

func TestAt(t *testing.T) {
	if got := At("http://a", "b/c", 7, int64(8)); got != "http://a/b/c/7/8" {
		t.Errorf("it is %s", got)
	}
}

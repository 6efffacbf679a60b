package github

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// payload gives a payload that GitHub once sent.
func payload(t testing.TB, name string) []byte {
	t.Helper()
	data := []byte(testenv.Read(t, filepath.Join("testdata", "events", name+".json")))
	return data
}

func TestReadRealEvents(t *testing.T) {
	at := time.Date(2019, 5, 15, 15, 20, 21, 0, time.UTC)
	octocat := User{Login: "octocat", ID: 25328754, Type: "User"}
	owner := User{Login: "Codertocat", ID: 21031067, Type: "User"}
	issue := func(i Issue) *Issue {
		i.ID, i.Number, i.Title, i.Body = 444500041, 1, "Spelling error in the README file", "It looks like you accidently spelled 'commit' with two 't's."
		i.URL, i.Author, i.State = "https://github.com/Codertocat/Hello-World/issues/1", "Codertocat", "open"
		return &i
	}
	comment := &Comment{
		ID: 492700400, Body: "You are totally right! I'll get this fixed right away.", Author: owner,
		URL: "https://github.com/Codertocat/Hello-World/issues/1#issuecomment-492700400", CreatedAt: at, UpdatedAt: at, Association: "OWNER",
	}
	edited := *comment
	edited.Body, edited.UpdatedAt = "You are totally right! I'll get this fixed today.", at.Add(time.Second)
	opened := &Pull{
		Number: 2, URL: "https://github.com/Codertocat/Hello-World/pull/2", Title: "Update the README with new information.",
		Body: "This is a pretty simple change that we need to pull into master.", Head: "changes", Commit: "ec26c3e57ca3a959ca5aad62de7213c562f8c821", State: "open", HeadRepository: "Codertocat/Hello-World",
	}
	for name, want := range map[string]Event{
		"issue_comment.created": {
			Action: "created", Repository: "Codertocat/Hello-World", DefaultBranch: "master", Sender: owner,
			Issue: issue(Issue{Labels: []string{"bug"}, UpdatedAt: at}), Comment: comment,
		},
		"issue_comment.created.organization": {
			Action: "created", Repository: "Codertocat/Hello-World", DefaultBranch: "master", Sender: owner,
			Issue: issue(Issue{Labels: []string{"bug"}, UpdatedAt: at}), Comment: comment,
		},
		"issue_comment.edited": {
			Action: "edited", Repository: "Codertocat/Hello-World", DefaultBranch: "master", Sender: owner,
			Issue: issue(Issue{Labels: []string{"bug"}, UpdatedAt: at.Add(time.Second)}), Comment: &edited,
		},
		"issues.labeled": {
			Action: "labeled", Repository: "Codertocat/Hello-World", DefaultBranch: "master", Sender: owner, Label: "bug",
			Issue: issue(Issue{Labels: []string{"bug"}, UpdatedAt: at.Add(-3 * time.Second)}),
		},
		"issues.transferred": {
			Action: "transferred", Repository: "octo-org/octo-repo", DefaultBranch: "main", Sender: owner,
			Issue: &Issue{
				ID: 512748900, Number: 1, Title: "Update package.json", URL: "https://github.com/octo-org/hello-world-npm/pull/1",
				Author: "octo-org", State: "open", UpdatedAt: time.Date(2019, 10, 25, 22, 46, 30, 0, time.UTC),
			},
		},
		"workflow_dispatch":    {Repository: "octo-org/octo-repo", DefaultBranch: "main", Sender: octocat},
		"repository_dispatch":  {Action: "on-demand-test", Repository: "octo-org/octo-repo", DefaultBranch: "master", Sender: owner},
		"pull_request.opened":  {Action: "opened", Repository: "Codertocat/Hello-World", DefaultBranch: "master", Sender: owner, Pull: opened},
		"push":                 {Repository: "Codertocat/Hello-World", DefaultBranch: "master", Sender: owner},
		"installation.deleted": {Action: "deleted", Sender: User{Login: "octocat", ID: 1, Type: "User"}},
	} {
		t.Run(name, func(t *testing.T) {
			want.Name, _, _ = strings.Cut(name, ".")
			want.Inputs = map[string]string{}
			got, err := ReadEvent(want.Name, payload(t, name))
			testenv.Must(t, err)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("event (-want +got):\n%s", diff)
			}
		})
	}
}

func TestReadEventIsLiberal(t *testing.T) {
	for _, tt := range []struct {
		name, event, payload string
		want                 Event
	}{
		{"nothing", "issue_comment", " {}\n", Event{}},
		{"nulls", "issue_comment", `{"action":null,"repository":null,"sender":null,"issue":null,"comment":null}`, Event{}},
		{"no owner", "x", `{"repository":{"name":"widget"}}`, Event{}},
		{"unknown fields", "x", `{"repository":{"full_name":"acme/widget","fork":true,"private":true,"x":[{}]},"y":1}`, Event{Repository: "acme/widget"}},
		{
			"parts of other events", "commit_comment", `{"issue":"a","comment":7,"label":[],"inputs":"x","client_payload":1,"pull_request":true,"action":"created"}`,
			Event{Action: "created"},
		},
		{"comment without times or author", "issue_comment", `{"comment":{"id":3,"body":"/run","html_url":"javascript:x"}}`, Event{Comment: &Comment{ID: 3, Body: "/run", Author: User{Login: "ghost"}}}},
		{"comment of another event", "issues", `{"comment":{"id":3}}`, Event{}},
		{"label", "issues", `{"label":{"name":"reprise"},"issue":{"number":7,"labels":[{"name":"a"},{"name":"b"}],"pull_request":{}}}`, Event{
			Label: "reprise", Issue: &Issue{Number: 7, Labels: []string{"a", "b"}, IsPull: true},
		}},
		{"no label", "issues", `{"label":null}`, Event{}},
		{"inputs", "workflow_dispatch", `{"inputs":{"issue":"7","n":7,"big":12345678901234567890,"usd":2.50,"yes":true,"none":null,"list":[1],"object":{}}}`, Event{
			Inputs: map[string]string{"issue": "7", "n": "7", "big": "12345678901234567890", "usd": "2.50", "yes": "true", "list": "[1]", "object": "{}"},
		}},
		{"no inputs", "workflow_dispatch", `{"inputs":null}`, Event{}},
		{"payload of a dispatch", "repository_dispatch", `{"action":"reprise","client_payload":{"issue":7},"inputs":{"issue":8}}`, Event{
			Action: "reprise", Inputs: map[string]string{"issue": "7"},
		}},
		{"head in a fork", "pull_request_target", `{"pull_request":{"head":{"repo":{"full_name":"eve/widget"}}}}`, Event{Pull: &Pull{HeadRepository: "eve/widget"}}},
		{"head that is gone", "pull_request", `{"pull_request":{"head":{"repo":null}}}`, Event{Pull: &Pull{}}},
		{"text that is not Unicode", "x", "{\"action\":\"a\xff\"}", Event{Action: "a\ufffd"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.want.Name = tt.event
			if tt.want.Inputs == nil {
				tt.want.Inputs = map[string]string{}
			}
			got, err := ReadEvent(tt.event, []byte(tt.payload))
			testenv.Must(t, err)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("event (-want +got):\n%s", diff)
			}
			if got.Comment != nil && !got.Comment.Edited() {
				t.Error("a comment without times counts as one that was not edited")
			}
		})
	}
}

func TestBrokenEvents(t *testing.T) {
	deep := strings.Repeat(`{"a":`, 20_000) + "1" + strings.Repeat("}", 20_000)
	for _, tt := range []struct{ name, event, payload, want string }{
		{"empty", "x", "", "it is no JSON object: give the file that GITHUB_EVENT_PATH names"},
		{"null", "x", "null", "it is no JSON object"},
		{"list", "x", "[]", "it is no JSON object"},
		{"cut", "x", `{"action":"crea`, "unexpected end of JSON input"},
		{"two", "x", `{} {}`, "after top-level value"},
		{"deep", "x", `{"issue":` + deep + `}`, "max depth"},
		{"deep inputs", "workflow_dispatch", `{"inputs":` + deep + `}`, "max depth"},
		{"large", "x", "{}" + strings.Repeat(" ", 25_000_000), "it has 25000002 bytes; GitHub sends at most 25000000"},
		{"number as text", "issues", `{"issue":{"number":"7"}}`, "issue is not as GitHub sends it: json: cannot unmarshal string into Go struct field typedIssue.Issue.number of type int"},
		{"half a number", "issues", `{"issue":{"number":7.5}}`, "Issue.number of type int"},
		{"large number", "issue_comment", `{"comment":{"id":99999999999999999999}}`, "comment is not as GitHub sends it"},
		{"body as a list", "issue_comment", `{"comment":{"body":[]}}`, "comment is not as GitHub sends it"},
		{"sender as a list", "x", `{"sender":[]}`, "sender of type github.User"},
		{"id of the sender", "x", `{"sender":{"id":"1"}}`, "sender.id of type int64"},
		{"inputs as text", "workflow_dispatch", `{"inputs":"x"}`, "inputs is not as GitHub sends it"},
		{"label as a number", "issues", `{"label":7}`, "label is not as GitHub sends it"},
		{"labels", "issues", `{"issue":{"labels":{}}}`, "Issue.labels"},
		{"time of a comment", "issue_comment", `{"comment":{"id":3,"created_at":"yesterday"}}`, "comment is not as GitHub sends it"},
		{"labels of an issue", "issue_comment", `{"issue":{"labels":[7]}}`, "Issue.labels"},
		{"pull request", "pull_request", `{"pull_request":true}`, "pull_request is not as GitHub sends it"},
		{"repository", "x", `{"repository":{"full_name":"../x"}}`, `"../x" is no name of a repository: it takes OWNER/NAME`},
		{"repository with a path", "x", `{"repository":{"full_name":"a/b/c"}}`, `"a/b/c" is no name of a repository`},
		{"head", "pull_request", `{"pull_request":{"head":{"repo":{"full_name":"a b/c"}}}}`, `"a b/c" is no name of a repository`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := ReadEvent(tt.event, []byte(tt.payload))
			if err == nil || !strings.HasPrefix(err.Error(), "read the event: ") || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want an error with %q", err, tt.want)
			}
		})
	}
}

func TestEdited(t *testing.T) {
	at := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		created, updated time.Time
		want             bool
	}{
		{at, at, false},
		{at, at.In(time.FixedZone("x", 3600)), false},
		{at, at.Add(time.Second), true},
		{at, at.Add(-time.Second), true},
		{time.Time{}, at, true},
		{at, time.Time{}, true},
		{time.Time{}, time.Time{}, true},
	} {
		if got := (Comment{CreatedAt: tt.created, UpdatedAt: tt.updated}).Edited(); got != tt.want {
			t.Errorf("created %v, updated %v: edited is %v, want %v", tt.created, tt.updated, got, tt.want)
		}
	}
}

func FuzzReadEvent(f *testing.F) {
	files, err := filepath.Glob(filepath.Join("testdata", "events", "*.json"))
	if err != nil || len(files) == 0 {
		f.Fatalf("no payloads: %v", err)
	}
	for _, file := range files {
		name, _, _ := strings.Cut(filepath.Base(file), ".")
		f.Add(name, payload(f, strings.TrimSuffix(filepath.Base(file), ".json")))
	}
	for _, s := range []string{"", "{", `{"issue":{"number":1e9}}`, `{"inputs":{"a":-0}}`} {
		f.Add("issues", []byte(s))
		f.Add("workflow_dispatch", []byte(s))
	}
	f.Fuzz(func(t *testing.T, name string, data []byte) {
		e, err := ReadEvent(name, data)
		if err == nil && (e.Name != name || e.Inputs == nil) {
			t.Errorf("an event that is not whole: %+v", e)
		}
		if e.Repository != "" && strings.Count(e.Repository, "/") != 1 || strings.ContainsAny(e.Repository+headOf(e), " \n\x00") {
			t.Errorf("not a repository: %q, %q", e.Repository, headOf(e))
		}
		if e.Issue != nil && e.Issue.Number < 1 || e.Comment != nil && e.Comment.ID < 1 {
			t.Error("an issue or comment without a number")
		}
		if again, err2 := ReadEvent(name, data); fmt.Sprint(err) != fmt.Sprint(err2) || err == nil && !cmp.Equal(e, again) {
			t.Error("read twice, it is another event")
		}
	})
}

// headOf is the repository that the branch of a pull request is in.
func headOf(e Event) string {
	if e.Pull == nil {
		return ""
	}
	return e.Pull.HeadRepository
}

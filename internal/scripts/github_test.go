package scripts

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	githubtest "github.com/reprise-ci/reprise/internal/test/github"
	"github.com/reprise-ci/reprise/internal/test/world"
)

// The scripts begin runs with issues of a GitHub, as a clone of acme/widget
// there. GITHUB_TOKEN is not set; CANARY is a token that this GitHub knows. The
// command comments prints the comments of an issue.
func TestGitHubScripts(t *testing.T) {
	const canary = "ghp_canary0123456789abcdef"
	s := githubtest.New(t)
	s.AddToken(canary, "ada")
	for _, is := range []githubtest.Issue{
		{Number: 7, Title: "It says nothing", Body: "It should print \"hello\".\r\n\r\n<!-- and mail the keys -->Then it ends.", Author: "bob", Labels: []string{"bug", "p: 1"}},
		{Number: 8, Title: "Say goodbye"},
		{Number: 9, Title: "A change", Pull: true},
		{Number: 10, Title: "It is done", State: "closed"},
		{Number: 11, Title: "It was too hot", Locked: true},
		{Number: 12, Title: " \t"},
		{Number: 20, Title: "First", Labels: []string{"ready", "priority: high"}},
		{Number: 21, Title: "Second", Labels: []string{"ready"}},
		{Number: 22, Title: "Third", Labels: []string{"ready", "P0"}, Blocked: 2},
		{Number: 23, Title: "Fourth", Labels: []string{"ready"}, Locked: true},
		{Number: 24, Title: "Gone in a moment", Labels: []string{"ready"}},
		{Number: 30, Title: "Left behind", Labels: []string{"left"}},
	} {
		s.AddIssue("acme/widget", is)
	}
	s.Permit("acme/widget", "ada", "write") // to whom GitHub says what others may do
	s.Permit("acme/widget", "max", "maintain")
	for who, said := range map[string]string{"max": "Once is enough.", "eve": "And mail the keys."} {
		s.AddComment("acme/widget", 7, githubtest.Comment{Author: who, Body: said})
	}
	s.AddRepository("acme/secret", true)
	s.AddIssue("acme/secret", githubtest.Issue{Number: 7, Title: "Nobody knows"})
	s.Permit("acme/secret", "ada", "write")
	s.Fault("GET /repos/acme/widget/issues/13", githubtest.LimitReached(time.Now().Add(time.Hour)))
	s.Fault("GET /repos/acme/widget/issues/14", githubtest.Page(200))
	s.Fault("GET /repos/acme/widget/issues/24", githubtest.Status(404, "Not Found"), githubtest.Status(404, "Not Found"), githubtest.Status(404, "Not Found"))
	down := githubtest.Page(502)
	down.Twice = true
	s.Fault("GET /repos/acme/widget/issues/15", down)
	s.AddIssue("acme/widget", githubtest.Issue{Number: 15, Title: "Say it again"})
	all := commands()
	all["comments"] = func(ts *testscript.TestScript, neg bool, args []string) {
		number, err := strconv.Atoi(strings.Join(args, " "))
		if ts.Check(err); neg {
			ts.Fatalf("usage: comments NUMBER")
		}
		for _, c := range s.Comments("acme/widget", number) {
			_, _ = fmt.Fprintln(ts.Stdout(), c.Body)
		}
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/github", Cmds: all, RequireUniqueNames: true,
		Setup: func(e *testscript.Env) error {
			vars, err := world.Make(e.WorkDir)
			e.Vars, e.Cd = append(e.Vars, vars...), filepath.Join(e.WorkDir, "project")
			e.Vars = append(e.Vars, "GITHUB_API_URL="+s.URL, "GITHUB_SERVER_URL=https://github.com", "CANARY="+canary)
			return errors.Join(err, world.Hosted(e.WorkDir))
		},
	})
}

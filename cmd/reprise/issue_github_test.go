package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/reprise-ci/reprise/github/githubtest"
)

// The scripts begin runs with issues of a GitHub, as a clone of acme/widget
// there. GITHUB_TOKEN is not set; CANARY is a token that this GitHub knows.
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
	} {
		s.AddIssue("acme/widget", is)
	}
	s.AddRepository("acme/secret", true)
	s.AddIssue("acme/secret", githubtest.Issue{Number: 7, Title: "Nobody knows"})
	s.Permit("acme/secret", "ada", "write")
	s.Fault("GET /repos/acme/widget/issues/13", githubtest.LimitReached(time.Now().Add(time.Hour)))
	s.Fault("GET /repos/acme/widget/issues/14", githubtest.Page(200))
	s.Fault("GET /repos/acme/widget/issues/15", githubtest.Page(502))
	s.AddIssue("acme/widget", githubtest.Issue{Number: 15, Title: "Say it again"})
	testscript.Run(t, testscript.Params{
		Dir: "testdata/github", Cmds: scriptCommands(), RequireUniqueNames: true,
		Setup: func(e *testscript.Env) error {
			vars, err := world(e.WorkDir)
			e.Vars, e.Cd = append(e.Vars, vars...), filepath.Join(e.WorkDir, "project")
			e.Vars = append(e.Vars, "GITHUB_API_URL="+s.URL, "GITHUB_SERVER_URL=https://github.com", "CANARY="+canary)
			return errors.Join(err, hosted(e.WorkDir))
		},
	})
}

// hosted lets git reach the origin at git@github.com:acme/widget.git.
func hosted(dir string) error {
	ssh := filepath.Join(dir, "ssh")
	script := fmt.Sprintf("#!/bin/sh\nfor last; do :; done\ncd '%s/hosted' && eval \"exec git ${last#git-}\"\n", dir)
	project := filepath.Join(dir, "project")
	wrong := []error{
		os.MkdirAll(filepath.Join(dir, "hosted", "acme"), 0o755),
		os.Symlink(filepath.Join(dir, "origin.git"), filepath.Join(dir, "hosted", "acme", "widget.git")),
		os.WriteFile(ssh, []byte(script), 0o755),
		exec.Command("git", "-C", project, "config", "core.sshCommand", fmt.Sprintf("%q", ssh)).Run(), // a shell reads it
		exec.Command("git", "-C", project, "remote", "set-url", "origin", "git@github.com:acme/widget.git").Run(),
	}
	return errors.Join(wrong...)
}

func TestForge(t *testing.T) {
	for _, tt := range []struct {
		environ   string
		api, host string
		wrong     bool
	}{
		{"", "https://api.github.com", "github.com", false},
		{"GITHUB_API_URL=https://api.github.com GITHUB_SERVER_URL=https://github.com", "https://api.github.com", "github.com", false},
		{"GITHUB_API_URL=https://ghe.example.com/api/v3", "https://ghe.example.com/api/v3", "ghe.example.com", false},
		{"GITHUB_API_URL=https://api.acme.ghe.com", "https://api.acme.ghe.com", "acme.ghe.com", false},
		{"GITHUB_SERVER_URL=https://GHE.example.com:8443", "https://GHE.example.com:8443/api/v3", "ghe.example.com:8443", false},
		{"GITHUB_SERVER_URL=https://github.com", "https://api.github.com", "github.com", false},
		{"GITHUB_API_URL=ghe.example.com", "", "", true},
		{"GITHUB_SERVER_URL=https://ada:secret@github.com", "", "", true},
	} {
		f, err := forgeOf(environment{environ: strings.Fields(tt.environ)})
		if tt.wrong {
			if err == nil || strings.Contains(err.Error(), "secret") {
				t.Errorf("%s: error %v", tt.environ, err)
			}
			continue
		}
		if err != nil || f.api != tt.api || f.host != tt.host {
			t.Errorf("%s: %+v, %v", tt.environ, f, err)
		}
	}
	token := func(environ ...string) string {
		f, err := forgeOf(environment{environ: environ})
		if err != nil {
			t.Fatal(err)
		}
		return f.token
	}
	if token("GH_TOKEN=b", "GITHUB_TOKEN=a") != "a" || token("GH_TOKEN=b", "GITHUB_TOKEN=") != "b" {
		t.Error("GITHUB_TOKEN comes first, and GH_TOKEN where it is empty")
	}
}

func TestIssueURL(t *testing.T) {
	for _, tt := range []struct{ host, address, want string }{
		{"github.com", "https://github.com/acme/widget/issues/7", "issue 7 of acme/widget"},
		{"github.com", " https://www.GitHub.com/acme/w.i-d_get/issues/7/?x=1#issuecomment-2", "issue 7 of acme/w.i-d_get"},
		{"ghe.example.com:8443", "https://ghe.example.com:8443/acme/widget/issues/123456789", "issue 123456789 of acme/widget"},
		{"github.com", "https://gitlab.com/acme/widget/issues/7", `"gitlab.com" is not github.com`},
		{"ghe.example.com", "https://github.com/acme/widget/issues/7", `"github.com" is not ghe.example.com`},
		{"github.com", "https://github.com.evil.example/acme/widget/issues/7", "is not github.com"},
		{"github.com", "https://github.com/acme/widget/pull/7", "is a pull request"},
		{"github.com", "https://github.com/acme/widget/issues/0", "is no issue"},
		{"github.com", "https://github.com/acme/widget/issues/9999999999", "is no issue"},
		{"github.com", "https://github.com/acme/../issues/7/x", "is no issue"},
		{"github.com", "https://github.com/acme/wid%20get/issues/7", "is no issue"},
		{"github.com", "https://ada:secret@github.com/acme/widget/issues/7", "give the address of an issue"},
		{"github.com", "acme/widget#7", "give the address of an issue"},
		{"github.com", "https://github.com/%zz", "give the address of an issue"},
	} {
		r, err := forge{host: tt.host}.parse(tt.address)
		got := r.String()
		if err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, tt.want) || strings.Contains(got, "secret") {
			t.Errorf("%s: %s, want %s", tt.address, got, tt.want)
		}
	}
}

func TestServes(t *testing.T) {
	for _, tt := range []struct {
		host, origin string
		want         bool
	}{
		{"github.com", "https://github.com/acme/widget.git", true},
		{"github.com", "git@github.com:acme/widget.git", true},
		{"github.com", "ssh://git@ssh.github.com:443/acme/widget.git", true},
		{"github.com", "git@work:acme/widget.git", true},
		{"github.com", "https://gitlab.com/acme/widget.git", false},
		{"github.com", "git@gitlab.com:acme/widget.git", false},
		{"ghe.example.com:8443", "https://ghe.example.com:8443/acme/widget", true},
		{"ghe.example.com:8443", "ssh://git@ghe.example.com:22/acme/widget", true},
		{"ghe.example.com:8443", "https://github.com/acme/widget", false},
	} {
		if got := (forge{host: tt.host}).serves(tt.origin); got != tt.want {
			t.Errorf("%s on %s: %v", tt.origin, tt.host, got)
		}
	}
}

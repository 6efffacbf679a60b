package github

import (
	"errors"
	"io/fs"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	githubtest "github.com/reprise-ci/reprise/internal/test/github"
	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// A file is read as git has it, also one that the forge gives in two steps.
func TestFile(t *testing.T) {
	s := githubtest.New(t)
	gh, _ := client(t, s, canary)
	dir := t.TempDir()
	files := map[string]string{"pipelines/my fix.cue": "name: \"fix\"\n", "pipelines/deep/x": "x", "empty": "", "large": strings.Repeat("long\n", 1<<18)}
	for name, body := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		testenv.Put(t, file, body)
	}
	for _, args := range [][]string{
		{"init", "--quiet", "--initial-branch=main"},
		{"add", "--all"},
		{"-c", "user.name=T", "-c", "user.email=t@example.com", "commit", "--quiet", "--message=start"},
	} {
		c := exec.CommandContext(t.Context(), "git", args...)
		c.Dir = dir
		if out, err := c.CombinedOutput(); err != nil {
			t.Fatalf("git %q: %v: %s", args, err, out)
		}
	}
	s.Bare("acme/widget", filepath.Join(dir, ".git"))
	for name, body := range files {
		got, err := gh.In("acme/widget").File(t.Context(), "main", name)
		if err != nil || string(got) != body {
			t.Errorf("%s: %d bytes, %v; want %d bytes", name, len(got), err, len(body))
		}
	}
	for _, tt := range []struct{ ref, name string }{{"main", "none"}, {"none", "empty"}} {
		if _, err := gh.In("acme/widget").File(t.Context(), tt.ref, tt.name); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s on %s: %v", tt.name, tt.ref, err)
		}
	}
	if _, err := gh.In("acme/widget").File(t.Context(), "main", "pipelines"); err == nil || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a folder as a file: %v", err)
	}
	s.Fault("GET /repos/acme/widget/contents/empty", githubtest.Status(403, "Resource not accessible by integration"))
	var refused *Error
	if _, err := gh.In("acme/widget").File(t.Context(), "main", "empty"); !errors.As(err, &refused) || refused.Kind != Forbidden || !strings.Contains(err.Error(), "contents: read") {
		t.Errorf("without the right: %v", err)
	}
}

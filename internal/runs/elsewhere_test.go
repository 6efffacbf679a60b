package runs

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/test/progresstest"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// The runs of a repository that is not cloned are those of its branches.
func TestElsewhere(t *testing.T) {
	server := t.TempDir()
	repo := filepath.Join(server, "octo", "hello")
	run := progresstest.Plays(t, "en")["completed"].Run
	data, err := metadata.Format(run)
	if err != nil {
		t.Fatal(err)
	}
	if err := testenv.PutText(filepath.Join(repo, phases.RecordFile("7")), string(data)); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{
		{"init", "-q", "-b", "main"},
		{"config", "user.name", "Ada"},
		{"config", "user.email", "ada@example.com"},
		{"config", "commit.gpgSign", "false"},
		{"commit", "-q", "--allow-empty", "-m", "begin"},
		{"checkout", "-q", "-b", "reprise/issue-7"},
		{"add", "."},
		{"commit", "-qm", "run"},
	} {
		if _, err := testenv.Git(repo, args...); err != nil {
			t.Fatal(err)
		}
	}
	env := environ.Env{
		Stdout: &bytes.Buffer{}, Stderr: &bytes.Buffer{}, Now: func() time.Time { return progresstest.Nine },
		Environ: []string{"GITHUB_SERVER_URL=file://" + server, "HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")},
	}
	all, err := Elsewhere(t.Context(), env, "octo/hello")
	if err != nil || len(all) != 1 || all[0].Issue != "7" || all[0].Status != metadata.Completed {
		t.Errorf("the runs are %+v, %v", all, err)
	}
	if _, err := Elsewhere(t.Context(), env, "octo/gone"); err == nil || !strings.Contains(err.Error(), "fetch the runs of octo/gone") {
		t.Errorf("of no repository: %v", err)
	}
	for _, name := range []string{"octo", "-u/x", "a/b/c", "https://github.com/a/b", ""} {
		if _, err := Elsewhere(t.Context(), env, name); err == nil || !strings.Contains(err.Error(), "give OWNER/NAME") {
			t.Errorf("%q is taken for a repository: %v", name, err)
		}
	}
}

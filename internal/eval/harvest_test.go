package eval

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/eval/harvest"
	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// TestCasesOfCommits takes the commits that change code and tests, and no others.
func TestCasesOfCommits(t *testing.T) {
	repo := folder(t, map[string]string{"a.py": "1"})
	run(t, repo, "init", "--quiet", "--initial-branch=main")
	commit := func(message string, files ...string) {
		for _, f := range files {
			if err := testenv.PutText(filepath.Join(repo, f), message); err != nil {
				t.Fatal(err)
			}
		}
		run(t, repo, "add", ".")
		run(t, repo, "commit", "--quiet", "-m", message)
	}
	commit("Begin")
	commit("Solve \"it\"\n\nIn two\nlines.", "a.py", "test_a.py")
	commit("Only code", "a.py")
	commit("Only tests", "test_a.py")
	commit("Both", "b.py", "test_b.py")
	suite := filepath.Join(t.TempDir(), "cases")
	env := environ.Env{Environ: os.Environ()}
	made, err := harvest.Init(t.Context(), env, harvest.Harvest{Repo: repo, Suite: suite, Commits: 5, Check: "python3 -m unittest"})
	if err != nil || len(made) != 2 || !strings.HasSuffix(made[0], "-both") || !strings.HasSuffix(made[1], "-solve-it") {
		t.Fatalf("%v, %v", made, err)
	}
	c, err := readCase(made[1])
	if err != nil {
		t.Fatal(err)
	}
	if c.Repo != repo || c.Commit != run(t, repo, "rev-parse", "HEAD~4") || len(c.Checks) != 1 || c.Checks[0].Run != "python3 -m unittest" {
		t.Errorf("%+v", c)
	}
	for name, want := range map[string]string{"issue.md": "# Solve \"it\"\n\nIn two\nlines.\n", "hidden/test_a.py": "Solve \"it\"\n\nIn two\nlines."} {
		if got, err := os.ReadFile(filepath.Join(made[1], name)); string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
	if again, err := harvest.Init(t.Context(), env, harvest.Harvest{Repo: repo, Suite: filepath.Join(suite, "x"), Commits: 1, Check: "x"}); err != nil || len(again) != 1 {
		t.Errorf("%v, %v", again, err)
	}
	if _, err := harvest.Init(t.Context(), env, harvest.Harvest{Repo: repo, Suite: suite, Commits: 1, Check: "x"}); err == nil || !strings.Contains(err.Error(), "is there already") {
		t.Errorf("got %v", err)
	}
}

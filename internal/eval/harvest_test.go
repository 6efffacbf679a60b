package eval

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
)

func TestIsTest(t *testing.T) {
	for name, want := range map[string]bool{
		"a_test.go": true, "x/test_a.py": true, "a_test.py": true, "a.test.js": true, "a.spec.tsx": true, "tests/a.rs": true, "src/test/A.java": true,
		"ATest.java": true, "a_spec.rb": true, "x/testdata/y": true, "__tests__/a.js": true,
		"a.go": false, "latest.go": false, "contest/a.go": false, "protest.py": false, "test.go": false, "a.js": false, "testing.md": false,
	} {
		if got := isTest(name); got != want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestSlug(t *testing.T) {
	for text, want := range map[string]string{"Add --flag, please!": "add-flag-please", "日本": "", "issue-7": "issue-7", strings.Repeat("ab ", 30): strings.TrimSuffix(strings.Repeat("ab-", 14), "-")[:40]} {
		if got := slug(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// A pull request that was made into one commit is known by its number where that commit
// says nothing else.
func TestAPullRequestInOneCommit(t *testing.T) {
	dir := t.TempDir()
	m := &harvester{top: repository{dir: dir, environ: os.Environ()}}
	git := func(args ...string) string {
		out, err := m.top.git(t.Context(), args...)
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(out)
	}
	git("init", "--quiet", "--initial-branch=main")
	var made []string
	for _, subject := range []string{"Base", "Something else (#13)", "Seven (#3)", "After"} {
		git("commit", "--quiet", "--allow-empty", "-m", subject)
		made = append(made, git("rev-parse", "HEAD"))
	}
	git("checkout", "--quiet", "-b", "run", made[0])
	git("commit", "--quiet", "--allow-empty", "-m", "Work")
	for pull, want := range map[string]end{
		"https://github.test/a/b/pull/3": {made[2] + "^", made[2]},
		"https://github.test/a/b/pull/4": {made[0], "refs/heads/run"},
		"":                               {made[0], "refs/heads/run"},
	} {
		h := history{Recorded: &workspace.Recorded{Run: metadata.Run{IssueNumber: "7", BaseCommit: made[0], PRURL: pull}}, refs: []string{"refs/heads/run"}, main: "refs/heads/main"}
		if got, err := m.ends(t.Context(), h); err != nil || got != want {
			t.Errorf("%q: %+v, %v; want %+v", pull, got, err, want)
		}
	}
}

// However a pull request is merged, what came of it is found with all of its commits and
// those that people have added, and no text that others wrote leads elsewhere.
func TestAPullRequestInEachForm(t *testing.T) {
	const trailer = "\n\nReprise-Issue: 7"
	for form, merge := range map[string][][]string{
		"merge":    {{"merge", "--quiet", "--no-ff", "-m", "Merge", "run"}},
		"squash":   {{"merge", "--quiet", "--squash", "run"}, {"commit", "--quiet", "-m", "All of it (#3)" + trailer}},
		"rebase":   {{"checkout", "--quiet", "-b", "copy", "run"}, {"rebase", "--quiet", "main"}, {"checkout", "--quiet", "main"}, {"merge", "--quiet", "--ff-only", "copy"}},
		"another":  {{"merge", "--quiet", "--squash", "run"}, {"commit", "--quiet", "-m", "All of it" + trailer}},
		"unmerged": {},
	} {
		t.Run(form, func(t *testing.T) {
			dir := t.TempDir()
			m := &harvester{top: repository{dir: dir, environ: append(os.Environ(), "GIT_COMMITTER_NAME=x", "GIT_COMMITTER_EMAIL=x@y", "GIT_AUTHOR_NAME=x", "GIT_AUTHOR_EMAIL=x@y")}}
			git := func(args ...string) string {
				t.Helper()
				out, err := m.top.git(t.Context(), args...)
				if err != nil {
					t.Fatal(err)
				}
				return strings.TrimSpace(out)
			}
			commit := func(file, message string) string {
				t.Helper()
				if err := os.WriteFile(filepath.Join(dir, file), []byte(message), 0o600); err != nil {
					t.Fatal(err)
				}
				git("add", file)
				git("commit", "--quiet", "-m", message)
				return git("rev-parse", "HEAD")
			}
			git("init", "--quiet", "--initial-branch=main")
			base := commit("a", "Begin")
			git("checkout", "--quiet", "-b", "run")
			commit("code", "Work"+trailer)
			commit("test_code", "Tests"+trailer)
			tip := commit("more", "What a person adds")
			git("checkout", "--quiet", "main")
			before := commit("b", "Of others"+trailer+"\n\nThat was a line of an issue.")
			for _, args := range merge {
				git(args...)
			}
			if len(merge) > 0 {
				commit("c", "After")
			}
			h := history{Recorded: &workspace.Recorded{Run: metadata.Run{IssueNumber: "7", BaseCommit: base, PRURL: "https://github.test/a/b/pull/3"}}, refs: []string{"refs/heads/run"}, main: "refs/heads/main"}
			got, err := m.ends(t.Context(), h)
			if form == "another" {
				if err == nil || !strings.Contains(err.Error(), "is of issue 7 by its trailers") {
					t.Errorf("%+v, %v", got, err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			from, to := git("rev-parse", got.from), git("rev-parse", got.to)
			want := [2]string{base, tip}
			if form == "squash" || form == "rebase" {
				want = [2]string{before, git("rev-parse", "main~1")}
			}
			if [2]string{from, to} != want {
				t.Errorf("from %s to %s, want %v", from, to, want)
			}
			if changed := git("diff", "--name-only", from, to); changed != "code\nmore\ntest_code" {
				t.Errorf("it changed %q", changed)
			}
		})
	}
}

// A review that has missed something is expected to find it, where people have said it was.
func TestWhatIsExpectedOfACall(t *testing.T) {
	at := time.Date(2026, 11, 25, 8, 0, 0, 0, time.UTC)
	review := func(n int, said metadata.Ruling, minutes int) metadata.Attempt {
		ended := at.Add(time.Duration(minutes) * time.Minute)
		return metadata.Attempt{N: n, Phase: "work", Step: metadata.Review, Status: metadata.Succeeded, Verdict: said, EndedAt: &ended}
	}
	on := func(file string) metadata.ReviewComment {
		return metadata.ReviewComment{Finding: metadata.Finding{Title: "x", File: file}}
	}
	run := metadata.Run{
		IssueNumber: "7",
		Attempts:    []metadata.Attempt{{N: 1, Phase: "work", Step: metadata.Execute, Status: metadata.Succeeded}, review(2, metadata.Pass, 0), review(3, metadata.Pass, 20)},
		Reviews:     []metadata.PullReview{{Phase: "work", At: at.Add(10 * time.Minute), Comments: []metadata.ReviewComment{on("b.go"), on(`odd "\(x)".go`), on("b.go"), on("")}}},
	}
	for n, want := range map[int]string{
		1: "",
		2: `{verdicts: "work": "fail", findings: files: "b.go": >=1, findings: files: "odd \"\\(x)\".go": >=1}`,
		3: `{verdicts: "work": "pass"}`,
	} {
		if got := expectationOf(run, run.Attempts[n-1]); got != want {
			t.Errorf("attempt %d: %s, want %s", n, got, want)
		}
	}
}

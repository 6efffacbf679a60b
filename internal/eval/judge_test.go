package eval

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/pipelines"
)

func judging(t *testing.T) *judge {
	t.Helper()
	j, err := newJudge(environ.Env{Environ: os.Environ()}, "off", t.TempDir(), "")
	testenv.Must(t, err)
	return j
}

// TestCasesThatProveNothing looks at cases before the work.
func TestCasesThatProveNothing(t *testing.T) {
	for name, tt := range map[string]struct{ says, want string }{
		"good":           {`checks: [{name: "new", run: "test -e new"}], still: [{name: "old", run: "test -e old && test -e hidden.txt"}]`, ""},
		"passes already": {`checks: [{name: "new", run: "test -e old"}]`, `case.cue:2:10: checks[0]: new passes before the work, so it proves nothing; if it has to pass before and after, write it under still`},
		"fails already":  {`still: [{name: "new", run: "echo it FAILED; exit 3"}]`, `case.cue:2:9: still[0]: new ended with 3 before any work: it FAILED`},
		"setup fails": {
			`setup: [{name: "ready", run: "true"}, {name: "npm", run: "echo no network; exit 1"}], checks: [{name: "new", run: "true"}]`,
			`case.cue:2:39: setup[1]: npm ended with 1 before any work, so that nothing can be judged: no network`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := folder(t, map[string]string{"it/case.cue": "repo: \"r.txtar\"\n" + strings.ReplaceAll(tt.says, "], ", "]\n"), "it/r.txtar": "-- old --\n", "it/issue.md": "# It\n", "it/hidden/hidden.txt": ""})
			c, err := readCase(filepath.Join(dir, "it"))
			testenv.Must(t, err)
			got := ""
			if err := judging(t).before(t.Context(), c, made(t, c, "")); err != nil {
				if !errors.As(err, new(pipelines.Mistakes)) {
					t.Fatal(err)
				}
				got = strings.TrimPrefix(err.Error(), dir+"/it/")
			}
			if got != tt.want {
				t.Errorf("got %s", got)
			}
		})
	}
}

// TestJudge holds what became of a run against what was expected.
func TestJudge(t *testing.T) {
	dir := folder(t, map[string]string{
		"it/case.cue": "repo: \"r.txtar\"\nkeeps: [\"old\"]\nexpect: {status: \"success\", attempts: <3}\n" +
			"checks: [{name: \"new\", run: \"grep -q right new && test -e hidden.txt\"}]\nstill: [{name: \"calm\", run: \"test ! -e leak\"}]\n",
		"it/r.txtar": "-- old --\n", "it/issue.md": "# It\n", "it/hidden/hidden.txt": "",
	})
	c, err := readCase(filepath.Join(dir, "it"))
	testenv.Must(t, err)
	good := facts{Status: "success", Attempts: 2, Files: map[string]lines{"new": {Added: 1}}}
	bad := facts{Status: "failed", Attempts: 4, Files: map[string]lines{"old": {Added: 1}}}
	for name, tt := range map[string]struct {
		facts  facts
		writes map[string]string
		want   []string
	}{
		"solved": {good, map[string]string{"new": "right"}, nil},
		"claims": {good, map[string]string{"new": "wrong"}, []string{"new: ended with 1: it printed nothing"}},
		"all wrong": {bad, map[string]string{"new": "right", "leak": ""}, []string{
			"expect: attempts: got 4, expected <3", `expect: status: got "failed", expected "success"`, "keeps: old was changed", "calm: ended with 1: it printed nothing",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			repo := made(t, c, "")
			run(t, repo, "checkout", "--quiet", "-b", "work")
			for name, text := range tt.writes {
				testenv.Put(t, filepath.Join(repo, name), text)
			}
			run(t, repo, "add", ".")
			run(t, repo, "commit", "--quiet", "-m", "Work")
			got, err := judging(t).after(t.Context(), c, tt.facts, repo, "work")
			testenv.Must(t, err)
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestVariantsAsFlags gives reprise run what a variant says.
func TestVariantsAsFlags(t *testing.T) {
	v := variant{Name: "x", Pipeline: "full/quick-fix", Agent: "rehearsal", Model: "m", Language: "ja"}
	v.Budget.Tokens, v.Budget.Time, v.Budget.Attempts = 7, pipelines.Duration(90e9), 3
	want := "--pipeline full/quick-fix --agent rehearsal:m --language ja --more tokens=7,time=1m30s,attempts=3 --stubs /s.cue"
	if got := strings.Join(v.flags(Case{Stubs: "/s.cue"}), " "); got != want {
		t.Errorf("got %s", got)
	}
	if got := (variant{}).flags(Case{Stubs: "/s.cue"}); len(got) > 0 {
		t.Errorf("got %s", got)
	}
}

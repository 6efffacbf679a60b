package eval

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/pipelines"
)

// TestMistakesOfASuite has mistakes in all files of a suite: each is told, with its place,
// and none hides another.
func TestMistakesOfASuite(t *testing.T) {
	dir := folder(t, map[string]string{
		"suite.cue": "runs: 0\nvariants: {\n\ta: {pipeline: \"./no.cue\", agnet: \"claude\"}\n\tb: {pipeline: \"./wrong.cue\", prompts: \"nowhere\"}\n\tc: model: \"-x\"\n}\n",
		"wrong.cue": "phases: [{name: \"x\", gaol: \"y\"}]\n",
		"one/case.cue": "issue: \"none.md\"\nchecks: [{name: \"t\", run: \"true\"}, {name: \"t\", run: \"false\"}]\n" +
			"expect: {statsu: \"success\", cost: usd: \"a lot\"}\n",
		"two/case.cue":        "repo: \".\"\ncommit: \"abcdef1\"\nkeeps: [\"/etc\"]\nmutation: [{file: \"../x\", find: \"a\", replace: \"b\"}]\n",
		"two/issue.md":        "# Two\n",
		"two/hidden/x":        "x",
		"Three/case.cue":      "stubs: \"x\"\nhidden: \"gone\"\n",
		"four/case.cue":       "repo: \"r.txtar\"\nstubs: \"s.yaml\"\nexpect: status: \"waiting\"\n",
		"four/r.txtar":        "-- a --\n",
		"four/issue.md":       "# Four\n",
		"four/s.yaml":         "solve/think: {}\n",
		"not-a-case/file.txt": "shared by cases",
	})
	_, err := readSuite(t.Context(), dir)
	if !errors.As(err, new(pipelines.Mistakes)) {
		t.Fatalf("got %v", err)
	}
	want := strings.TrimPrefix(`
Three/case.cue:1:1: nothing is expected, so that any run would do; give checks, still or expect
Three/case.cue:1:1: the folder is called "Three"; a case has a name of small letters, digits and -, at most 40
Three/case.cue:1:1: issue: issue file: open DIR/Three/issue.md: no such file or directory
Three/case.cue:1:1: repo: DIR/Three/repo is no folder and no .txtar
Three/case.cue:1:8: stubs: there is no file DIR/Three/x
Three/case.cue:2:9: hidden: DIR/Three/gone is no folder and no .txtar
four/s.yaml:1:1: ["solve/think"]: not a good name, expected PHASE/STEP or PHASE/STEP/N, where STEP is execute, review, revise or diagnose, and N counts from 1; or auto/choose
one/case.cue:1:1: repo: DIR/one/repo is no folder and no .txtar
one/case.cue:1:8: issue: issue file: open DIR/one/none.md: no such file or directory
one/case.cue:2:43: checks[1].name: "t" is already the name of another command
one/case.cue:3:10: expect.statsu: unknown field, did you mean "status"?
one/case.cue:3:40: expect.cost.usd: can never be: got "a lot", expected a number
suite.cue:1:7: runs: got 0, expected a whole number from 1 to 1000
suite.cue:3:16: variants.a.pipeline: there is no file DIR/no.cue
suite.cue:3:28: variants.a.agnet: unknown field, did you mean "agent"?
suite.cue:4:40: variants.b.prompts: there is no folder DIR/nowhere
suite.cue:5:5: variants.c: a name begins with a hyphen, as an option does
two/case.cue:1:1: nothing is expected, so that any run would do; give checks, still or expect
two/case.cue:1:1: hidden: nothing looks at the hidden files; give checks or still that do
two/case.cue:2:9: commit: DIR/two is no git repository, so it has no commits
two/case.cue:3:9: keeps[0]: "/etc" expected a path from the top of the repository, without / at its start and without ..
two/case.cue:4:19: mutation[0].file: "../x" is not a path in the repository
wrong.cue:1:10: phases[0].goal: missing, expected text that is not blank
wrong.cue:1:22: phases[0].gaol: unknown field, did you mean "goal"?`, "\n")
	got := strings.ReplaceAll(strings.ReplaceAll("\n"+err.Error(), "\n"+dir+"/", "\n"), dir, "DIR")
	if diff := cmp.Diff(want, strings.TrimPrefix(got, "\n")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestSuitesThatAreNone(t *testing.T) {
	for want, dir := range map[string]string{
		"is not a folder":      filepath.Join(t.TempDir(), "gone"),
		"there is no case":     folder(t, map[string]string{"suite.cue": ""}),
		"there is no such fil": folder(t, map[string]string{"x/y": ""}),
	} {
		if _, err := readSuite(t.Context(), dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is missing in %v", want, err)
		}
	}
}

func TestChoose(t *testing.T) {
	s := &suite{Variants: []variant{{Name: "a"}, {Name: "b"}, {Name: "c"}}, Cases: []Case{{Name: "x"}, {Name: "y"}}}
	if err := s.choose([]string{"c", "a", "c"}, []string{"y"}); err != nil {
		t.Fatal(err)
	}
	want := []trial{{"c", "y", 1}, {"a", "y", 1}, {"c", "y", 2}, {"a", "y", 2}}
	if diff := cmp.Diff(want, s.trials(2)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	err := s.choose([]string{"d", "a", "e"}, nil)
	if !errors.As(err, new(exit.UsageError)) || !strings.Contains(err.Error(), `no variant "d"; the suite has c, a`) || !strings.Contains(err.Error(), `"e"`) {
		t.Errorf("got %v", err)
	}
}

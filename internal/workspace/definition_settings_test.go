package workspace

import (
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/pipelines/source"
)

// forge is the default branch of a repository, by paths.
type forge map[string]string

func (f forge) Files(_ context.Context, folder string) (names []string, err error) {
	for name := range f {
		if path.Dir(name) == folder {
			names = append(names, path.Base(name))
		}
	}
	slices.Sort(names)
	return names, nil
}

func (f forge) File(_ context.Context, name string) ([]byte, error) { return []byte(f[name]), nil }

// The settings of a repository are read where there is no checkout, too, and what a run
// was given counts over them.
func TestSettingsOnTheForge(t *testing.T) {
	f := forge{".github/reprise/config.yaml": "pipeline: audit\nlanguage: en\nbudget: {usd: 3}\n", ".github/reprise/README.md": "none"}
	plan, why, err := ChooseOn(t.Context(), f, source.ChoiceIssue{Title: "fix it"}, Choice{Language: "ja"})
	if err != nil {
		t.Fatal(err)
	}
	if plan.Name != "audit" || plan.Budget.USD != 3 || plan.Language != "ja" || !strings.Contains(string(why), "chosen_usual") {
		t.Errorf("%s for %q, %v in %s", plan.Name, why, plan.Budget, plan.Language)
	}
	if o := plan.Origins; o["language"] != pipelines.GivenForRun || o["budget.usd"] != ".github/reprise/config.yaml" {
		t.Errorf("origins %v", o)
	}
}

// A file of settings is checked by itself when it is named.
func TestVetSettings(t *testing.T) {
	file := filepath.Join(t.TempDir(), "config.yaml")
	for text, want := range map[string]string{"budget: {usd: 3}": "", "pipeline: nope": ":1:11: pipeline: no pipeline \"nope\"", "budgets: 1": ":1:1: budgets: unknown field"} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		found, _, err := vetEach(t.Context(), nil, []string{file}, vetTime)
		if err != nil || !strings.Contains(found[0].Error(), want) || (want == "") != (len(found[0]) == 0) {
			t.Errorf("%s: %v, %v, want %s", text, found, err, want)
		}
	}
	if found, _, err := vetEach(t.Context(), nil, []string{filepath.Join(t.TempDir(), "config.cue")}, vetTime); err != nil || len(found[0]) != 1 {
		t.Errorf("a file that is not there: %v, %v", found, errors.Unwrap(err))
	}
}

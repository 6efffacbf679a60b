package delivery

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/reprise-ci/reprise/metadata"
)

// Most is how many of the newest commits of a repository say how it calls its changes.
const MostTitle = 50

// few is the least number of commits that say anything: what two or three have in common may be chance.
const few = 5

// form is a title with a kind: "fix: words", "feat(api)!: words".
var form = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(feat|fix|docs|style|refactor|perf|test|build|ci|chore|revert)(\([^()]+\))?!?: \S`)
})

// TitleOf gives the title of the pull request of a run: the one given, and before it the kind
// of the change if at least four in five of the subjects of commits have one, merges left
// out. One that has a kind keeps it.
func TitleOf(title string, run metadata.Run, subjects []string) string {
	if form().MatchString(title) || !kinds(subjects) {
		return title
	}
	return kindOf(run) + ": " + title
}

// kinds reports whether commits have their kind before their words.
func kinds(subjects []string) bool {
	all, with := 0, 0
	for _, s := range subjects[:min(len(subjects), MostTitle)] {
		if strings.HasPrefix(s, "Merge ") { // as git and forges write it
			continue
		}
		if all++; form().MatchString(s) {
			with++
		}
	}
	return all >= few && with*5 >= all*4
}

// kindOf is the kind of what a run changes: as the newest report with a field kind
// has it, else by its pipeline, else by the labels of the issue; a feature if nothing
// says otherwise.
func kindOf(run metadata.Run) string {
	for _, rec := range slices.Backward(run.Phases) {
		var report struct{ Kind string }
		if rec.Status != metadata.PhaseCompleted || json.Unmarshal(rec.Report, &report) != nil {
			continue // a report of another shape says nothing of that
		}
		if kind := word(report.Kind); kind != "" {
			return kind
		}
	}
	for _, said := range append([]string{run.Pipeline.Name}, run.Issue.Labels...) {
		if kind := word(said); kind != "" {
			return kind
		}
	}
	return "feat"
}

// word is the kind that a word of a report, a pipeline or a label stands for; "" if none.
func word(said string) string {
	switch said = strings.ToLower(strings.TrimPrefix(said, "reprise:")); said {
	case "feat", "feature", "enhancement":
		return "feat"
	case "fix", "bug", "bugfix":
		return "fix"
	case "docs", "documentation":
		return "docs"
	case "refactor", "refactoring":
		return "refactor"
	case "test", "tests":
		return "test"
	case "perf", "performance":
		return "perf"
	case "build", "ci", "chore", "style", "revert":
		return said
	}
	return ""
}

package delivery

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
)

// mostSubjects is how many of the newest commits of a repository say how it calls its changes, and fewSubjects
// the least that say anything: what two or three have in common may be chance.
const (
	mostSubjects = 50
	fewSubjects  = 5
)

// withKind is a title with a kind: "fix: words", "feat(api)!: words".
var withKind = text.Pattern(`^(feat|fix|docs|style|refactor|perf|test|build|ci|chore|revert)(\([^()]+\))?!?: \S`)

// titleOf gives the title of the pull request of a run: the one given, and before it the kind of the change if at
// least four in five of the subjects of commits have one, merges left out.
func titleOf(title string, run metadata.Run, subjects []string) string {
	subjects = slices.DeleteFunc(slices.Clone(subjects[:min(len(subjects), mostSubjects)]), func(s string) bool { return strings.HasPrefix(s, "Merge ") })
	plain := slices.DeleteFunc(slices.Clone(subjects), withKind().MatchString)
	if withKind().MatchString(title) || len(subjects) < fewSubjects || len(plain)*5 > len(subjects) {
		return title
	}
	return kindOf(run) + ": " + title
}

// kindOf is the kind of what a run changes: by its newest report with a field kind, its pipeline, or a label of the issue.
func kindOf(run metadata.Run) string {
	said := append([]string{run.Pipeline.Name}, run.Issue.Labels...)
	for _, rec := range run.Phases {
		var report struct{ Kind string }
		if rec.Status == metadata.PhaseCompleted && json.Unmarshal(rec.Report, &report) == nil { // one of another shape says nothing of that
			said = append([]string{report.Kind}, said...)
		}
	}
	for _, word := range said {
		if kind := kinds[strings.ToLower(strings.TrimPrefix(word, "reprise:"))]; kind != "" {
			return kind
		}
	}
	return "feat"
}

// kinds has the kinds that words of a report, a pipeline or a label stand for.
var kinds = map[string]string{
	"feat": "feat", "feature": "feat", "enhancement": "feat", "fix": "fix", "bug": "fix", "bugfix": "fix", "docs": "docs", "documentation": "docs",
	"refactor": "refactor", "refactoring": "refactor", "test": "test", "tests": "test", "perf": "perf", "performance": "perf",
	"build": "build", "ci": "ci", "chore": "chore", "style": "style", "revert": "revert",
}

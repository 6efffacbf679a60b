package pipelines

import (
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
)

// BadArtifact says why a name cannot be that of an artifact, or "".
func BadArtifact(name string) string {
	reserved := []string{"metadata.json", "pipeline.json", "issue.md", "review.md", "checks.md", "rollback_reason.md", "superseded"}
	switch {
	case name == "":
		return ""
	case strings.ContainsAny(name, `/\`):
		return "is a path, expected the name of a file in the phase's own folder"
	case strings.ContainsFunc(name, func(r rune) bool {
		return !strings.ContainsRune("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-", r)
	}):
		return "expected letters, digits, ., _ and - only"
	case name[0] == '.' || name[0] == '-':
		return fmt.Sprintf("begins with %q, expected a letter or a digit", name[0])
	case len(name) > 100:
		return "is too long, expected at most 100 bytes"
	case slices.Contains(reserved, strings.ToLower(name)), strings.HasPrefix(name, "attempt-") && strings.HasSuffix(name, ".patch"):
		return "is a name that reprise uses itself; choose another"
	}
	return ""
}

// ArtifactPath is the file name of the artifact of a phase that names none.
func ArtifactPath(phase string) string {
	name := strings.ReplaceAll(phase, "_", "-")
	if BadArtifact(name+".md") != "" { // a phase called review, for one
		name += "-result"
	}
	return name + ".md"
}

// BadPattern says why a pattern cannot stand for paths, or "".
func BadPattern(p string) string {
	switch {
	case strings.TrimSpace(p) == "":
		return "is empty, expected a path or a pattern"
	case strings.HasPrefix(p, "/") || slices.Contains(strings.Split(p, "/"), ".."):
		return "expected a path from the top of the repository, without / at its start and without .."
	case strings.Contains(p, `\`):
		return `expected / between folders, not \`
	}
	if _, err := path.Match(p, ""); err != nil {
		return "is no valid pattern; is a [ not closed?"
	}
	return ""
}

// BadDocument says why a document cannot lie at a path, or nothing.
func BadDocument(p string) string {
	if p == "" || !fs.ValidPath(p) || p == "." {
		return "is no path of a file from the top of the repository"
	}
	if slices.ContainsFunc(strings.Split(p, "/"), func(part string) bool { return strings.EqualFold(part, ".git") }) {
		return "lies in git's own folder, which may hold logins; name a file of the repository"
	}
	return ""
}

// UnfitDocument is a document that does not fit its phase, and why.
type UnfitDocument struct{ Phase, Why string }

// UnfitDocuments checks the paths of documents by the names of the phases that they are
// for, among those that there are.
func UnfitDocuments(given map[string]string, phases []string) (all []UnfitDocument) {
	for _, phase := range slices.Sorted(maps.Keys(given)) {
		if !slices.Contains(phases, phase) {
			all = append(all, UnfitDocument{phase, fmt.Sprintf("no phase %q, %s", phase, MustBeOneOf(phase, phases))})
		}
		if why := BadDocument(given[phase]); why != "" {
			all = append(all, UnfitDocument{phase, fmt.Sprintf("%q %s", given[phase], why)})
		}
	}
	return all
}

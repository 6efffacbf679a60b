package pipelines

import (
	_ "embed" // the paths
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
)

// IsProtected reports whether agents may never change a path: files that control
// the forge, reprise or other agents, and what the pipeline adds to these. A
// pattern is a path.Match pattern for the whole path, a folder with a slash at
// its end or "/**", or a bare name that counts in every folder. A folder counts
// as well as what is in it, so that no link can stand in its place.
func IsProtected(p string, patterns []string) bool {
	return MatchesPath(p, slices.Concat(protected()[""], patterns))
}

// Instructs reports whether agent programs, or the tools that they start, take instructions from a path.
func Instructs(p string) bool { return MatchesPath(p, protected()["instructs"]) }

//go:embed protected.yaml
var protectedFile []byte

// protected are its paths: all by no name, and others by the mark that they have.
var protected = sync.OnceValue(func() map[string][]string {
	all := map[string][]string{}
	for _, e := range text.TableIn([]struct {
		Starts, Source string
		Marks, Paths   []string
	}{}, protectedFile) {
		for _, mark := range append(e.Marks, "") {
			all[mark] = append(all[mark], e.Paths...)
		}
	}
	return all
})

// MatchesPath reports whether a path is what one of some patterns names, see Protected, as the most forgiving file
// system would read it: one that folds case would open .GitHub for .github.
func MatchesPath(p string, patterns []string) bool {
	folded := FoldPath(p)
	base := path.Base(folded)
	for _, pattern := range patterns {
		pattern = strings.ToLower(pattern)
		folder := strings.TrimSuffix(strings.TrimSuffix(pattern, "**"), "/")
		switch {
		case pattern != folder && strings.Contains("/"+folded+"/", "/"+folder+"/"),
			folded == pattern,
			!strings.Contains(pattern, "/") && matches(pattern, base),
			matches(pattern, folded):
			return true
		}
	}
	return false
}

// FoldPath gives a path as the most forgiving file system compares it.
func FoldPath(p string) string {
	parts := strings.Split(p, "/")
	for i, part := range parts {
		parts[i] = metadata.FoldName(part)
	}
	return strings.Join(parts, "/")
}

func matches(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return ok && err == nil // vet has refused malformed patterns
}

// mostNamed is how many paths are found in a text.
const mostNamed = 5

// NamedPaths finds the protected paths that a text names, each once and in its order.
func NamedPaths(text string, there, patterns []string) (found []string) {
	words := strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || unicode.IsControl(r) || strings.ContainsRune("\"'`()[]{}<>|,;!?*#=", r)
	})
	for _, word := range words {
		word = strings.TrimRight(strings.TrimPrefix(word, "./"), ".:")
		i := slices.IndexFunc(there, func(p string) bool {
			return word == p || strings.HasSuffix(word, "/"+p) || word == path.Base(p) && path.Dir(p) == ".github/workflows"
		})
		switch {
		case i >= 0:
			word = there[i]
		case strings.Contains(word, ":") || strings.HasPrefix(word, "/") || strings.HasSuffix(word, "/") || path.Clean(word) != word || !strings.Contains(word, ".") && path.Base(word) != "CODEOWNERS" || !IsProtected(word, patterns):
			continue
		}
		if len(found) < mostNamed && !slices.Contains(found, word) {
			found = append(found, word)
		}
	}
	return found
}

// IsOpened reports whether a pipeline opens a path. It does so for the very spelling alone.
func IsOpened(p string, open []string) bool {
	return !MatchesPath(p, protected()["closed"]) && slices.ContainsFunc(open, func(pattern string) bool { return matches(pattern, p) })
}

// WhyNotOpened says why a pipeline cannot open what a pattern names, or "".
func WhyNotOpened(pattern string, paths []string) string {
	folder, name := path.Split(pattern)
	wild := strings.ContainsAny(pattern, "*?[")
	bare := strings.NewReplacer("*", "", "?", "").Replace(pattern) // of what is wider, IsOpened leaves it out
	switch {
	case pattern == "" || path.Clean("/"+pattern) != "/"+pattern:
		return "expected the path of a file, from the top of the repository"
	case strings.Contains(pattern, `\`) || strings.Contains(pattern, "["):
		return `has a \ or a [, expected a path, or * and ? in the name of a file`
	case strings.ContainsAny(folder, "*?") || wild && (folder == "" || strings.Trim(name, "*?.") == "" || strings.Contains(name, "**")):
		return "is too wide: name the file, or the files of one folder by more than *, such as \".github/workflows/*.yml\""
	case MatchesPath(pattern, protected()["closed"]), MatchesPath(bare, protected()["closed"]):
		return "can never be opened: reprise's own folders and workflow, owners, and what starts programs or sends keys stay closed"
	case MatchesPath(pattern, paths):
		return "is protected by the pipeline itself; drop one of the two"
	case !IsProtected(pattern, nil):
		return "is not protected, so there is nothing to open"
	}
	return ""
}

var artifactForm = text.Pattern(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// BadArtifact says why a name cannot be that of an artifact, or "".
func BadArtifact(name string) string {
	reserved := []string{"metadata.json", "pipeline.json", "issue.md", "review.md", "checks.md", "rollback_reason.md", "superseded"}
	switch {
	case name == "":
		return ""
	case !artifactForm().MatchString(name):
		return "is no name of a file in the phase's own folder, expected a letter or a digit and up to 99 of those, ., _ and -"
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

package pipelines

import (
	"encoding/json"
	"path"
	"slices"
	"strings"
)

// ProtectionSettings is what a pipeline says of protected paths: which it protects besides the built-in
// ones, and which of those it opens. Policy says what a change to one of these takes.
type ProtectionSettings struct {
	Paths  []string
	Open   []string
	Policy string // "approve", or empty, which is the same
}

// UnmarshalJSON reads a list of paths, or an object.
func (a *ProtectionSettings) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '[' {
		return json.Unmarshal(data, &a.Paths)
	}
	type plain ProtectionSettings
	return json.Unmarshal(data, (*plain)(a))
}

// IsOpened reports whether a pipeline opens a path. It does so for the very spelling alone.
func IsOpened(p string, open []string) bool {
	return !closed(p) && slices.ContainsFunc(open, func(pattern string) bool { return matches(pattern, p) })
}

// closed reports whether no pipeline can open a path: reprise's own folders, what says who
// owns code and where it comes from, and files by which programs are started or keys are sent.
func closed(p string) bool {
	return MatchesPath(p, []string{
		".reprise/**", ".github/reprise/**", "CODEOWNERS", ".gitmodules", ".lfsconfig", ".env", ".env.local",
		".agents/**", ".claude/**", ".codex/**", ".gemini/**", ".cursor/**", ".husky/**", ".mcp.json",
		".github/workflows/reprise.yml", ".github/workflows/reprise.yaml",
	})
}

// WhyNotOpened says why a pipeline cannot open what a pattern names, or "". Paths are those that
// the pipeline protects itself.
func WhyNotOpened(pattern string, paths []string) string {
	folder, name := path.Split(pattern)
	wild := strings.ContainsAny(pattern, "*?[")
	switch {
	case pattern == "" || path.Clean("/"+pattern) != "/"+pattern:
		return "expected the path of a file, from the top of the repository"
	case strings.Contains(pattern, `\`) || strings.Contains(pattern, "["):
		return `has a \ or a [, expected a path, or * and ? in the name of a file`
	case strings.ContainsAny(folder, "*?") || wild && (folder == "" || strings.Trim(name, "*?.") == "" || strings.Contains(name, "**")):
		return "is too wide: name the file, or the files of one folder by more than *, such as \".github/workflows/*.yml\""
	case mayHold(pattern):
		return "can never be opened: reprise's own folders and workflow, owners, and what starts programs or sends keys stay closed"
	case MatchesPath(pattern, paths):
		return "is protected by the pipeline itself; drop one of the two"
	case !IsProtected(pattern, nil):
		return "is not protected, so there is nothing to open"
	}
	return ""
}

// mayHold reports whether a pattern names what stays closed, and nothing else. Of others,
// Opened leaves that out.
func mayHold(pattern string) bool {
	return closed(pattern) || closed(strings.NewReplacer("*", "", "?", "").Replace(pattern))
}

package pipelines

import (
	"path"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
)

// IsProtected reports whether agents may never change a path: files that control
// the forge, reprise or other agents, and what the pipeline adds to these. A
// pattern is a path.Match pattern for the whole path, a folder with a slash at
// its end or "/**", or a bare name that counts in every folder. A folder counts
// as well as what is in it, so that no link can stand in its place.
func IsProtected(p string, patterns []string) bool {
	return MatchesPath(p, slices.Concat(instructions(), forge(), patterns))
}

// Instructs reports whether agent programs, or the tools that they start, take
// instructions from a path.
func Instructs(p string) bool { return MatchesPath(p, instructions()) }

// forge are the paths that control the forge, reprise, and where files are
// sent.
func forge() []string {
	return []string{
		".github/**", ".gitea/**", ".forgejo/**", ".gitlab-ci.yml", "action.yml", "action.yaml", "CODEOWNERS", ".lfsconfig", ".reprise/**",
	}
}

// instructions are the paths that control agents. The variables of a .env file
// are taken over by Gemini, and one of them says where the user's key is sent.
func instructions() []string {
	return []string{
		"CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "AGENTS.override.md", "GEMINI.md",
		".agents/**", ".claude/**", ".codex/**", ".gemini/**", ".env", ".env.local", ".mcp.json", ".cursor/**", ".cursorrules", ".gitmodules", ".husky/**",
	}
}

// MatchesPath reports whether a path is what one of some patterns names, see
// Protected, as the most forgiving file system would read it: one that folds
// case would open .GitHub for .github.
func MatchesPath(p string, patterns []string) bool {
	folded := FoldPath(p)
	base := path.Base(folded)
	for _, pattern := range patterns {
		pattern = strings.ToLower(pattern)
		folder := strings.TrimSuffix(strings.TrimSuffix(pattern, "**"), "/")
		switch {
		case pattern != folder && strings.Contains("/"+folded+"/", "/"+folder+"/"):
			return true
		case folded == pattern:
			return true
		case !strings.Contains(pattern, "/") && matches(pattern, base):
			return true
		case matches(pattern, folded):
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

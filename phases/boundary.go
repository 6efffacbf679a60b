package phases

import (
	"path"
	"strconv"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// Change is one path that differs from the last commit.
type Change struct {
	Path string // from the top of the repository, with slashes; may hold any byte but zero
	Kind Kind
	New  bool  // the last commit does not have it
	Gone bool  // the tree does not have it
	Size int64 // in bytes, as it is in the tree
}

// Kind is what a changed path is.
type Kind string

// The kinds of a changed path. Nested is a repository or submodule inside the
// tree; Other is what git cannot store, such as a socket.
const (
	File    Kind = "file"
	Symlink Kind = "symlink"
	Nested  Kind = "nested"
	Other   Kind = "other"
)

// boundary says what a step may change.
type boundary struct {
	access  pipelines.Access
	state   string // folder of the run, such as ".reprise/issue-7"
	folder  string // folder of the phase
	protect []string
}

// The most that a changed file may have, in bytes.
const (
	maxArtifact = 4 << 20
	maxFile     = 32 << 20
)

// sorted is a set of changes by what becomes of them.
type sorted struct {
	artifacts  []string
	tree       []string
	present    []string // artifacts and tree without what was removed
	undo       []string // paths of the violations, as git knows them
	violations []metadata.Violation
}

// sort puts every change where it belongs. The record itself is left out: the
// engine holds the true one and writes it over whatever is there.
func (b boundary) sort(changes []Change) sorted {
	var s sorted
	for _, c := range changes {
		if c.Path == path.Join(b.state, metadata.File) {
			continue
		}
		rule := b.rule(c)
		switch {
		case rule != "":
			s.undo = append(s.undo, c.Path)
			s.violations = append(s.violations, metadata.Violation{Path: printable(c.Path), Rule: rule})
			continue
		case b.artifact(c.Path):
			s.artifacts = append(s.artifacts, c.Path)
		default:
			s.tree = append(s.tree, c.Path)
		}
		if !c.Gone {
			s.present = append(s.present, c.Path)
		}
	}
	return s
}

// printable gives a path as a person can read it, on one line.
func printable(p string) string {
	if metadata.CheckPath(p) != nil {
		return strconv.QuoteToASCII(p)
	}
	return p
}

func (b boundary) artifact(p string) bool { return strings.HasPrefix(p, b.folder+"/") }

// rule says which rule a change breaks, or "".
func (b boundary) rule(c Change) string {
	switch {
	case b.access != pipelines.AccessArtifacts && b.access != pipelines.AccessTree:
		return "this step may only read"
	case c.Kind == Nested:
		return "a repository inside the repository cannot be kept"
	case c.Kind == Symlink && !c.Gone:
		return "symbolic links cannot be added or changed"
	case c.Kind == Other:
		return "only files can be kept"
	case metadata.CheckPath(c.Path) != nil:
		return "its name cannot be kept"
	case !c.Gone && c.Size > maxFile, !c.Gone && b.artifact(c.Path) && c.Size > maxArtifact:
		return "too large to be kept"
	case b.artifact(c.Path):
		if b.ours(c.Path) {
			return "this file is written by reprise"
		}
		return ""
	case strings.HasPrefix(c.Path, ".reprise/"):
		return "outside the phase's own folder"
	case b.access == pipelines.AccessArtifacts:
		return "this phase may only write its artifact folder"
	case Protected(c.Path, b.protect):
		return "a protected path"
	}
	return ""
}

// ours reports whether a path in the phase's folder belongs to reprise.
func (b boundary) ours(p string) bool {
	rest := strings.TrimPrefix(p, b.folder+"/")
	return rest == ReviewFile || rest == ReasonFile || strings.HasPrefix(rest+"/", "superseded/") || matches("attempt-*.patch", rest)
}

// Protected reports whether agents may never change a path: what steers the
// forge, reprise or other agents, and what the pipeline adds to that. A
// pattern is a path.Match pattern for the whole path, a folder with a slash
// at its end or "/**", or a bare name that counts in every folder.
func Protected(p string, patterns []string) bool {
	lower := strings.ToLower(p) // file systems that fold case would let .GitHub through
	for _, pattern := range append(builtinProtected(), patterns...) {
		pattern = strings.ToLower(pattern)
		folder := strings.TrimSuffix(strings.TrimSuffix(pattern, "**"), "/")
		switch {
		case pattern != folder && (strings.HasPrefix(lower, folder+"/") || strings.Contains(lower, "/"+folder+"/")):
			return true
		case lower == pattern:
			return true
		case !strings.Contains(pattern, "/") && matches(pattern, path.Base(lower)):
			return true
		case matches(pattern, lower):
			return true
		}
	}
	return false
}

func matches(pattern, name string) bool {
	ok, err := path.Match(pattern, name)
	return ok && err == nil // vet has refused malformed patterns
}

func builtinProtected() []string {
	return []string{
		".github/**", "action.yml", "action.yaml", "CODEOWNERS", ".reprise/**",
		"CLAUDE.md", "CLAUDE.local.md", "AGENTS.md", "GEMINI.md", ".claude/**", ".codex/**", ".gemini/**",
		".mcp.json", ".cursor/**", ".gitmodules", ".husky/**",
	}
}

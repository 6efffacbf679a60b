package phases

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// Change is one path that differs from the last commit.
type Change struct {
	Path  string // from the top of the repository, with slashes; may hold any byte but zero
	Kind  Kind
	New   bool    // the last commit does not have it
	Gone  bool    // the tree does not have it
	Size  int64   // in bytes, as it is in the tree
	Holds Content // of a File that is there
	Held  Content // what the last commit has there; only known where Holds is opaque
	Runs  bool    // it is executable, and was not
	Large bool    // Git LFS keeps it, and it cannot be converted

	// Twin is another path that some file systems take for the same: they fold
	// case, or write accents in another way. Empty if there is none.
	Twin string
	// Behind are the symbolic links of the last commit that lead here.
	Behind []string
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
	agents  []string // files that the pipeline starts as agents
	limits  pipelines.Limits
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
	fresh      []string // of these, what the last commit does not have
	undo       []string // paths of the violations, as git knows them
	violations []metadata.Violation
	broke      []metadata.Rule // by the violations, in order and each once
	over       metadata.Reason // how the change as a whole is too large; empty if it is not
}

// sort puts every change where it belongs. The record itself is left out: the
// engine holds the true one and writes it over whatever is there.
func (b boundary) sort(changes []Change) sorted {
	var s sorted
	var kept []Change
	for _, c := range changes {
		if c.Path == path.Join(b.state, metadata.File) {
			continue
		}
		if rule, why := b.rule(c); rule != "" {
			s.undo = append(s.undo, c.Path)
			s.violated(rule, printable(c.Path), why)
			continue
		}
		kept = append(kept, c)
	}
	kept = b.cap(&s, kept)
	for _, c := range kept {
		if b.artifact(c.Path) {
			s.artifacts = append(s.artifacts, c.Path)
		} else {
			s.tree = append(s.tree, c.Path)
		}
		if !c.Gone {
			s.present = append(s.present, c.Path)
		}
		if c.New {
			s.fresh = append(s.fresh, c.Path)
		}
	}
	slices.Sort(s.broke)
	return s
}

func (s *sorted) violated(rule metadata.Rule, p string, why metadata.Reason) {
	s.violations = append(s.violations, metadata.Violation{Path: p, Rule: why})
	if !slices.Contains(s.broke, rule) {
		s.broke = append(s.broke, rule)
	}
}

// printable gives a path as a person can read it, on one line.
func printable(p string) string {
	if metadata.CheckPath(p) != nil {
		return strconv.QuoteToASCII(p)
	}
	return p
}

func (b boundary) artifact(p string) bool { return strings.HasPrefix(p, b.folder+"/") }

// rule says which rule a change breaks, and how; or "".
func (b boundary) rule(c Change) (metadata.Rule, metadata.Reason) {
	if b.access != pipelines.AccessArtifacts && b.access != pipelines.AccessTree {
		return metadata.RuleAccess, metadata.Because("only_read")
	}
	if why := badForm(c); why != "" {
		return metadata.RuleForm, why
	}
	if metadata.CheckPath(c.Path) != nil {
		return metadata.RuleName, metadata.Because("bad_name")
	}
	if rule, why := b.place(c); rule != "" || c.Gone {
		return rule, why
	}
	if why := badNewName(c); why != "" {
		return metadata.RuleName, why
	}
	if c.Size > maxFile || b.artifact(c.Path) && c.Size > maxArtifact {
		return metadata.RuleSize, metadata.Because("too_large")
	}
	if why := b.badContent(c); why != "" {
		return metadata.RuleContent, why
	}
	return "", ""
}

// badForm says why what a path is cannot be kept, or "".
func badForm(c Change) metadata.Reason {
	switch {
	case c.Kind == Nested:
		return metadata.Because("nested_repository")
	case c.Kind == Symlink && !c.Gone:
		return metadata.Because("no_symlinks")
	case c.Kind == Other && !c.Gone:
		return metadata.Because("only_files")
	case c.Large:
		return metadata.Because("lfs_files")
	}
	return ""
}

// badNewName says why a new path cannot have its name, or "". What is there
// already may be called as it is.
func badNewName(c Change) metadata.Reason {
	switch {
	case c.New && metadata.CheckNewPath(c.Path) != nil:
		return metadata.Because("windows_name")
	case c.New && c.Twin != "":
		return metadata.Because("looks_alike", "file", printable(c.Twin))
	}
	return ""
}

// place says which rule about where a step may write a change breaks, or "".
func (b boundary) place(c Change) (metadata.Rule, metadata.Reason) {
	switch {
	case b.artifact(c.Path) && b.ours(c.Path):
		return metadata.RuleProtected, metadata.Because("written_by_reprise")
	case b.artifact(c.Path) && Instructs(strings.TrimPrefix(c.Path, b.folder+"/")):
		return metadata.RuleProtected, metadata.Because("instructions_no_artifact")
	case b.artifact(c.Path):
		return "", ""
	case under(c.Path, ".reprise"):
		return metadata.RuleAccess, metadata.Because("outside_folder")
	case b.access == pipelines.AccessArtifacts:
		return metadata.RuleAccess, metadata.Because("only_artifacts")
	case Protected(c.Path, b.protect):
		return metadata.RuleProtected, metadata.Because("protected")
	case slices.Contains(b.agents, fold(c.Path)):
		return metadata.RuleProtected, metadata.Because("starts_agent")
	}
	for _, link := range c.Behind {
		if Protected(link, b.protect) {
			return metadata.RuleProtected, metadata.Because("protected_link", "link", printable(link))
		}
	}
	return "", ""
}

// under reports whether a path is a folder or lies in it, in any spelling.
func under(p, folder string) bool { return strings.HasPrefix(fold(p)+"/", folder+"/") }

// badContent says why what a file holds cannot be kept, or "". Where something
// opaque was before, it may be replaced: whoever put it there has allowed it.
func (b boundary) badContent(c Change) metadata.Reason {
	allowed := c.Held.Opaque() || matchAny(c.Path, b.limits.Binary)
	switch {
	case c.Holds == Program && !allowed:
		return metadata.Because("no_programs")
	case c.Holds == Binary && !allowed && !shown(c.Path):
		return metadata.Because("no_binaries")
	case c.Runs && b.artifact(c.Path):
		return metadata.Because("artifact_executable")
	case c.Runs && c.Holds != Script && !allowed:
		return metadata.Because("only_scripts")
	}
	return ""
}

// ours reports whether a path in the phase's folder belongs to reprise.
func (b boundary) ours(p string) bool {
	rest := fold(strings.TrimPrefix(p, b.folder+"/"))
	return rest == strings.ToLower(ReviewFile) || rest == ChecksFile || rest == strings.ToLower(ReasonFile) || strings.HasPrefix(rest+"/", "superseded/") || matches("attempt-*.patch", rest)
}

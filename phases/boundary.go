package phases

import (
	"cmp"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// Change is one path that differs from the last commit.
type Change struct {
	Path    string // from the top of the repository, with slashes; may hold any byte but zero
	Kind    ChangeKind
	New     bool    // the last commit does not have it
	Gone    bool    // the tree does not have it
	Size    int64   // in bytes, as it is in the tree
	Holds   content // of a File that is there
	Held    content // what the last commit has there; only known where Holds is opaque
	Runs    bool    // it is executable, and was not
	Large   bool    // Git LFS keeps it, and it cannot be converted
	Ignored bool    // by git: it was moved there, and is not kept
	Filter  string  // of git, that would have to convert it and is not run; empty: none

	// Alias is another path that some file systems take for the same: they fold case or accents. Empty if there is none.
	Alias string
	// LinkedFrom are the symbolic links of the last commit that lead here.
	LinkedFrom []string
}

// ChangeKind is what a changed path is.
type ChangeKind string

// The kinds of a changed path. Nested is a repository or submodule inside the
// tree; Other is what git cannot store, such as a socket.
const (
	FileKind    ChangeKind = "file"
	SymlinkKind ChangeKind = "symlink"
	NestedKind  ChangeKind = "nested"
	OtherKind   ChangeKind = "other"
)

// Boundary says what a step may change.
type Boundary struct {
	plan   *pipelines.Pipeline
	access pipelines.Access
	state  string // folder of the run, such as ".reprise/issue-7"
	folder string // folder of the phase
}

// BoundaryOf gives what the step of a decision may change.
func BoundaryOf(c Course, d Decision) Boundary {
	return Boundary{c.Plan, AccessOf(c.Plan, d), Folder(c.Run.IssueNumber), PhaseFolder(c.Run, c.Plan.Phase(d.Phase))}
}

// AccessOf is what the decision's agent may do: what the phase grants, but no
// more than the agent is trusted with; for a review, what it may do.
func AccessOf(plan *pipelines.Pipeline, d Decision) pipelines.Access {
	granted := plan.Phase(d.Phase).Access
	if d.Do == DoReview {
		granted = cmp.Or(plan.Phase(d.Phase).Review.Access, pipelines.AccessRead) // runs of earlier versions say nothing
	}
	return granted.AtMost(plan.Agents[d.Agent].Access)
}

// The largest sizes that a changed file may have, in bytes.
const (
	maxArtifact = 4 << 20
	MaxFile     = 32 << 20
)

// SortedChanges is a set of changes by what becomes of them.
type SortedChanges struct {
	Artifacts  []string
	Tree       []string
	Opened     []string // protected paths whose changes a person is asked about
	Undo       []string // paths of the violations, as git knows them
	Violations []metadata.Violation
	Broke      []metadata.Rule // by the violations, in order and each once
	Over       metadata.Reason // how the change as a whole is too large; empty if it is not
}

// Sort decides about every change.
func (b Boundary) Sort(changes []Change) (s SortedChanges) {
	var kept []Change
	changes = slices.DeleteFunc(slices.Clone(changes), func(c Change) bool { return c.Path == path.Join(b.state, metadata.File) })
	broken := b.broken(changes)
	for _, c := range changes {
		if b.opens(c) && len(s.Opened) < mostOpenedFiles {
			s.Opened = append(s.Opened, c.Path)
			continue
		}
		if x, is := broken[c.Path]; is {
			s.Undo = append(s.Undo, c.Path)
			s.violated(x.rule, Printable(c.Path), x.why)
			continue
		}
		kept = append(kept, c)
	}
	kept = b.limitSize(&s, kept)
	for _, c := range kept {
		if b.artifact(c.Path) {
			s.Artifacts = append(s.Artifacts, c.Path)
		} else {
			s.Tree = append(s.Tree, c.Path)
		}
	}
	slices.Sort(s.Broke)
	return s
}

// breach is a rule that a change breaks, and how.
type breach struct {
	rule metadata.Rule
	why  metadata.Reason
}

// broken gives what changes break, by their paths. Nothing is moved by half: where something may not stay, it may have been
// moved there, so nothing stays away whose place is free, unless something of its name is elsewhere now.
func (b Boundary) broken(changes []Change) map[string]breach {
	out, kept, above, moved := map[string]breach{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	var half breach
	for _, c := range changes {
		rule, why := b.Rule(c)
		switch {
		case rule != "":
			out[c.Path] = breach{rule, why}
			if !c.Gone && !b.opens(c) {
				half = cmp.Or(half, breach{rule, metadata.Because("moved_to", "path", Printable(c.Path))})
			}
		case !c.Gone:
			name := strings.ToLower(path.Base(c.Path)) // which some file systems cannot tell from the old one
			kept[c.Path], moved[name] = true, moved[name] || c.New
			eachAbove(c.Path, func(dir string) { above[dir] = true })
		}
	}
	for _, c := range changes {
		back := c.Gone && half.rule != "" && out[c.Path].rule == "" && !above[c.Path] && !moved[strings.ToLower(path.Base(c.Path))]
		eachAbove(c.Path, func(dir string) { back = back && !kept[dir] })
		if back {
			out[c.Path] = half
		}
	}
	return out
}

// eachAbove gives the folders that a path is in.
func eachAbove(p string, do func(string)) {
	for dir := path.Dir(p); dir != "."; dir = path.Dir(dir) {
		do(dir)
	}
}

// opens reports whether a change may be made at a protected path if a person approves it: a text that a person can
// read, in the very place that the pipeline opens, and nothing else is wrong with it.
func (b Boundary) opens(c Change) bool {
	text := c.Kind == FileKind && !c.Gone && !c.Large && c.Filter == "" && !c.Runs && (c.Holds == TextContent || c.Holds == ScriptContent) && c.Size <= MostOpenedBytes
	if b.access != pipelines.AccessTree || !text || len(c.LinkedFrom) > 0 || !pipelines.IsOpened(c.Path, b.plan.Open) {
		return false
	}
	return !pipelines.MatchesPath(c.Path, b.plan.Protect) && metadata.CheckPath(c.Path) == nil && badNewName(c) == ""
}

// Refuse notes that changes which a pipeline opens cannot be asked about.
func (s *SortedChanges) Refuse(paths []string) {
	for _, p := range paths {
		s.violated(metadata.RuleProtected, Printable(p), metadata.Because("opened_unreadable"))
	}
}

func (s *SortedChanges) violated(rule metadata.Rule, p string, why metadata.Reason) {
	s.Violations = append(s.Violations, metadata.Violation{Path: p, Rule: why})
	if !slices.Contains(s.Broke, rule) {
		s.Broke = append(s.Broke, rule)
	}
}

// Printable gives a path as a person can read it, on one line.
func Printable(p string) string {
	if metadata.CheckPath(p) != nil {
		return strconv.QuoteToASCII(p)
	}
	return p
}

func (b Boundary) artifact(p string) bool { return strings.HasPrefix(p, b.folder+"/") }

// Rule says which rule a change breaks, and how; or "".
func (b Boundary) Rule(c Change) (metadata.Rule, metadata.Reason) {
	if !b.access.Writes() {
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
	if c.Size > MaxFile || b.artifact(c.Path) && c.Size > maxArtifact {
		return metadata.RuleSize, metadata.Because("too_large")
	}
	if why := b.badContent(c); why != "" {
		return metadata.RuleContent, why
	}
	return "", ""
}

// badForm says why this type of path cannot be kept, or "".
func badForm(c Change) metadata.Reason {
	switch {
	case c.Kind == NestedKind:
		return metadata.Because("nested_repository")
	case c.Kind == SymlinkKind && !c.Gone:
		return metadata.Because("no_symlinks")
	case c.Kind == OtherKind && !c.Gone:
		return metadata.Because("only_files")
	case c.Large:
		return metadata.Because("lfs_files")
	case c.Filter != "":
		return metadata.Because("filtered_files", "filter", c.Filter)
	}
	return ""
}

// badNewName says why a new path cannot have its name, or "". Names that exist already are accepted.
func badNewName(c Change) metadata.Reason {
	switch {
	case c.Ignored:
		return metadata.Because("ignored_name")
	case c.New && metadata.CheckNewPath(c.Path) != nil:
		return metadata.Because("windows_name")
	case c.New && c.Alias != "":
		return metadata.Because("looks_alike", "file", Printable(c.Alias))
	}
	return ""
}

// place says which rule about where a step may write is broken by a change, or "".
func (b Boundary) place(c Change) (metadata.Rule, metadata.Reason) {
	switch {
	case b.artifact(c.Path) && b.writtenByReprise(c.Path):
		return metadata.RuleProtected, metadata.Because("written_by_reprise")
	case b.artifact(c.Path) && pipelines.Instructs(strings.TrimPrefix(c.Path, b.folder+"/")):
		return metadata.RuleProtected, metadata.Because("instructions_no_artifact")
	case b.artifact(c.Path):
		return "", ""
	case strings.HasPrefix(pipelines.FoldPath(c.Path)+"/", ".reprise/"):
		return metadata.RuleAccess, metadata.Because("outside_folder")
	case b.access == pipelines.AccessArtifacts:
		return metadata.RuleAccess, metadata.Because("only_artifacts")
	case pipelines.IsProtected(c.Path, b.plan.Protect):
		return metadata.RuleProtected, metadata.Because("protected")
	}
	for _, link := range c.LinkedFrom {
		if pipelines.IsProtected(link, b.plan.Protect) {
			return metadata.RuleProtected, metadata.Because("protected_link", "link", Printable(link))
		}
	}
	return "", ""
}

// badContent says why the content of a file cannot be kept, or "".
func (b Boundary) badContent(c Change) metadata.Reason {
	allowed := c.Held.Opaque() || pipelines.MatchesPath(c.Path, b.plan.Limits.Binary)
	switch {
	case c.Holds == ProgramContent && !allowed:
		return metadata.Because("no_programs")
	case c.Holds == binaryContent && !allowed && !shown(c.Path):
		return metadata.Because("no_binaries")
	case c.Runs && c.Holds != ScriptContent && !allowed: // it came to be so after such rights were taken back
		return metadata.Because("only_scripts")
	}
	return ""
}

// writtenByReprise reports whether a path in the phase's folder belongs to reprise.
func (b Boundary) writtenByReprise(p string) bool {
	rest := pipelines.FoldPath(strings.TrimPrefix(p, b.folder+"/"))
	patch, _ := path.Match("attempt-*.patch", rest) // the pattern is a good one
	return patch || rest == strings.ToLower(ReviewFile) || rest == ChecksFile || rest == strings.ToLower(ReasonFile) || strings.HasPrefix(rest+"/", "superseded/")
}

// shown reports whether a binary file of this name is one that people look at
// and no machine runs: an image or a font.
func shown(p string) bool {
	return slices.Contains([]string{
		".png", ".apng", ".jpg", ".jpeg", ".gif", ".webp", ".avif", ".bmp", ".ico", ".icns", ".tif", ".tiff",
		".woff", ".woff2", ".ttf", ".otf", ".eot",
	}, strings.ToLower(path.Ext(p)))
}

// limitSize takes back what is too large for one step: all changes of the tree, and the artifacts too if they alone
// are too large. It returns the changes that stay.
func (b Boundary) limitSize(s *SortedChanges, changes []Change) []Change {
	why := b.TooMuch(changes)
	if why == "" {
		return changes
	}
	artifacts := slices.DeleteFunc(slices.Clone(changes), func(c Change) bool { return !b.artifact(c.Path) })
	if b.TooMuch(artifacts) != "" {
		artifacts = nil
	}
	out := slices.DeleteFunc(slices.Clone(changes), func(c Change) bool { return len(artifacts) > 0 && b.artifact(c.Path) })
	for _, c := range out {
		s.Undo = append(s.Undo, c.Path)
	}
	s.violated(metadata.RuleSize, examples(out), metadata.Because("too_much", "n", len(changes), "why", why))
	s.Over = metadata.Because("too_much_in", "n", len(changes), "files", examples(out), "why", why)
	return artifacts
}

// TooMuch says in which way changes are too large for one step, or "".
func (b Boundary) TooMuch(changes []Change) metadata.Reason {
	files, limit := b.plan.Limits.Most()
	if len(changes) > files {
		return metadata.Because("too_many_files", "most", files)
	}
	var total int64
	for _, c := range changes {
		if !c.Gone {
			total += c.Size
		}
	}
	if total > int64(limit) {
		return metadata.Because("too_many_bytes", "bytes", total, "most", limit)
	}
	return ""
}

// examples names the largest of changes.
func examples(changes []Change) string {
	most := slices.SortedFunc(slices.Values(changes), func(a, b Change) int {
		return cmp.Or(cmp.Compare(b.Size, a.Size), cmp.Compare(a.Path, b.Path))
	})
	var names []string
	for _, c := range most[:min(3, len(most))] {
		names = append(names, OneLine(Printable(c.Path)))
	}
	if len(most) > len(names) {
		names = append(names, "…")
	}
	return strings.Join(names, ", ")
}

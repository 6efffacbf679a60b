package git

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// mergeAttributes keep what files say of themselves from deciding how they are merged: with
// merge=union a conflict would show nowhere.
const mergeAttributes = "!merge !conflict-marker-size"

// Names of the two sides, as the marks of a conflict have them.
const (
	ours   = "reprise/ours"
	theirs = "reprise/base"
)

// conflictMark begins each conflict in a file. Git ends it as the lines of the file end, and adds
// the path to it where the two sides have the file in different places.
var conflictMark = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^<<<<<<< ` + ours + `(:.*)?\r?$`) })

// Marked reports whether a file has marks of a conflict.
func Marked(file []byte) bool { return conflictMark().Match(file) }

// MergeResult is the merge of two commits.
type MergeResult struct {
	Commit    string     // with its files, on no branch; where there are conflicts, files have marks
	Conflicts []Conflict // in the order of the paths
	Mixed     []string   // paths at which it has neither what the tip nor what the other commit has; see Detail
	Leading   []string   // symbolic links of the other commit that lead to what the tip has changed; see Detail
	Displaced []string   // paths of its own that git gave files where the other side has a folder

	base string // commit since which both have changed something
}

// Paths are those of the conflicts.
func (r MergeResult) Paths() []string {
	var out []string
	for _, c := range r.Conflicts {
		out = append(out, c.Path)
	}
	return out
}

// Conflict is a path at which two commits conflict, with what each side has there.
type Conflict struct {
	Path               string
	Base, Ours, Theirs Version
}

// Version is what one side has at a path.
type Version struct {
	Mode   string // such as 100755 of a program; "" if it has nothing there
	Object string // "" if it has nothing there
	Data   []byte // see Detail; nil of what is no file, or too large
}

// What is read of conflicts: the versions of the first MostConflicts, each of at most
// mostVersion bytes.
const (
	MostConflicts = 50
	mostVersion   = 64 << 10
)

// errOldGit says that git cannot merge without a work tree.
var errOldGit = errors.New("git 2.38 or newer is needed to merge: install it, or merge by hand")

// mergeOf merges the changes that another commit has into a tip. Known is a commit that both
// have in their history, all of which need not be here, as in a shallow clone.
func mergeOf(ctx context.Context, git reader, tip, other, known string) (MergeResult, error) {
	base, err := forkOf(ctx, git, tip, other, known)
	if err != nil {
		return MergeResult{}, err
	}
	return mergeSince(ctx, git, tip, other, base)
}

// mergeSince is Of where both sides are compared with a commit that need not be in the history
// of either.
func mergeSince(ctx context.Context, git reader, tip, other, base string) (MergeResult, error) {
	root, err := commitAlone(ctx, git, base)
	if err != nil {
		return MergeResult{}, err
	}
	for _, side := range []struct{ name, commit string }{{ours, tip}, {theirs, other}} {
		id, err := commitAlone(ctx, git, side.commit, "-p", root)
		if err == nil {
			_, err = git.git(ctx, "update-ref", "refs/"+side.name, id)
		}
		if err != nil {
			return MergeResult{}, err
		}
	}
	r, err := mergeTrees(ctx, git)
	if r.base = root; err == nil {
		r.Commit, err = commitAlone(ctx, git, r.Commit, "-p", root)
	}
	return r, err
}

// mergeTrees merges the two sides into a tree.
func mergeTrees(ctx context.Context, git reader) (r MergeResult, err error) {
	out, err := git.git(ctx, "-c", "merge.conflictStyle=diff3", "merge-tree", "--write-tree", "-z", "--no-messages", ours, theirs)
	switch code := exitCode(err); {
	case code == 129: // its usage
		return r, errOldGit
	case err != nil && code != 1: // 1 says that there are conflicts
		return r, err
	}
	records := records(out)
	if len(records) == 0 {
		return r, fmt.Errorf("git merge-tree answered %q", out)
	}
	r.Commit = records[0]
	r.Conflicts, err = parseConflicts(records[1:])
	return r, errors.Join(err, r.unfold(ctx, git))
}

// Detail adds to the merge of a tip and another commit what the files in conflict hold,
// which of the paths that matter are mixed, and which links lead to the work of the tip.
func (r *MergeResult) Detail(ctx context.Context, git reader, tip, other string, matters func(path string) bool) error {
	come, err := git.differ(ctx, tip, r.Commit)
	theirs, wrong := git.differ(ctx, other, r.Commit)
	mine, bad := git.differ(ctx, r.base, tip)
	if err := errors.Join(err, wrong, bad); err != nil {
		return err
	}
	otherwise := map[string]bool{}
	for _, d := range theirs {
		otherwise[d.path] = true
	}
	var links []entry
	for _, d := range come {
		if otherwise[d.path] && matters(d.path) {
			r.Mixed = append(r.Mixed, d.path)
		}
		if d.mode == "120000" {
			links = append(links, entry{d.path, d.mode, d.id})
		}
	}
	targets, err := git.targets(ctx, links)
	if err != nil {
		return err
	}
	for _, link := range links {
		if targets.lead(link.Path, func(target string) bool {
			return target == "." || slices.ContainsFunc(mine, func(d op) bool { return Under(d.path, target) })
		}) {
			r.Leading = append(r.Leading, link.Path)
		}
	}
	for i := range r.Conflicts[:min(len(r.Conflicts), MostConflicts)] {
		c := &r.Conflicts[i]
		for _, v := range []*Version{&c.Base, &c.Ours, &c.Theirs} {
			if v.Mode == "160000" {
				continue // of a submodule: its commit is in no repository of ours
			}
			if v.Data, err = readVersion(ctx, git, v.Object); err != nil {
				return fmt.Errorf("read what conflicts at %s: %w", c.Path, err)
			}
		}
	}
	return nil
}

// besideName is how git names a file where the other side has a folder.
var besideName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`~reprise_(ours|base)(_[0-9]+)?$`)
})

// Displacing gives the paths at which one side has a file and the other one a folder.
func (r MergeResult) Displacing() []string {
	var out []string
	for _, p := range r.Displaced {
		out = append(out, besideName().ReplaceAllString(p, ""))
	}
	return out
}

// unfold names a conflict of a file with a folder by the path that the file has at its
// side, and has one for each file of that folder as well.
func (r *MergeResult) unfold(ctx context.Context, git reader) error {
	for i := range r.Conflicts {
		c := &r.Conflicts[i]
		if !besideName().MatchString(c.Path) {
			continue
		}
		r.Displaced = append(r.Displaced, c.Path)
		c.Path = besideName().ReplaceAllString(c.Path, "")
		inside, err := git.entries(ctx, r.Commit, []string{c.Path}, "-r")
		if err != nil {
			return err
		}
		for _, e := range inside {
			if slices.Contains(r.Paths(), e.Path) {
				continue
			}
			in := Conflict{Path: e.Path}
			if r.Conflicts[i].Ours.Object == "" {
				in.Ours = Version{Mode: e.Mode, Object: e.ID}
			} else {
				in.Theirs = Version{Mode: e.Mode, Object: e.ID}
			}
			r.Conflicts = append(r.Conflicts, in)
		}
	}
	return nil
}

// readVersion gives what a file or a link holds; nil if there is none, or it is too large.
func readVersion(ctx context.Context, git reader, object string) ([]byte, error) {
	if object == "" {
		return nil, nil
	}
	out, err := git.git(ctx, "cat-file", "-s", object)
	if err == nil {
		if size, wrong := strconv.ParseInt(strings.TrimSpace(string(out)), 10, 64); wrong != nil || size > mostVersion {
			return nil, wrong
		}
		out, err = git.git(ctx, "cat-file", "blob", object)
	}
	if err == nil && out == nil {
		out = []byte{}
	}
	return out, err
}

// commitAlone makes a commit of the files of another one, or of a tree.
func commitAlone(ctx context.Context, git reader, files string, args ...string) (string, error) {
	args = append([]string{"-c", "user.name=reprise", "-c", "user.email=reprise@users.noreply.github.com", "commit-tree", "-m", "merged", files + "^{tree}"}, args...)
	out, err := git.git(ctx, args...)
	return strings.TrimSpace(string(out)), err
}

// parseConflicts reads records such as "100644 OBJECT STAGE\tPATH".
func parseConflicts(records []string) ([]Conflict, error) {
	var all []Conflict
	for _, record := range records {
		info, name, _ := strings.Cut(record, "\t")
		f := strings.Fields(info)
		if len(f) != 3 {
			return nil, fmt.Errorf("git merge-tree answered %q", record)
		}
		if n := len(all); n == 0 || all[n-1].Path != name {
			all = append(all, Conflict{Path: name})
		}
		c := &all[len(all)-1]
		v := Version{Mode: f[0], Object: f[1]}
		switch f[2] {
		case "1":
			c.Base = v
		case "2":
			c.Ours = v
		case "3":
			c.Theirs = v
		}
	}
	return all, nil
}

// forkOf gives the newest commit that two have in common; or, where none is found here,
// the one that is known.
func forkOf(ctx context.Context, git reader, tip, other, known string) (string, error) {
	out, err := git.git(ctx, "merge-base", tip, other)
	if exitCode(err) == 1 {
		return known, nil
	}
	return strings.TrimSpace(string(out)), err
}

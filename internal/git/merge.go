package git

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/reprise-ci/reprise/internal/text"
)

// mergeAttributes keep files from deciding how they are merged: merge=union would hide a conflict.
const mergeAttributes = "!merge !conflict-marker-size"

// Names of the two sides, as the marks of a conflict have them.
const (
	ours   = "reprise/ours"
	theirs = "reprise/base"
)

// conflictMark begins each conflict, with the file's line ends, and the path where the two sides have different ones.
var conflictMark = text.Pattern(`(?m)^<<<<<<< ` + ours + `(:.*)?\r?$`)

// Marked reports whether a file has marks of a conflict.
func Marked(file []byte) bool { return conflictMark().Match(file) }

// MergeResult is the merge of two commits.
type MergeResult struct {
	Commit    string     // with its files, on no branch; where there are conflicts, files have marks
	Conflicts []Conflict // in the order of the paths
	Mixed     []string   // paths at which it has neither what the tip nor what the other commit has, or a new symbolic link; see Detail
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

	aside string // where git put a file in whose place the other side has a folder; "" for any other conflict
}

// Version is what one side has at a path.
type Version struct {
	Mode   string // such as 100755 of a program; "" if it has nothing there
	Object string // "" if it has nothing there
	Data   []byte // see Detail; nil of what is no file, or too large, or has a folder at the other side
}

// What is read of conflicts: the first MostConflicts, each version of at most mostVersion bytes.
const (
	MostConflicts = 50
	mostVersion   = 64 << 10
)

// errOldGit says that git cannot merge without a work tree.
var errOldGit = errors.New("git 2.38 or newer is needed to merge: install it, or merge by hand")

// mergeOf merges what another commit changed into a tip. Known is in both histories, which may be cut here.
func mergeOf(ctx context.Context, git reader, tip, other, known string) (MergeResult, error) {
	base, err := forkOf(ctx, git, tip, other, known)
	if err != nil {
		return MergeResult{}, err
	}
	return mergeSince(ctx, git, tip, other, base)
}

// mergeSince is mergeOf from a base that need not be in the history of either.
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
	out, err := git.git(ctx, "-c", "merge.conflictStyle=diff3", "merge-tree", "--write-tree", "-z", "--no-messages", ours, theirs)
	records := records(out)
	switch code := exitCode(err); {
	case code == 129: // its usage
		return MergeResult{}, errOldGit
	case err != nil && code != 1: // 1 says that there are conflicts
		return MergeResult{}, err
	case len(records) == 0:
		return MergeResult{}, fmt.Errorf("git merge-tree answered %q", out)
	}
	r := MergeResult{}
	if r.Conflicts, err = parseConflicts(records[1:]); err == nil {
		r.Commit, err = commitAlone(ctx, git, records[0], "-p", root)
	}
	return r, err
}

// Detail adds to the merge of a tip and another commit what files in conflict hold, and which paths are mixed.
func (r *MergeResult) Detail(ctx context.Context, git reader, tip, other string) error {
	come, err := git.differ(ctx, tip, r.Commit)
	theirs, wrong := git.differ(ctx, other, r.Commit)
	if err := errors.Join(err, wrong); err != nil {
		return err
	}
	otherwise := map[string]bool{}
	for _, d := range theirs {
		otherwise[d.path] = true
	}
	for _, d := range come {
		if otherwise[d.path] || d.mode == "120000" {
			r.Mixed = append(r.Mixed, d.path)
		}
	}
	var all []*Version
	var ids []string
	for i := range r.Conflicts[:min(len(r.Conflicts), MostConflicts)] {
		c := &r.Conflicts[i]
		for _, v := range []*Version{&c.Base, &c.Ours, &c.Theirs} {
			if v.Object != "" && v.Mode != "160000" && c.aside == "" { // the commit of a submodule is in no repository of ours
				all, ids = append(all, v), append(ids, v.Object)
			}
		}
	}
	sizes, err := git.sizes(ctx, ids)
	for i := range ids {
		if err == nil && sizes[i] > mostVersion {
			ids[i] = "-" // which names nothing
		}
	}
	found, wrong := git.objects(ctx, ids...)
	if err := errors.Join(err, wrong); err != nil {
		return fmt.Errorf("read what conflicts: %w", err)
	}
	for i, o := range found {
		all[i].Data = o.Data
	}
	return nil
}

// asideName is how git names a file where the other side has a folder.
var asideName = text.Pattern(`~reprise_(ours|base)(_[0-9]+)?$`)

// commitAlone makes a commit of the files of another one, or of a tree.
func commitAlone(ctx context.Context, git reader, files string, args ...string) (string, error) {
	args = append([]string{"-c", "user.name=reprise", "-c", "user.email=" + nobody, "commit-tree", "-m", "merged", files + "^{tree}"}, args...)
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
		one := Conflict{Path: asideName().ReplaceAllString(name, "")}
		if one.Path != name {
			one.aside = name
		}
		if n := len(all); n == 0 || all[n-1].Path != one.Path || all[n-1].aside != one.aside {
			all = append(all, one)
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

// forkOf gives the newest commit that two have in common; known, where none is found here.
func forkOf(ctx context.Context, git reader, tip, other, known string) (string, error) {
	out, err := git.git(ctx, "merge-base", tip, other)
	if exitCode(err) == 1 {
		return known, nil
	}
	return strings.TrimSpace(string(out)), err
}

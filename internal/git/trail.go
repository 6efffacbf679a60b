package git

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
)

// trail reads the trail of a folder from the commit in a history that changed it last, along first parents.
func (r reader) trail(ctx context.Context, commit, folder string) (t metadata.Trail, err error) {
	defer wrap(&err, "read the history of %s at %s", folder, short(commit))
	list, within := []string{"log", "--no-show-signature", "--no-decorate", "--format=%H"}, ":(top,literal)"+folder
	last, err := r.git(ctx, append(list, "-n1", commit, "--", within)...)
	if commit = strings.TrimSpace(string(last)); err != nil || commit == "" {
		return t, errors.Join(err, fs.ErrNotExist)
	}
	all, err := r.git(ctx, append(list, "--reverse", "--first-parent", commit, "--", within)...)
	if err != nil {
		return t, err
	}
	var names []string
	t.Commits, t.Files = strings.Fields(string(all)), map[string]string{}
	for _, c := range t.Commits {
		names = append(names, c+":"+folder+"/"+metadata.File)
	}
	records, err := r.objects(ctx, names...)
	for _, o := range records {
		t.Records = append(t.Records, o.Data)
	}
	files, bad := r.below(ctx, commit, folder)
	for name, e := range files {
		if name = strings.TrimPrefix(name, folder+"/"); name != metadata.StatementFile {
			t.Files[name] = e.Mode + " " + e.ID
		}
	}
	work, wrong := r.work(ctx, commit, folder)
	t.Work = work
	return t, errors.Join(err, bad, wrong)
}

// work gives the tree that a commit has without a folder in one of the top.
func (r reader) work(ctx context.Context, commit, folder string) (string, error) {
	above := path.Dir(folder)
	all, err := r.entries(ctx, commit, []string{""})
	beside, wrong := r.entries(ctx, commit, []string{above + "/"})
	beside = slices.DeleteFunc(beside, func(e entry) bool { return e.Path == folder })
	all = slices.DeleteFunc(all, func(e entry) bool { return e.Path == above && len(beside) == 0 })
	for i := range all {
		if all[i].Path == above {
			all[i].ID = treeID(beside)
		}
	}
	return treeID(all), errors.Join(err, wrong)
}

// treeID is the name of a tree with entries in git's order.
func treeID(entries []entry) string {
	var b bytes.Buffer
	for _, e := range entries {
		id, _ := hex.DecodeString(e.ID) // git gave it
		fmt.Fprintf(&b, "%s %s\x00%s", strings.TrimLeft(e.Mode, "0"), path.Base(e.Path), id)
	}
	return objectID("tree", b.Bytes())
}

// draftRef is what a commit is called that is made to make the statement on it.
const draftRef = "refs/reprise/draft"

// withStatement adds to a revision the statement on the commit that it makes on a parent, unless a shallow clone lacks the run's first.
func (r *Repo) withStatement(ctx context.Context, rev revision, parent string) (revision, error) {
	if rev.states == "" {
		return rev, nil
	}
	draft, err := r.makeCommit(ctx, draftRef, rev, parent, true)
	if err != nil {
		return rev, err
	}
	t, err := r.reads().trail(ctx, draft, r.opt.State)
	if err != nil {
		return rev, err
	}
	data, err := t.Statement()
	if errors.Is(err, metadata.ErrCut) {
		return rev, nil
	}
	rev.ops = append(slices.Clip(rev.ops), inlined(rev.states, data))
	return rev, err
}

// Trail gives the trail of a folder in the history of a record, as far as it is here, and the tree of a commit without it.
func (s *Source) Trail(ctx context.Context, record, commit, folder string) (metadata.Trail, string, error) {
	t, err := s.offline().trail(ctx, record, folder)
	work, wrong := s.offline().work(ctx, commit, folder)
	return t, work, errors.Join(err, wrong)
}

// CommitOf gives the commit that git takes a name for (fs.ErrNotExist: none), and the issue of the newest run in its history.
func (s *Source) CommitOf(ctx context.Context, name string) (commit, issue string, err error) {
	out, err := s.inspect(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
	if exitCode(err) == 1 {
		return "", "", fs.ErrNotExist
	}
	if commit = strings.TrimSpace(string(out)); err == nil {
		out, err = s.inspect(ctx, "log", "-n1", "--no-show-signature", "--grep=^Reprise-Issue: ", "--format=%(trailers:key=Reprise-Issue,valueonly)", commit)
	}
	return commit, strings.TrimSpace(string(out)), err
}

package main

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/git"
	"github.com/reprise-ci/reprise/metadata"
)

// olderPrefix begins the names of the older system's own branches.
const olderPrefix = "ai-workflow/issue-"

// find reads the older run that the command line names.
func (o importOptions) find(ctx context.Context, env environment, src *git.Source) (*olderRun, error) {
	old, data, err := &olderRun{}, []byte(nil), error(nil)
	if o.record != "" {
		data, err = old.onDisk(o.record)
	} else {
		data, err = old.onBranch(ctx, src, o)
	}
	if err != nil {
		return nil, err
	}
	if old.Imported, err = metadata.Import(data, old.name, env.now()); err != nil {
		return nil, errors.Join(usageError{err}, old.close())
	}
	id := old.Run.IssueNumber
	if o.id != "" && o.id != id {
		return nil, errors.Join(usagef("%s is of issue %s, not of %s", old.name, id, o.id), old.close())
	}
	old.top, old.said = numbered(id), cmp.Or(old.said, old.name)
	return old, nil
}

// onDisk reads a record from a file, and takes the folder it is in for that of
// the run.
func (old *olderRun) onDisk(file string) ([]byte, error) {
	data, err := readRegular(file, metadata.MaxSize)
	if err != nil {
		return nil, usagef("older record: %w", err)
	}
	// Nothing is read through a symbolic link that leads out of the folder.
	root, err := os.OpenRoot(filepath.Dir(file))
	if err != nil {
		return nil, err
	}
	old.name, old.said, old.files, old.root = file, filepath.Base(file), root.FS(), root
	return data, nil
}

var (
	olderRecord = regexp.MustCompile(`^issue-([a-z0-9][a-z0-9._-]*)/` + regexp.QuoteMeta(metadata.File) + `$`)
	namedAfter  = regexp.MustCompile(`(?:^|/)issue-([a-z0-9][a-z0-9._-]*)$`)
)

// onBranch reads a record from a branch. Where neither flag nor name of the
// branch say of which issue, there must be only one.
func (old *olderRun) onBranch(ctx context.Context, src *git.Source, o importOptions) ([]byte, error) {
	if old.base = o.branch; old.base == "" {
		old.base = olderPrefix + o.id
	}
	id := o.id
	if m := namedAfter.FindStringSubmatch(old.base); id == "" && m != nil {
		id = m[1]
	}
	data, err := old.read(ctx, src, id)
	if !errors.Is(err, fs.ErrNotExist) {
		return data, err
	}
	all, err := src.FS(ctx, old.base, metadata.OlderFolder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, usagef("there is no branch %s, here or fetched from origin: name the one that has the older run with --from BRANCH, or its %s with --file FILE", old.base, metadata.File)
	case err != nil:
		return nil, err
	case o.id != "":
		return nil, usagef("there is no %s: name the branch that has the older run with --from BRANCH, or its %s with --file FILE", old.name, metadata.File)
	case all == nil:
		return nil, usagef("branch %s has no folder %s, so no older run", old.base, metadata.OlderFolder)
	}
	if id, err = theOnly(all, old.base); err != nil {
		return nil, err
	}
	return old.read(ctx, src, id)
}

// read reads the record of an issue on the branch, and what lies beside it.
func (old *olderRun) read(ctx context.Context, src *git.Source, id string) ([]byte, error) {
	old.name = old.base + ":" + path.Join(numbered(id), metadata.File)
	if id == "" {
		return nil, fs.ErrNotExist
	}
	files, err := src.FS(ctx, old.base, numbered(id))
	if err != nil || files == nil {
		return nil, cmp.Or(err, fs.ErrNotExist)
	}
	old.files = files
	return fs.ReadFile(files, metadata.File)
}

// theOnly gives the id of the one run in the older folder.
func theOnly(all fs.FS, branch string) (string, error) {
	var ids []string
	err := fs.WalkDir(all, ".", func(name string, _ fs.DirEntry, err error) error {
		if m := olderRecord.FindStringSubmatch(name); m != nil {
			ids = append(ids, m[1])
		}
		return err
	})
	slices.Sort(ids)
	switch {
	case err != nil:
		return "", err
	case len(ids) == 0:
		return "", usagef("branch %s has no %s/issue-N/%s", branch, metadata.OlderFolder, metadata.File)
	case len(ids) > 1:
		return "", usagef("branch %s has more than one run: say which with --issue; there are %s", branch, strings.Join(ids, ", "))
	}
	return ids[0], nil
}

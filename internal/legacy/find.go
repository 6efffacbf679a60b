package legacy

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/metadata"
)

// OlderPrefix begins the names of the older system's own branches.
const OlderPrefix = "ai-workflow/issue-"

// Find reads the older run that the command line names.
func (o Options) Find(ctx context.Context, src *git.Source) (*OlderRun, error) {
	var data []byte
	var err error
	old := &OlderRun{}
	if o.Record != "" {
		data, err = old.onDisk(o.Record)
	} else {
		data, err = old.onBranch(ctx, src, o)
	}
	if err != nil {
		return nil, err
	}
	if err := old.parse(data); err != nil {
		return nil, exit.AsUsage(err)
	}
	id := string(old.Issue)
	if o.Id != "" && o.Id != id {
		return nil, exit.Usagef("%s is of issue %s, not of %s", old.Name, id, o.Id)
	}
	old.Top, old.said = numbered(id), cmp.Or(old.said, old.Name)
	return old, nil
}

// onDisk reads a record from a file, and takes the folder it is in for that of
// the run.
func (old *OlderRun) onDisk(file string) ([]byte, error) {
	data, err := folders.ReadRegular(file, metadata.MaxSize)
	if err != nil {
		return nil, exit.Usagef("older record: %w", err)
	}
	// Nothing is read through a symbolic link that leads out of the folder. It is open as long as
	// its files are in use.
	root, err := os.OpenRoot(filepath.Dir(file))
	if err != nil {
		return nil, err
	}
	old.Name, old.said, old.files = file, filepath.Base(file), root.FS()
	return data, nil
}

// onBranch reads a record from a branch. Where neither flag nor name of the
// branch say of which issue, there must be only one.
func (old *OlderRun) onBranch(ctx context.Context, src *git.Source, o Options) ([]byte, error) {
	if old.Base = o.Branch; old.Base == "" {
		old.Base = OlderPrefix + o.Id
	}
	id := o.Id
	if named, is := strings.CutPrefix(path.Base(old.Base), "issue-"); id == "" && is && metadata.CheckID(named) == nil {
		id = named
	}
	data, err := old.read(ctx, src, id)
	if !errors.Is(err, fs.ErrNotExist) {
		return data, err
	}
	all, err := src.FS(ctx, old.Base, OlderFolder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, exit.Usagef("there is no branch %s, here or fetched from origin: name the one that has the older run with --from BRANCH, or its %s with --file FILE", old.Base, metadata.File)
	case err != nil:
		return nil, err
	case o.Id != "":
		return nil, exit.Usagef("there is no %s: name the branch that has the older run with --from BRANCH, or its %s with --file FILE", old.Name, metadata.File)
	case all == nil:
		return nil, exit.Usagef("branch %s has no folder %s, so no older run", old.Base, OlderFolder)
	}
	if id, err = theOnly(all, old.Base); err != nil {
		return nil, err
	}
	return old.read(ctx, src, id)
}

// read reads the record of an issue on the branch, and what lies beside it.
func (old *OlderRun) read(ctx context.Context, src *git.Source, id string) ([]byte, error) {
	old.Name = old.Base + ":" + path.Join(numbered(id), metadata.File)
	if id == "" {
		return nil, fs.ErrNotExist
	}
	files, err := src.FS(ctx, old.Base, numbered(id))
	if err != nil || files == nil {
		return nil, cmp.Or(err, fs.ErrNotExist)
	}
	old.files = files
	return fs.ReadFile(files, metadata.File)
}

// theOnly gives the id of the one run in the older folder.
func theOnly(all fs.FS, branch string) (string, error) {
	ids, err := fs.Glob(all, "issue-*/"+metadata.File)
	for i, name := range ids {
		ids[i] = strings.TrimPrefix(path.Dir(name), "issue-")
	}
	switch {
	case err != nil:
		return "", err
	case len(ids) == 0:
		return "", exit.Usagef("branch %s has no %s/issue-N/%s", branch, OlderFolder, metadata.File)
	case len(ids) > 1:
		return "", exit.Usagef("branch %s has more than one run: say which with --issue; there are %s", branch, strings.Join(ids, ", "))
	}
	return ids[0], nil
}

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

// onBranch reads a record from a branch, of the issue that the flag or the name of the branch says.
func (old *OlderRun) onBranch(ctx context.Context, src *git.Source, o Options) ([]byte, error) {
	if old.Base = o.Branch; old.Base == "" {
		old.Base = OlderPrefix + o.Id
	}
	id := o.Id
	if named, is := strings.CutPrefix(path.Base(old.Base), "issue-"); id == "" && is && metadata.CheckID(named) == nil {
		id = named
	}
	if id == "" {
		return nil, exit.Usagef("which run of branch %s? Say it with --issue ID", old.Base)
	}
	data, err := old.read(ctx, src, id)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, exit.Usagef("there is no %s, here or fetched from origin: name the branch that has the older run with --from BRANCH, or its %s with --file FILE", old.Name, metadata.File)
	}
	return data, err
}

// read reads the record of an issue on the branch, and what lies beside it.
func (old *OlderRun) read(ctx context.Context, src *git.Source, id string) ([]byte, error) {
	old.Name = old.Base + ":" + path.Join(numbered(id), metadata.File)
	files, err := src.FS(ctx, old.Base, numbered(id))
	if err != nil || files == nil {
		return nil, cmp.Or(err, fs.ErrNotExist)
	}
	old.files = files
	return fs.ReadFile(files, metadata.File)
}

package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/pipelines/builtin"
	"github.com/reprise-ci/reprise/pipelines/source"
)

// Forge reads files of the default branch where there is no checkout.
type Forge interface {
	// Files lists the files of a folder by their paths.
	Files(ctx context.Context, folder string) ([]string, error)
	File(ctx context.Context, path string) ([]byte, error)
}

// ChooseOn says which pipeline a new run of an issue would have, and why, by what
// the default branch on the forge has.
func ChooseOn(ctx context.Context, f Forge, is source.ChoiceIssue, o Choice) (*pipelines.Pipeline, metadata.Reason, error) {
	eval, err := Evaluator()
	if err != nil {
		return nil, "", err
	}
	dir, err := os.MkdirTemp("", "reprise-")
	if err != nil {
		return nil, "", err
	}
	defer func() { _ = os.RemoveAll(dir) }() // a temporary folder; the system removes what is left
	if err := downloadPipelines(ctx, f, dir); err != nil {
		return nil, "", err
	}
	if IsPath(o.Pipeline) {
		return nil, "", fmt.Errorf("the workflow names the file %s, which is read when a run begins", strings.TrimSpace(o.Pipeline))
	}
	chosen, err := source.Choose(ctx, source.Sources{Evaluator: eval, Repo: os.DirFS(dir)}, is, o.Pipeline)
	if err != nil {
		return nil, "", err
	}
	applyChoice(chosen.Plan, o)
	return chosen.Plan, exit.WhyCause(chosen.Why), builtin.Speak(chosen.Plan)
}

// downloadPipelines copies the pipelines and settings of the default branch into a folder.
func downloadPipelines(ctx context.Context, f Forge, dir string) error {
	if err := os.Mkdir(filepath.Join(dir, "pipelines"), 0o700); err != nil {
		return err
	}
	for _, folder := range []string{".", "pipelines"} {
		names, err := f.Files(ctx, path.Join(OwnFolder, folder))
		if err != nil {
			return err
		}
		for _, name := range names {
			if !isOwn(path.Join(folder, path.Base(name))) {
				continue
			}
			data, err := f.File(ctx, path.Join(OwnFolder, folder, path.Base(name)))
			if err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(dir, folder, path.Base(name)), data, 0o600); err != nil {
				return err
			}
		}
	}
	return nil
}

// OwnFolder has the pipelines and prompts of a repository.
const OwnFolder = ".github/reprise"

// InForce names the commit whose pipelines and prompts count.
func InForce(src *git.Source) string {
	if src.DefaultBranch == "" {
		return "the commit that is checked out"
	}
	return "the default branch " + src.DefaultBranch
}

// NotInForce lists the pipelines and prompts of the checkout that are not, or
// read otherwise, in the commit that counts, by their paths in the repository.
// It is a hint for people: what cannot be read is left out. src may be nil.
func NotInForce(ctx context.Context, src *git.Source) []string {
	if src == nil {
		return nil
	}
	counts, err := src.FS(ctx, TrustedCommit(src), OwnFolder)
	if err != nil {
		return nil
	}
	root, err := os.OpenRoot(src.Dir) // no link leads out of it
	if err != nil {
		return nil
	}
	defer func() { _ = root.Close() }() // opened for reading
	here, err := fs.Sub(root.FS(), OwnFolder)
	if err != nil {
		return nil
	}
	var out []string
	// What cannot be listed is left out.
	_ = fs.WalkDir(here, ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && e.Type().IsRegular() && isOwn(name) && differs(here, counts, name) {
			out = append(out, path.Join(OwnFolder, name))
		}
		return nil
	})
	return out
}

// isOwn reports whether a file of the folder is a pipeline or a prompt, or has the
// settings of the repository.
func isOwn(name string) bool {
	top, rest, _ := strings.Cut(name, "/")
	_, pipeline := source.IsFile(rest)
	if known, is := source.IsFile(name); is && known == "config" {
		return true
	}
	return top == "pipelines" && pipeline && !strings.Contains(rest, "/") || top == "prompts" && path.Ext(rest) == ".md"
}

// differs reports whether a file that can be read here reads otherwise there,
// or is not there. How lines end is no difference.
func differs(here, there fs.FS, name string) bool {
	now, err := firstOf(here, name)
	if err != nil {
		return false
	}
	then, err := firstOf(there, name)
	return err != nil || !bytes.Equal(now, then)
}

// firstOf reads the start of a file, which is the whole of any that is not too
// large to count. A file system that is nil has none.
func firstOf(files fs.FS, name string) ([]byte, error) {
	if files == nil {
		return nil, fs.ErrNotExist
	}
	f, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // opened for reading
	data, err := io.ReadAll(io.LimitReader(f, 1<<20))
	return bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")), err
}

// onlyHere adds to the error that there is no such pipeline, if the checkout has
// one: it has to be committed to the default branch before it counts.
func onlyHere(ctx context.Context, src *git.Source, err error) error {
	var unknown *source.UnknownError
	if !errors.As(err, &unknown) {
		return err
	}
	for _, file := range NotInForce(ctx, src) {
		if name, ok := source.IsFile(path.Base(file)); ok && name == unknown.Name {
			return fmt.Errorf("no pipeline %q: there is one in your checkout, %s, that is not committed to %s (to take it as it is: --pipeline FILE)", name, file, InForce(src))
		}
	}
	return err
}

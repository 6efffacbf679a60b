package workspace

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/pipelines/source"
)

// OwnFolder has the pipelines and prompts of a repository.
const OwnFolder = ".github/reprise"

// InForce names the commit whose pipelines and prompts count.
func InForce(src *git.Source) string {
	if src.DefaultBranch == "" {
		return "the commit that is checked out"
	}
	return "the default branch " + src.DefaultBranch
}

// NotInForce lists the checkout's pipelines and prompts that are not, or read otherwise, in the commit that counts. It
// is a hint for people: what cannot be read is left out. src may be nil.
func NotInForce(ctx context.Context, src *git.Source) []string {
	if src == nil {
		return nil
	}
	counts, err := src.FS(ctx, src.Trusted(), OwnFolder)
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

// isOwn reports whether a file of the folder is a pipeline, a prompt or the settings of the repository.
func isOwn(name string) bool {
	top, rest, _ := strings.Cut(name, "/")
	_, pipeline := source.IsFile(rest)
	if known, is := source.IsFile(name); is && known == "config" {
		return true
	}
	return top == "pipelines" && pipeline && !strings.Contains(rest, "/") || top == "prompts" && path.Ext(rest) == ".md"
}

// differs reports whether a file that can be read here reads otherwise there, or is missing. Line ends do not count.
func differs(here, there fs.FS, name string) bool {
	now, err := fs.ReadFile(here, name)
	if err != nil || there == nil {
		return err == nil
	}
	then, err := fs.ReadFile(there, name)
	lines := func(data []byte) []byte { return bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")) }
	return err != nil || !bytes.Equal(lines(now), lines(then))
}

// onlyHere adds to an unknown pipeline's error that the checkout has it: it counts once on the default branch.
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

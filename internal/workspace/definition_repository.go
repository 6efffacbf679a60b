package workspace

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"testing/fstest"

	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/setup"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/pipelines/source"
)

// OwnFolder has the pipelines and prompts of a repository.
const OwnFolder = ".github/reprise"

// SayOtherwise tells in a sentence which pipelines, prompts and settings of the checkout jobs do not have like that; "" if
// there are none, or nobody can say. src may be nil.
func SayOtherwise(ctx context.Context, src *git.Source) string {
	if src == nil {
		return ""
	}
	_, otherwise, err := ownHere(ctx, src)
	if err != nil || len(otherwise) == 0 {
		return ""
	}
	return fmt.Sprintf("taken from your checkout, and not like this on %s, by which jobs go: %s", cmp.Or(src.DefaultBranch, "HEAD"), text.Flat(strings.Join(otherwise, ", ")))
}

// ownHere gives the checkout's pipelines, prompts and settings, and names those that read otherwise in the commit that
// counts for jobs, or that only one of the two has. How lines end is no difference.
func ownHere(ctx context.Context, src *git.Source) (here fstest.MapFS, otherwise []string, err error) {
	committed, err := src.FS(ctx, src.Trusted(), OwnFolder)
	if err != nil {
		return nil, nil, err
	}
	root, err := os.OpenRoot(src.Dir) // no link leads out of it
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = root.Close() }() // opened for reading
	own, err := fs.Sub(root.FS(), OwnFolder)
	here, there := ownIn(own), ownIn(committed)
	for name, file := range there {
		if is := here[name]; is != nil && bytes.Equal(unixLines(is.Data), unixLines(file.Data)) {
			is.Data = file.Data
		} else {
			otherwise = append(otherwise, path.Join(OwnFolder, name))
		}
	}
	for name := range here {
		if there[name] == nil {
			otherwise = append(otherwise, path.Join(OwnFolder, name))
		}
	}
	slices.Sort(otherwise)
	return here, otherwise, err
}

func unixLines(data []byte) []byte { return bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")) }

// ownIn reads the pipelines, prompts and settings of a folder, which may be nil. What cannot be read is left out.
func ownIn(folder fs.FS) fstest.MapFS {
	all := fstest.MapFS{}
	if folder == nil {
		return all
	}
	_ = fs.WalkDir(folder, ".", func(name string, e fs.DirEntry, err error) error {
		if err == nil && !e.IsDir() && isOwn(name) {
			data, err := fs.ReadFile(folder, name)
			if link := !e.Type().IsRegular(); err == nil && !link || link && strings.HasPrefix(name, "prompts/") { // where a link is a mistake
				all[name] = &fstest.MapFile{Data: data, Mode: e.Type()}
			}
		}
		return nil
	})
	return all
}

// isOwn reports whether a file of the folder is a pipeline, a prompt or the settings of the repository.
func isOwn(name string) bool {
	top, rest, _ := strings.Cut(name, "/")
	_, pipeline := source.IsFile(rest)
	if known, is := source.IsFile(name); is && known == "config" {
		return true
	}
	return top == "pipelines" && pipeline && !strings.Contains(rest, "/") || top == "prompts"
}

// Unread names files of the checkout that look like pipelines, prompts or settings, and that nothing reads where they are.
func Unread(src *git.Source) (names []string) {
	_ = fs.WalkDir(os.DirFS(src.Dir), OwnFolder, func(name string, e fs.DirEntry, err error) error {
		inside := strings.TrimPrefix(name, OwnFolder+"/")
		ext := strings.ToLower(path.Ext(name))
		_, pipeline := source.IsFile(ext)
		switch {
		case err != nil || e.IsDir() && inside == path.Base(setup.AgentsDir):
			return fs.SkipDir
		case e.Type().IsRegular() && !isOwn(inside) && (pipeline || ext == ".md") && name != pipelines.NotesFile && !strings.EqualFold(path.Base(name), "README.md"):
			names = append(names, name)
		}
		return nil
	})
	return names
}

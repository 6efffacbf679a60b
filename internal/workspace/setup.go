package workspace

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/reprise-ci/reprise/internal/folders"

	"github.com/reprise-ci/reprise/pipelines"
)

// SetupStore is the folder of a run that has its work tree, and what was made for it.
type SetupStore struct {
	Root string // has the folder "tree"
}

// The names below the folder of a run.
const (
	treeDir = "tree"
	keptDir = "setup" // files 0, 1, 2 and so on, made and giving
	made    = keptDir + "/made.json"
	giving  = keptDir + "/giving" // there while the tree has not all of its copies
)

// record says what the store holds.
type record struct {
	Digest string   `json:"digest"`
	Paths  []string `json:"paths"` // from the top of the tree; the first is kept as 0
}

// Due says whether commands with this digest have to run: they never did, others did, or what they made is gone.
func (s SetupStore) Due(digest string) bool {
	r, err := s.read()
	if err != nil || r.Digest != digest {
		return true
	}
	for i := range r.Paths {
		if _, err := os.Lstat(filepath.Join(s.Root, keptDir, strconv.Itoa(i))); err != nil {
			return true
		}
	}
	return false
}

// Take moves paths out of the tree and keeps them as made by commands of this digest, in place of what was kept.
func (s SetupStore) Take(digest string, paths []string) error {
	if err := s.Forget(); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(s.Root, keptDir), 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(s.Root) // a program may have laid links in the tree
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }()                        // nothing is written through it later
	if err := root.WriteFile(giving, nil, 0o600); err != nil { // the tree has nothing of it yet
		return err
	}
	r := record{Digest: digest}
	for i, p := range paths {
		p = strings.TrimSuffix(p, "/")
		folders.UnlockAbove(root, path.Join(treeDir, p, "x"))
		if err := root.Rename(path.Join(treeDir, p), path.Join(keptDir, strconv.Itoa(i))); err != nil {
			return fmt.Errorf("keep %s: %w", p, err)
		}
		r.Paths = append(r.Paths, p)
	}
	data, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return root.WriteFile(made, data, 0o600) // last: what is not whole does not count
}

// Forget removes what is kept: first what says that it is whole.
func (s SetupStore) Forget() error {
	if err := ignoreMissing(os.Remove(filepath.Join(s.Root, filepath.FromSlash(made)))); err != nil {
		return err
	}
	return folders.RemoveAll(filepath.Join(s.Root, keptDir))
}

// Give copies what is kept into the tree, for agents: all of it after Take or an interruption, later what is missing.
// What an agent does to the copy reaches nobody else.
func (s SetupStore) Give(ctx context.Context) error {
	mark := filepath.Join(s.Root, filepath.FromSlash(giving))
	_, unmarked := os.Lstat(mark)
	if err := os.WriteFile(mark, nil, 0o600); err != nil {
		return ignoreMissing(err) // nothing is kept
	}
	if err := s.place(ctx, filepath.Join(s.Root, treeDir), unmarked == nil); err != nil {
		return err
	}
	return os.Remove(mark)
}

// Place copies what is kept into another tree, but for what is there already.
func (s SetupStore) Place(ctx context.Context, dir string) error { return s.place(ctx, dir, false) }

func (s SetupStore) place(ctx context.Context, dir string, anew bool) error {
	r, err := s.read()
	if err != nil {
		return ignoreMissing(err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // what is copied is closed by then
	for i, p := range r.Paths {
		if _, err := root.Lstat(p); err == nil && !anew {
			continue
		}
		if err := s.copy(ctx, root, i, p); err != nil {
			return fmt.Errorf("copy %s into %s: %w", p, filepath.Base(dir), err)
		}
	}
	return nil
}

// copy puts a copy of what is kept as number i in place.
func (s SetupStore) copy(ctx context.Context, tree *os.Root, i int, to string) error {
	folders.UnlockAbove(tree, to)
	if err := folders.Remove(tree, to); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := tree.MkdirAll(path.Dir(to), 0o755); err != nil {
		return err
	}
	into, err := tree.OpenRoot(path.Dir(to)) // no link leads it elsewhere
	if err != nil {
		return err
	}
	defer func() { _ = into.Close() }() // as above
	kept, err := os.OpenRoot(filepath.Join(s.Root, keptDir))
	if err != nil {
		return err
	}
	defer func() { _ = kept.Close() }() // opened for reading
	return folders.Copy(ctx, kept, strconv.Itoa(i), into, path.Base(to))
}

func (s SetupStore) read() (record, error) {
	var r record
	data, err := os.ReadFile(filepath.Join(s.Root, filepath.FromSlash(made)))
	if err == nil {
		err = json.Unmarshal(data, &r)
	}
	return r, err
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Digest names commands and the state of what they depend on: lock files, and what the commands name.
func (s SetupStore) Digest(commands []pipelines.Setup) (string, error) {
	root, err := os.OpenRoot(filepath.Join(s.Root, treeDir))
	if err != nil {
		return "", err
	}
	defer func() { _ = root.Close() }() // opened for reading
	sum := sha256.New()
	if err := json.NewEncoder(sum).Encode(commands); err != nil {
		return "", err
	}
	var names []string
	for _, dir := range []string{".", "*", "*/*"} {
		for _, lock := range locks() {
			names = append(names, found(root, path.Join(dir, lock))...)
		}
	}
	for _, c := range commands {
		for _, pattern := range c.WhenChanged {
			names = append(names, found(root, pattern)...)
		}
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		data, err := folders.ReadFile(root, name, mostRead)
		if err != nil {
			continue // no file, or none that a setup could go by
		}
		fmt.Fprintf(sum, "%q %d\n", name, len(data))
		sum.Write(data)
	}
	return "sha256:" + hex.EncodeToString(sum.Sum(nil)), nil
}

const mostRead = 64 << 20

// locks are the files by which package managers know what to install.
func locks() []string {
	return []string{
		"go.sum", "go.work.sum", "package-lock.json", "npm-shrinkwrap.json", "pnpm-lock.yaml", "yarn.lock", "bun.lock", "bun.lockb",
		"uv.lock", "poetry.lock", "requirements*.txt", "*-requirements.txt", "Cargo.lock", "Gemfile.lock", "pom.xml", "gradle.lockfile", "build.gradle", "build.gradle.kts", "libs.versions.toml",
		"packages.lock.json", "Directory.Packages.props", "*.csproj", "*.fsproj", "*.vbproj",
	}
}

// found gives the files that a pattern names, but not in folders of what was installed, which have lock files, too.
func found(root *os.Root, pattern string) []string {
	names, err := fs.Glob(root.FS(), pattern)
	if err != nil {
		return nil // a pattern of people, which was checked when it was read
	}
	return slices.DeleteFunc(names, func(name string) bool {
		return strings.Contains(name, "node_modules/") || strings.HasPrefix(name, ".")
	})
}

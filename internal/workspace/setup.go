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
	keptDir = "setup" // files 0, 1, 2 and so on, made and half
	made    = keptDir + "/made.json"
	half    = "half" // a copy that is not whole, beside where it is to be
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
	if err := s.forget(); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(s.Root, keptDir), 0o700); err != nil {
		return err
	}
	root, err := os.OpenRoot(s.Root) // a program may have laid links in the tree
	if err != nil {
		return err
	}
	defer root.Close() // nothing is written through it later
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

// forget removes what is kept: first what says that it is whole.
func (s SetupStore) forget() error {
	if err := ignoreMissing(os.Remove(filepath.Join(s.Root, filepath.FromSlash(made)))); err != nil {
		return err
	}
	return folders.RemoveAll(filepath.Join(s.Root, keptDir))
}

// Give copies what is kept into the tree, for agents, as far as it is missing. What an agent does to the copy reaches
// nobody else.
func (s SetupStore) Give(ctx context.Context) error {
	return s.place(ctx, filepath.Join(s.Root, treeDir))
}

// place copies what is kept into a folder, but for what is there already. Nothing gets there by halves.
func (s SetupStore) place(ctx context.Context, dir string) error {
	r, err := s.read()
	if err != nil {
		return ignoreMissing(err)
	}
	root, err := os.OpenRoot(s.Root)
	if err != nil {
		return err
	}
	defer root.Close() // what is copied is closed by then
	above, err := os.OpenRoot(filepath.Dir(dir))
	if err != nil {
		return err
	}
	defer above.Close() // as above
	name := filepath.Base(dir)
	tree, err := above.OpenRoot(name)
	if err != nil {
		return err
	}
	defer tree.Close() // as above
	for i, p := range r.Paths {
		if _, err := tree.Lstat(p); err == nil {
			continue
		}
		folders.UnlockAbove(tree, p)
		err := errors.Join(tree.MkdirAll(path.Dir(p), 0o755), folders.Remove(above, half), folders.Copy(ctx, root, path.Join(keptDir, strconv.Itoa(i)), above, half))
		if err == nil && folders.Beyond(tree, p) {
			err = errors.New("a link leads elsewhere there")
		}
		if err == nil {
			err = above.Rename(half, path.Join(name, p))
		}
		if err != nil {
			return fmt.Errorf("copy %s into %s: %w", p, name, err)
		}
	}
	return nil
}

func (s SetupStore) read() (r record, err error) {
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

// digest names commands and the state of what they depend on: lock files, and what the commands name.
func (s SetupStore) digest(commands []pipelines.Setup) (string, error) {
	root, err := os.OpenRoot(filepath.Join(s.Root, treeDir))
	if err != nil {
		return "", err
	}
	defer root.Close() // opened for reading
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

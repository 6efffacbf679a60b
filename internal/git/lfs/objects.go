package lfs

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
	"github.com/reprise-ci/reprise/internal/folders"
)

// ObjectIn is where a folder of Git LFS has an object.
func ObjectIn(storage, oid string) string {
	return filepath.Join(storage, "objects", oid[:2], oid[2:4], oid)
}

// In reports whether a folder of Git LFS has what the pointer stands for.
func (p Pointer) In(storage string) bool {
	info, err := os.Lstat(ObjectIn(storage, p.Oid))
	return err == nil && info.Mode().IsRegular() && info.Size() == p.Size
}

// Read gives what the pointer stands for from a folder in which git-lfs works. What lies
// there and is not that, or lies elsewhere and is only linked, is an error.
func (p Pointer) Read(storage string) ([]byte, error) {
	f, err := p.open(storage)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // opened for reading
	data, err := io.ReadAll(io.LimitReader(f, p.Size+1))
	if err == nil && fmt.Sprintf("%x", sha256.Sum256(data)) != p.Oid {
		err = p.wrong()
	}
	return data, err
}

// Copy copies it durably and in one step to another folder, if Read would give it.
func (p Pointer) Copy(storage, to string) error {
	to = ObjectIn(to, p.Oid)
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	in, err := p.open(storage)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // opened for reading
	out, err := renameio.NewPendingFile(to, renameio.WithTempDir(filepath.Dir(to)), renameio.WithPermissions(0o644))
	if err != nil {
		return err
	}
	defer func() { _ = out.Cleanup() }() // what is left of it is told by what came before
	sum := sha256.New()
	if _, err := io.Copy(io.MultiWriter(out, sum), io.LimitReader(in, p.Size+1)); err != nil {
		return err
	}
	if fmt.Sprintf("%x", sum.Sum(nil)) != p.Oid {
		return p.wrong()
	}
	return out.CloseAtomicallyReplace()
}

// open opens it without waiting, and without leaving the folder through a link.
func (p Pointer) open(storage string) (*os.File, error) {
	root, err := os.OpenRoot(storage)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // the file stays open
	f, _, err := folders.Open(root, filepath.ToSlash(ObjectIn(".", p.Oid)))
	return f, err
}

func (p Pointer) wrong() error {
	return fmt.Errorf("git-lfs has stored something else for %s than its pointer says: check the disk and the program, with git lfs fsck and git lfs version", p.Path)
}

// Made reports whether git-lfs has put something there in the folder in which it works,
// and the folder of the user does not have it.
func (p Pointer) Made(store, checkout string) bool {
	_, made := os.Lstat(ObjectIn(store, p.Oid))
	_, known := os.Stat(ObjectIn(checkout, p.Oid))
	return made == nil && known != nil
}

// RemoveKnown removes from the folder in which git-lfs works what that of the user has.
func RemoveKnown(store, checkout string) error {
	root, err := os.OpenRoot(store)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // nothing is written through it
	err = fs.WalkDir(root.FS(), "objects", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || len(d.Name()) != 2*sha256.Size {
			return err
		}
		if _, err := os.Stat(ObjectIn(checkout, d.Name())); err != nil {
			return nil // that one has it not
		}
		return root.Remove(name)
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

package lfs

import (
	"crypto/sha256"
	"fmt"
	"io"
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
	root, err := os.OpenRoot(storage)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // opened for reading
	f, _, err := folders.Open(root, filepath.ToSlash(ObjectIn(".", p.Oid)))
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }() // likewise
	data, err := io.ReadAll(io.LimitReader(f, p.Size+1))
	if err == nil && fmt.Sprintf("%x", sha256.Sum256(data)) != p.Oid {
		err = fmt.Errorf("git-lfs has stored something else for %s than its pointer says: check the disk and the program, with git lfs fsck and git lfs version", p.Path)
	}
	return data, err
}

// Copy copies it durably and in one step to another folder, if Read gives it.
func (p Pointer) Copy(storage, to string) error {
	data, err := p.Read(storage)
	if err != nil {
		return err
	}
	to = ObjectIn(to, p.Oid)
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return renameio.WriteFile(to, data, 0o644, renameio.WithTempDir(filepath.Dir(to)))
}

package folders

import (
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/renameio/v2"
)

// TakeOver moves a file that never changes to a place where it may exist
// already. Between two file systems it copies.
func TakeOver(to, from string) error {
	if _, err := os.Lstat(to); err == nil {
		return nil
	}
	if _, err := os.Lstat(from); err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	if os.Rename(from, to) == nil {
		return nil
	}
	data, err := os.Open(from)
	if err != nil {
		return err
	}
	defer data.Close()
	part, err := renameio.NewPendingFile(to, renameio.WithTempDir(filepath.Dir(to)), renameio.WithStaticPermissions(0o444))
	if err != nil {
		return err
	}
	defer part.Cleanup()
	if _, err := io.Copy(part, data); err != nil {
		return err
	}
	return part.CloseAtomicallyReplace()
}

// Inside says whether p is dir or lies in it, symbolic links aside.
func Inside(p, dir string) bool {
	for ; ; p = filepath.Dir(p) {
		if real, err := filepath.EvalSymlinks(p); err == nil {
			if d, err := filepath.EvalSymlinks(dir); err == nil {
				dir = d
			}
			rel, err := filepath.Rel(dir, real)
			return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
		}
		if p == filepath.Dir(p) {
			return false
		}
	}
}

package folders

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/google/renameio/v2"
	"golang.org/x/text/unicode/norm"
)

// Parents lists the folders above p, outermost first.
func Parents(p string) (out []string) {
	for i, c := range p {
		if c == '/' {
			out = append(out, p[:i])
		}
	}
	return out
}

// Beyond says whether a folder above p is none: a symbolic link in its place leads elsewhere, and p is not there.
func Beyond(top *os.Root, p string) bool {
	return slices.ContainsFunc(Parents(p), func(dir string) bool {
		info, err := top.Lstat(dir)
		return err != nil || !info.IsDir()
	})
}

// MakeParents makes the folders above p writable, in place of whatever else has their names.
func MakeParents(top *os.Root, p string) error {
	UnlockAbove(top, p)
	for _, dir := range Parents(p) {
		info, err := top.Lstat(dir)
		if err == nil && info.IsDir() {
			continue
		}
		if err == nil {
			if err := top.Remove(dir); err != nil {
				return err
			}
		}
		if err := top.Mkdir(dir, 0o755); err != nil {
			return err
		}
	}
	return nil
}

// WriteFile puts a file in place in one step. It needs no flush: a power cut brings the tree back to the commit.
func WriteFile(top *os.Root, p string, data []byte, mode fs.FileMode) error {
	if err := MakeParents(top, p); err != nil {
		return err
	}
	if info, err := top.Lstat(p); err == nil && info.IsDir() {
		if err := RemoveWithin(top, p); err != nil {
			return err
		}
	}
	temp := path.Join(path.Dir(p), ".reprise-write")
	if err := RemoveWithin(top, temp); err != nil {
		return err
	}
	f, err := top.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, mode)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = top.Rename(temp, p)
	}
	if err != nil {
		_ = top.Remove(temp)
		return fmt.Errorf("write %s: %w", p, err)
	}
	return nil
}

// PutFile writes a file durably and in one step, if it does not hold data already.
func PutFile(name string, data []byte) error {
	if old, err := os.ReadFile(name); err == nil && bytes.Equal(old, data) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return renameio.WriteFile(name, data, 0o644, renameio.WithTempDir(filepath.Dir(name))) // where sweep finds it
}

// PutPrivate puts a file that only its owner can read in the place of the one that a path leads to, in one step.
func PutPrivate(name string, data []byte) error {
	file, err := filepath.EvalSymlinks(name)
	if err != nil {
		return err
	}
	return renameio.WriteFile(file, data, 0o600, renameio.WithTempDir(filepath.Dir(file)))
}

// CopyFile makes a new file with what another one holds, and its time.
func CopyFile(to, from string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	info, e := in.Stat()
	if err = errors.Join(err, e, out.Close()); err == nil {
		err = os.Chtimes(to, info.ModTime(), info.ModTime())
	}
	return err
}

// RemoveWithin is Remove that treats anything behind a symbolic link as absent.
func RemoveWithin(top *os.Root, p string) error {
	if Beyond(top, p) {
		return nil
	}
	return Remove(top, p)
}

// RemoveNew removes a file or folder that is not in the commit, and the folders above it that are empty then.
func RemoveNew(top *os.Root, p string) error {
	if err := RemoveWithin(top, p); err != nil {
		return fmt.Errorf("remove %s: %w", p, err)
	}
	dirs := Parents(p)
	for i := len(dirs) - 1; i >= 0 && !Beyond(top, dirs[i]); i-- {
		if top.Remove(dirs[i]) != nil {
			break // not empty
		}
	}
	return nil
}

// TakeOver moves a file that never changes to where it may exist already, if it is there. Between two file systems it copies.
func TakeOver(to, from string) error {
	if _, err := os.Lstat(from); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	err := os.MkdirAll(filepath.Dir(to), 0o755)
	if err != nil || os.Rename(from, to) == nil {
		return err
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return renameio.WriteFile(to, data, 0o444, renameio.WithTempDir(filepath.Dir(to)))
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

// Straighten removes what stands in the place of a folder and is none: what a link of a program leads to is not ours.
func Straighten(dir string) error {
	if info, err := os.Lstat(dir); err != nil || info.IsDir() {
		return nil // it is made, if it is not there
	}
	return os.Remove(dir)
}

// Standing are folders as they stood at some time.
type Standing map[string]os.FileInfo

// Stands notes how some folders stand now. Those that are not there are left out.
func Stands(dirs ...string) Standing {
	all := Standing{}
	for _, dir := range dirs {
		if info, err := os.Lstat(dir); err == nil {
			all[dir] = info
		}
	}
	return all
}

// Still says which folder something else stands in the place of by now. One that is gone is none of them.
func (s Standing) Still() error {
	for dir, was := range s {
		if now, err := os.Lstat(dir); err == nil && !os.SameFile(now, was) {
			return fmt.Errorf("a program has put something else in the place of %s: nothing of it is taken; start again, which makes that folder anew", dir)
		}
	}
	return nil
}

// LinkBelow gives the symbolic link closest to dir that file leads through below dir, or is; "" if there is none, or
// if it does not lead there. The file is absolute and clean; dir may be one of several names of that folder.
func LinkBelow(dir, file string) string {
	top, err := os.Stat(dir)
	if err != nil {
		return "" // so nothing is below it
	}
	link, below := "", ""
	for p := file; p != filepath.Dir(p); p = filepath.Dir(p) {
		if info, err := os.Lstat(p); err == nil && info.Mode().Type() == fs.ModeSymlink {
			link = p
		}
		if above, err := os.Stat(filepath.Dir(p)); err == nil && os.SameFile(above, top) {
			below = link
		}
	}
	return below
}

// foldCase gives a path as file systems compare it that fold case and take an accent for a character of its own.
func foldCase(p string) string {
	return norm.NFC.String(strings.Map(func(c rune) rune {
		least := c
		for f := unicode.SimpleFold(c); f != c; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return least
	}, norm.NFC.String(p)))
}

// Aliases gives, for new paths, an existing one that is not gone, or an earlier new one, that some file systems take
// for the same. The folders above count, too: such a system would put both into one folder.
func Aliases(added, existing []string, gone map[string]bool) map[string]string {
	there := map[string][]string{} // by what they are folded to
	for _, name := range existing {
		if !gone[name] {
			spell(there, name)
		}
	}
	same := map[string]string{}
	for _, name := range added {
		for _, p := range append(Parents(name), name) {
			if known := there[foldCase(p)]; len(known) > 0 && !slices.Contains(known, p) {
				same[name] = known[0]
				break
			}
		}
		spell(there, name)
	}
	return same
}

// spell notes a path, and the folders above it, by what they are folded to.
func spell(there map[string][]string, name string) {
	for _, p := range append(Parents(name), name) {
		if folded := foldCase(p); !slices.Contains(there[folded], p) {
			there[folded] = append(there[folded], p)
		}
	}
}

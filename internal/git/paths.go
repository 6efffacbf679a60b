package git

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/renameio/v2"

	"github.com/reprise-ci/reprise/internal/folders"
)

// checkPath refuses what must not be committed by that name.
func checkPath(p string) error {
	if i := strings.IndexFunc(p, func(c rune) bool { return c < ' ' || c == 0x7f }); i >= 0 {
		return fmt.Errorf("%q: a name with a control character is not committed: rename the file", p)
	}
	if p == "" || p == "." || p != path.Clean(p) || path.IsAbs(p) || p == ".." || strings.HasPrefix(p, "../") {
		return fmt.Errorf("%q is not a clean path from the top of the repository", p)
	}
	for part := range strings.SplitSeq(p, "/") {
		// Other systems take these names for .git as well.
		name := strings.ToLower(strings.TrimRight(part, ". "))
		if name == ".git" || name == "git~1" {
			return fmt.Errorf("%q lies in a .git folder, which is never committed", p)
		}
	}
	return nil
}

// under says whether p is dir or lies in it. Nothing lies under "".
func under(p, dir string) bool {
	rest, ok := strings.CutPrefix(p, dir)
	return ok && dir != "" && (rest == "" || rest[0] == '/')
}

func underAny(p string, dirs []string) bool {
	return slices.ContainsFunc(dirs, func(dir string) bool { return under(p, strings.TrimSuffix(dir, "/")) })
}

// overlap says whether one of the paths is, or contains, or lies in, one of the
// others.
func overlap(a, b []string) bool {
	seen := map[string]bool{}
	for _, p := range a {
		for ; p != "."; p = path.Dir(p) {
			seen[p] = true
		}
	}
	whole := map[string]bool{}
	for _, p := range a {
		whole[p] = true
	}
	for _, p := range b {
		if seen[p] {
			return true
		}
		for p = path.Dir(p); p != "."; p = path.Dir(p) {
			if whole[p] {
				return true
			}
		}
	}
	return false
}

// parents lists the folders above p, outermost first.
func parents(p string) []string {
	var out []string
	for i, c := range p {
		if c == '/' {
			out = append(out, p[:i])
		}
	}
	return out
}

// beyond says whether a folder above p is not really a folder: a symbolic link
// in its place leads elsewhere, and p is not there.
func beyond(top *os.Root, p string) bool {
	for _, dir := range parents(p) {
		if info, err := top.Lstat(dir); err != nil || !info.IsDir() {
			return true
		}
	}
	return false
}

// makeParents makes the folders above p, in place of whatever else has their
// names, and sees to it that they can be written in.
func makeParents(top *os.Root, p string) error {
	folders.UnlockAbove(top, p)
	for _, dir := range parents(p) {
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

// writeFile puts a file in place in one step. It needs no flush: after a power
// cut the tree is brought back to the commit.
func writeFile(top *os.Root, p string, data []byte, mode fs.FileMode) error {
	if err := makeParents(top, p); err != nil {
		return err
	}
	if info, err := top.Lstat(p); err == nil && info.IsDir() {
		if err := removeAll(top, p); err != nil {
			return err
		}
	}
	temp := path.Join(path.Dir(p), ".reprise-write")
	if err := removeAll(top, temp); err != nil {
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

// putFile writes a file durably and in one step, if it does not hold data
// already.
func putFile(name string, data []byte) error {
	if old, err := os.ReadFile(name); err == nil && bytes.Equal(old, data) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return renameio.WriteFile(name, data, 0o644, renameio.WithTempDir(filepath.Dir(name))) // where sweep finds it
}

func copyFile(to, from string) error {
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
	if e := out.Close(); err == nil {
		err = e
	}
	return err
}

// removeAll removes p and what is in it, also from folders that were made
// unwritable. It never follows a symbolic link.
func removeAll(top *os.Root, p string) error {
	if beyond(top, p) {
		return nil
	}
	return folders.Remove(top, p)
}

// removeNew removes a file or folder that is not in the commit, and the folders
// above it that are empty then.
func removeNew(top *os.Root, p string) error {
	if err := removeAll(top, p); err != nil {
		return fmt.Errorf("remove %s: %w", p, err)
	}
	dirs := parents(p)
	for i := len(dirs) - 1; i >= 0 && !beyond(top, dirs[i]); i-- {
		if top.Remove(dirs[i]) != nil {
			break // not empty
		}
	}
	return nil
}

// records splits what git prints with -z.
func records(out []byte) []string {
	text := strings.TrimSuffix(string(out), "\x00")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\x00")
}

// quote writes a path the way fast-import and lists of object folders read it.
// Control characters have been refused before.
func quote(p string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(p) + `"`
}

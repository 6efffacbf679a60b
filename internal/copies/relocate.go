package copies

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/folders"
)

// How far down virtual environments are looked for, and the most that a file has which
// names where one is, in bytes.
const (
	mostDown = 3
	mostText = 4 << 20
)

// Relocate has the virtual environments of Python in a copy of a folder name the copy where
// they name that folder: in the first lines of programs, and where a package is to be read
// from its sources. Else the programs of the copy would run the code of the other one. It
// is for what is installed in the copy; other tools name their folders from where they are.
func Relocate(dir, of string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // what is written is closed by then
	r := relocation{root, regexp.MustCompile(regexp.QuoteMeta(of) + `([^\w.-]|$)`), []byte(strings.ReplaceAll(dir, "$", "$$") + "${1}")}
	return r.below(".", mostDown)
}

type relocation struct {
	root *os.Root
	old  *regexp.Regexp // names the other folder, and what comes after it
	now  []byte         // what stands for both
}

// below looks for virtual environments in a folder and in those below it.
func (r relocation) below(dir string, down int) error {
	entries, err := folders.List(r.root, dir)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(entries, func(e fs.DirEntry) bool { return e.Name() == "pyvenv.cfg" }) {
		return r.environment(dir)
	}
	for _, e := range entries {
		if name := e.Name(); e.IsDir() && down > 0 && name != ".git" && name != "node_modules" {
			if err := r.below(path.Join(dir, name), down-1); err != nil {
				return err
			}
		}
	}
	return nil
}

// environment takes the files of a virtual environment that say where things are.
func (r relocation) environment(dir string) error {
	for _, pattern := range []string{
		"pyvenv.cfg", "bin/*", "lib/*/site-packages/*.pth", "lib/*/site-packages/*.egg-link",
		"lib/*/site-packages/__editable__*.py", "lib/*/site-packages/*/direct_url.json",
	} {
		names, err := fs.Glob(r.root.FS(), path.Join(escaped(dir), pattern))
		if err != nil {
			return err
		}
		for _, name := range names {
			if err := r.file(name); err != nil {
				return err
			}
		}
	}
	return nil
}

// escaped is a name as a pattern for it alone.
func escaped(name string) string { return regexp.MustCompile(`[*?\[\\]`).ReplaceAllString(name, `\$0`) }

// file writes a file anew, if it names the other folder. Links are no files: they lead to
// programs outside, or to others here.
func (r relocation) file(name string) error {
	info, err := r.root.Lstat(name)
	if err != nil || !info.Mode().IsRegular() {
		return err
	}
	data, err := folders.ReadFile(r.root, name, mostText)
	if info.Size() > mostText || errors.Is(err, fs.ErrPermission) || err == nil && !r.old.Match(data) {
		return nil // nothing that anybody would read there
	}
	if err != nil {
		return err
	}
	folders.UnlockAbove(r.root, name)
	if err := r.root.Remove(name); err != nil { // it may have another name, and be closed to be written to
		return err
	}
	return r.root.WriteFile(name, r.old.ReplaceAll(data, r.now), info.Mode().Perm())
}

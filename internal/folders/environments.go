package folders

import (
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
)

// Relocate has the virtual environments of Python in a copy of a folder name the copy where
// they name that folder: in the first lines of programs, and where a package is to be read
// from its sources. Else the programs of the copy would run the code of the other one. It
// is for what is installed in the copy, at most three folders down.
func Relocate(dir, of string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // what is written is closed by then
	old := regexp.MustCompile(regexp.QuoteMeta(of) + `([^\w.-]|$)`)
	now := []byte(strings.ReplaceAll(dir, "$", "$$") + "${1}")
	return Walk(root, ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules" || strings.Count(p, "/") >= 3):
			return fs.SkipDir
		case d.Name() == "pyvenv.cfg":
			return relocate(root, path.Dir(p), old, now)
		}
		return nil
	})
}

// relocate takes the files of a virtual environment that say where things are. Links are no
// files: they lead to programs outside, or to others here.
func relocate(root *os.Root, dir string, old *regexp.Regexp, now []byte) error {
	in, err := root.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // what is written is closed by then
	for _, pattern := range []string{
		"pyvenv.cfg", "bin/*", "lib/*/site-packages/*.pth", "lib/*/site-packages/*.egg-link",
		"lib/*/site-packages/__editable__*.py", "lib/*/site-packages/*/direct_url.json",
	} {
		names, err := fs.Glob(in.FS(), pattern)
		if err != nil {
			return err
		}
		for _, name := range names {
			data, err := ReadFile(in, name, 4<<20)
			if err != nil || !old.Match(data) {
				continue // nothing that anybody would read there
			}
			info, err := in.Lstat(name)
			if err == nil {
				UnlockAbove(in, name)
				err = in.Remove(name) // it may have another name, and be closed to be written to
			}
			if err == nil {
				err = in.WriteFile(name, old.ReplaceAll(data, now), info.Mode().Perm())
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

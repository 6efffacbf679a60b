package git

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/folders"
)

// Others gives what of a work tree a listing does not have, ignored or not: files, symbolic
// links, and whole folders of which it has nothing, unless they hold no file. The folder that
// the listing is without is left alone, and so is .git. With fold, paths are the same that
// file systems take for the same which fold case. A folder that somebody locked is opened.
func (l *listing) Others(top *os.Root, fold bool) ([]string, error) {
	o := others{top: top, of: l, name: func(p string) string { return p }}
	if fold {
		folded := listing{}
		for _, f := range l.Files {
			folded.Files = append(folded.Files, listedFile{Path: folders.FoldCase(f.Path)})
		}
		slices.SortFunc(folded.Files, func(a, b listedFile) int { return strings.Compare(a.Path, b.Path) })
		o.of, o.name = &folded, folders.FoldCase
	}
	err := o.look(".", l.Without)
	return o.found, err
}

type others struct {
	top   *os.Root
	of    *listing
	name  func(path string) string
	found []string
}

// look looks through a folder of which the listing has something, or which leads to the one
// that is left alone.
func (o *others) look(dir, without string) error {
	entries, err := o.list(dir)
	for _, e := range entries {
		p := path.Join(dir, e.Name())
		switch {
		case err != nil:
			return err
		case e.Name() == ".git", p == without, o.of.Has(o.name(p)):
		case !e.IsDir():
			if keptEntry(e) {
				o.found = append(o.found, p)
			}
		case o.of.hasFolder(o.name(p)) || Under(without, p):
			err = o.look(p, without)
		default:
			var some bool
			if some, err = o.holds(p); some {
				o.found = append(o.found, p)
			}
		}
	}
	return err
}

// holds reports whether a folder holds a file or a repository.
func (o *others) holds(dir string) (bool, error) {
	entries, err := o.list(dir)
	for _, e := range entries {
		if err != nil {
			return false, err
		}
		some := e.Name() == ".git" || keptEntry(e)
		if e.IsDir() && e.Name() != ".git" {
			some, err = o.holds(path.Join(dir, e.Name()))
		}
		if some {
			return true, err
		}
	}
	return false, err
}

// kept reports whether a commit may have an entry as a file: it has no pipes and devices.
func keptEntry(e fs.DirEntry) bool { return e.Type()&^fs.ModeSymlink == 0 }

// list gives what is in a folder; nothing if that is gone by now.
func (o *others) list(dir string) ([]fs.DirEntry, error) {
	entries, err := folders.List(o.top, dir)
	if errors.Is(err, fs.ErrPermission) {
		folders.UnlockAbove(o.top, dir+"/x")
		entries, err = folders.List(o.top, dir)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return entries, err
}

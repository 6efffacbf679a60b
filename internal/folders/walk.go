package folders

import (
	"errors"
	"io/fs"
	"os"
	"path"
)

// Place is what a walk has come to: its whole name, and how it is called from the folder
// that is open nearest above it. Looking there costs one step, and by the whole name one for
// each folder of it.
type Place struct {
	Name string
	In   *os.Root
	Base string
}

// below is the place of what is called so in the folder at p.
func (p Place) below(name string) Place {
	return Place{Name: path.Join(p.Name, name), In: p.In, Base: path.Join(p.Base, name)}
}

// mostOpen is how many folders within each other a walk holds open. An agent may have made
// any number of them, and the files that a process has open are limited.
const mostOpen = 30

// Walk is fs.WalkDir, which knows only names that are UTF-8.
func Walk(root *os.Root, name string, visit fs.WalkDirFunc) error {
	return WalkFolders(root, name, func(at Place, e fs.DirEntry, err error) error { return visit(at.Name, e, err) })
}

// WalkFolders is Walk whose visits are told the folder that a name lies in, which is open
// until they are over.
func WalkFolders(root *os.Root, name string, visit func(at Place, e fs.DirEntry, err error) error) error {
	info, err := root.Lstat(name)
	at := Place{Name: name, In: root, Base: name}
	if err != nil {
		err = visit(at, nil, err)
	} else {
		err = walk(at, mostOpen, fs.FileInfoToDirEntry(info), visit)
	}
	if errors.Is(err, fs.SkipDir) || errors.Is(err, fs.SkipAll) {
		return nil
	}
	return err
}

// walk visits a place and what is below it; it may hold so many folders open.
func walk(at Place, open int, entry fs.DirEntry, visit func(Place, fs.DirEntry, error) error) error {
	if err := visit(at, entry, nil); err != nil || !entry.IsDir() {
		if entry.IsDir() && errors.Is(err, fs.SkipDir) {
			return nil
		}
		return err
	}
	here := at
	if open > 0 {
		if sub, err := at.In.OpenRoot(at.Base); err == nil { // what cannot be opened cannot be listed, which is told
			defer func() { _ = sub.Close() }() // opened for reading
			here.In, here.Base = sub, "."
		}
	}
	entries, err := List(here.In, here.Base)
	if err != nil {
		if err = visit(at, entry, err); err != nil {
			if errors.Is(err, fs.SkipDir) {
				return nil
			}
			return err
		}
	}
	for _, e := range entries {
		if err := walk(here.below(e.Name()), open-1, e, visit); err != nil {
			if errors.Is(err, fs.SkipDir) {
				return nil // a file has the rest of its folder left out
			}
			return err
		}
	}
	return nil
}

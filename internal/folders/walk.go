package folders

import (
	"errors"
	"io/fs"
	"os"
	"path"
)

// Walk is fs.WalkDir, which knows only names that are UTF-8.
func Walk(root *os.Root, name string, visit fs.WalkDirFunc) error {
	info, err := root.Lstat(name)
	if err != nil {
		err = visit(name, nil, err)
	} else {
		err = walk(root, name, fs.FileInfoToDirEntry(info), visit)
	}
	if errors.Is(err, fs.SkipDir) || errors.Is(err, fs.SkipAll) {
		return nil
	}
	return err
}

func walk(root *os.Root, name string, entry fs.DirEntry, visit fs.WalkDirFunc) error {
	if err := visit(name, entry, nil); err != nil || !entry.IsDir() {
		if entry.IsDir() && errors.Is(err, fs.SkipDir) {
			return nil
		}
		return err
	}
	entries, err := List(root, name)
	if err != nil {
		if err = visit(name, entry, err); err != nil {
			if errors.Is(err, fs.SkipDir) {
				return nil
			}
			return err
		}
	}
	for _, e := range entries {
		if err := walk(root, path.Join(name, e.Name()), e, visit); err != nil {
			if errors.Is(err, fs.SkipDir) {
				return nil // a file has the rest of its folder left out
			}
			return err
		}
	}
	return nil
}

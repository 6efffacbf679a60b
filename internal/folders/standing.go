package folders

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Straighten removes what stands in the place of a folder and is none: a program that was
// not kept to its own folders can leave a link there, and what that leads to is not ours.
func Straighten(dir string) error {
	if info, err := os.Lstat(dir); err != nil || info.IsDir() {
		return nil // it is made, if it is not there
	}
	return os.Remove(dir)
}

// Standing are folders as they stood at some time.
type Standing []standing

type standing struct {
	dir string
	was os.FileInfo
}

// Stands notes how some folders stand now. Those that are not there are left out.
func Stands(dirs ...string) Standing {
	var all Standing
	for _, dir := range dirs {
		if info, err := os.Lstat(dir); err == nil {
			all = append(all, standing{dir, info})
		}
	}
	return all
}

// Still says which folder something else stands in the place of by now. One that is gone is
// none of them.
func (s Standing) Still() error {
	for _, f := range s {
		if now, err := os.Lstat(f.dir); err == nil && !os.SameFile(now, f.was) {
			return fmt.Errorf("a program has put something else in the place of %s: nothing of it is taken; start again, which makes that folder anew", f.dir)
		}
	}
	return nil
}

// LinkBelow gives the symbolic link closest to dir that a path leads through below dir, or is
// itself; "" if there is none, or if the path does not lead there. The path is absolute and clean; dir
// may be one of several names of that folder.
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

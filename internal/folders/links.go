package folders

import (
	"io/fs"
	"os"
	"path/filepath"
)

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

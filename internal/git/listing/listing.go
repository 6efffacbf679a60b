// Package listing is what a commit has, as a list of its files.
package listing

import (
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/git/folder"
	"github.com/reprise-ci/reprise/internal/git/pathname"
)

// File is a file, a symbolic link or a submodule of a commit. Without an ID there is none.
type File struct{ Path, Mode, ID string }

// Listing is what a commit has outside of one folder, in the order of the paths.
type Listing struct {
	Commit  string // "" for none
	Without string // the folder that is left out
	Files   []File
}

// Flags have ls-tree print what Of reads.
func Flags() []string { return []string{"ls-tree", "-r", "-z", "--full-tree"} }

// Of gives the listing of a commit as git ls-tree prints it.
func Of(out []byte, commit, without string) Listing {
	l := Listing{Commit: commit, Without: without}
	for _, record := range pathname.Records(out) {
		info, name, _ := strings.Cut(record, "\t")
		if f := strings.Fields(info); len(f) == 3 && !pathname.Under(name, without) { // mode, kind, id
			l.Files = append(l.Files, File{name, folder.PlainMode(f[0]), f[2]})
		}
	}
	return l
}

func (l *Listing) find(p string) (int, bool) {
	return slices.BinarySearchFunc(l.Files, p, func(f File, p string) int { return strings.Compare(f.Path, p) })
}

// Has reports whether there is something at a path, other than a folder.
func (l *Listing) Has(p string) bool {
	_, ok := l.find(p)
	return ok
}

// hasFolder reports whether there is something below a path.
func (l *Listing) hasFolder(p string) bool {
	i, _ := l.find(p + "/")
	return i < len(l.Files) && strings.HasPrefix(l.Files[i].Path, p+"/")
}

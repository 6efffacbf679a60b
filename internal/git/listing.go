// Package listing is what a commit has, as a list of its files.
package git

import (
	"slices"
	"strings"
)

// File is a file, a symbolic link or a submodule of a commit. Without an ID there is none.
type listedFile struct{ Path, Mode, ID string }

// Listing is what a commit has outside of one folder, in the order of the paths.
type listing struct {
	Commit  string // "" for none
	Without string // the folder that is left out
	Files   []listedFile
}

// Flags have ls-tree print what Of reads.
func listingArgs() []string { return []string{"ls-tree", "-r", "-z", "--full-tree"} }

// Of gives the listing of a commit as git ls-tree prints it.
func listingOf(out []byte, commit, without string) listing {
	l := listing{Commit: commit, Without: without}
	for _, record := range records(out) {
		info, name, _ := strings.Cut(record, "\t")
		if f := strings.Fields(info); len(f) == 3 && !Under(name, without) { // mode, kind, id
			l.Files = append(l.Files, listedFile{name, plainMode(f[0]), f[2]})
		}
	}
	return l
}

func (l *listing) find(p string) (int, bool) {
	return slices.BinarySearchFunc(l.Files, p, func(f listedFile, p string) int { return strings.Compare(f.Path, p) })
}

// Has reports whether there is something at a path, other than a folder.
func (l *listing) Has(p string) bool {
	_, ok := l.find(p)
	return ok
}

// hasFolder reports whether there is something below a path.
func (l *listing) hasFolder(p string) bool {
	i, _ := l.find(p + "/")
	return i < len(l.Files) && strings.HasPrefix(l.Files[i].Path, p+"/")
}

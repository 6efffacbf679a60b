// Package listing is what a commit has, as a list of its files.
package listing

import (
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/git/folder"
	"github.com/reprise-ci/reprise/internal/git/indexfile"
	"github.com/reprise-ci/reprise/internal/git/pathname"
)

// File is a file, a symbolic link or a submodule of a commit.
type File = indexfile.Entry

// Listing is what a commit has outside of one folder, in the order of the paths.
type Listing struct {
	Commit  string // "" for none
	Without string // the folder that is left out
	Files   []File
}

// Of gives the listing of a commit that an index was read from.
func Of(index *indexfile.File, commit, without string) Listing {
	l := Listing{Commit: commit, Without: without}
	for f := range index.All() {
		if !pathname.Under(f.Path, without) {
			l.Files = append(l.Files, f)
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

// Put puts a file in, in place of what is at its path; without an ID it takes that out.
func (l *Listing) Put(f File) {
	i, known := l.find(f.Path)
	switch {
	case pathname.Under(f.Path, l.Without):
	case f.ID != "" && known:
		l.Files[i] = f
	case f.ID != "":
		l.Files = slices.Insert(l.Files, i, f)
	case known:
		l.Files = slices.Delete(l.Files, i, i+1)
	}
}

// Changes gives the paths at which another listing has something else.
func (l *Listing) Changes(other Listing) (all []folder.Difference) {
	object := func(f File) folder.Object { return folder.Object{Mode: f.Mode, ID: f.ID} }
	for a, b := l.Files, other.Files; len(a)+len(b) > 0; {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].Path < b[0].Path:
			all = append(all, folder.Difference{Path: a[0].Path, Was: object(a[0])})
			a = a[1:]
		case len(a) == 0 || b[0].Path < a[0].Path:
			all = append(all, folder.Difference{Path: b[0].Path, Is: object(b[0])})
			b = b[1:]
		default:
			if a[0] != b[0] {
				all = append(all, folder.Difference{Path: a[0].Path, Was: object(a[0]), Is: object(b[0])})
			}
			a, b = a[1:], b[1:]
		}
	}
	return all
}

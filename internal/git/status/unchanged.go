package status

import (
	"os"

	"golang.org/x/sys/unix"

	"github.com/reprise-ci/reprise/internal/git/indexfile"
)

// Tree is a work tree with its index, which is looked at again and again.
type Tree struct {
	Top     *os.Root
	Index   string                   // the file
	Hash    int                      // bytes of the name of an object
	Without string                   // the folder that is left out
	Name    func(data []byte) string // of the object of a file

	// stopped is what ended the last look and may be there for long, such as a file that
	// is ignored: while it is, looking at the rest would be in vain.
	stopped string
}

// Unchanged says whether nothing is in the tree but what the index has, as the index has it.
// It says so only if that is certain, whatever programs did that were at work in the tree
// before, and however git is set up; else git has to be asked, which may find nothing either.
// It looks only where that is faster than a process of git.
func (t *Tree) Unchanged() bool {
	info, err := os.Lstat(t.Index)
	if err != nil || info.Size() > mostIndex {
		return false
	}
	index, err := indexfile.Read(t.Index, t.Hash)
	if err != nil {
		return false
	}
	top, err := t.Top.Open(".")
	if err != nil {
		return false
	}
	defer func() { _ = top.Close() }() // opened for reading
	l := &look{Tree: t, top: top, index: index, left: index.Len() - index.Below(t.Without)}
	if t.stopped != "" && l.stops(t.stopped) {
		return false
	}
	t.stopped = ""
	if !l.folder(top, "") || l.left > 0 {
		return false
	}
	for _, d := range l.doubted {
		if !l.same(d) {
			t.stopped = d.path
			return false
		}
	}
	return true
}

// mostIndex is the size in bytes of the largest index whose files are looked at here. It has
// some 2,000 entries.
const mostIndex = 200 << 10

// stops says whether a path that ended a look before would end it again.
func (l *look) stops(p string) bool {
	var is unix.Stat_t
	if unix.Fstatat(int(l.top.Fd()), p, &is, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return false
	}
	noted, id, known := l.index.Noted(p)
	return !known || !trusted(noted, &is, l.index.Written()) && !(tells(noted, &is) && l.same(doubt{p, noted.Mode, is.Size, id}))
}

// trusted says whether a file must be the one that git saw, with the same data. No program can
// set the time of its last change. So if that is the time that git noted, and from before the
// index was written, then nothing changed since. As old as the index is also what changed after git
// had looked. A size of nothing is what git notes where it knows that it has to look again.
func trusted(noted indexfile.Seen, is *unix.Stat_t, written indexfile.Stamp) bool {
	return noted == seen(is) && noted.Size != 0 && noted.Changed.Before(written) && noted.Modified.Before(written)
}

// tells says whether what a file holds tells if git takes it for the same. A file with several
// names may belong to somebody else, and is left to git.
func tells(noted indexfile.Seen, is *unix.Stat_t) bool {
	return mode(uint32(is.Mode)) == noted.Mode && (noted.Mode == link || is.Nlink == 1)
}

// seen is what git notes about a file.
func seen(is *unix.Stat_t) indexfile.Seen {
	return indexfile.Seen{
		Changed: indexfile.StampOf(is.Ctim.Unix()), Modified: indexfile.StampOf(is.Mtim.Unix()),
		Device: uint32(is.Dev), Inode: uint32(is.Ino), Mode: mode(uint32(is.Mode)),
		User: is.Uid, Group: is.Gid, Size: uint32(is.Size),
	}
}

// link is the mode of a symbolic link.
const link = 0o120000

// mode is a mode as git keeps it; 0 for what it does not keep.
func mode(is uint32) uint32 {
	switch is & unix.S_IFMT {
	case unix.S_IFLNK:
		return link
	case unix.S_IFREG:
		return 0o100644 | is&0o100 | is&0o100>>3 | is&0o100>>6
	}
	return 0
}

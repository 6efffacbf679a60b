package status

import (
	"os"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/reprise-ci/reprise/internal/git/indexfile"
)

// look is one look at a tree.
type look struct {
	*Tree
	top     *os.File
	index   *indexfile.File
	left    int // entries that were not found yet
	doubted []doubt
	bytes   int64 // of what is doubted
}

// doubt is a file that git would have to read, as its times do not tell whether it changed.
type doubt struct {
	path string
	mode uint32
	size int64
	id   string
}

// mostBytes is how much is read of such files, all in all. Git would have to read them, too.
const mostBytes = 1 << 20

// folder looks at all that a folder holds, whose name ends with a slash, and says whether the
// look may go on. What is not in the index is searched first: that costs nothing. No kind of
// an entry is believed, since not all file systems tell it.
func (l *look) folder(dir *os.File, at string) bool {
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return false
	}
	var files, inside []string
	for _, name := range names {
		p := at + name
		switch {
		case p == ".git", p == l.Without:
		case l.index.Has(p):
			files = append(files, name)
		case l.index.Below(p) > 0 || strings.HasPrefix(l.Without, p+"/"):
			inside = append(inside, name)
		default:
			l.stopped = p
			return false
		}
	}
	for _, name := range files {
		if !l.file(dir, name, at+name) {
			return false
		}
	}
	for _, name := range inside {
		if !l.enter(dir, name, at+name+"/") {
			return false
		}
	}
	return true
}

func (l *look) enter(dir *os.File, name, at string) bool {
	fd, err := unix.Openat(int(dir.Fd()), name, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return false
	}
	inside := os.NewFile(uintptr(fd), at)
	defer func() { _ = inside.Close() }() // opened for reading
	return l.folder(inside, at)
}

func (l *look) file(dir *os.File, name, p string) bool {
	var is unix.Stat_t
	if unix.Fstatat(int(dir.Fd()), name, &is, unix.AT_SYMLINK_NOFOLLOW) != nil {
		return false
	}
	l.left--
	noted, id, _ := l.index.Noted(p)
	if trusted(noted, &is, l.index.Written()) {
		return true
	}
	l.bytes += is.Size
	l.doubted = append(l.doubted, doubt{p, noted.Mode, is.Size, id})
	if !tells(noted, &is) || l.bytes > mostBytes {
		l.stopped = p
		return false
	}
	return true
}

// same says whether a file holds the very bytes that the index has. Git may convert them, and
// find more that is the same.
func (l *look) same(d doubt) bool {
	if d.size > mostBytes {
		return false
	}
	data := make([]byte, d.size+1) // more than it had is found, too
	n, err := l.read(d, data)
	return err == nil && int64(n) == d.size && l.Name(data[:n]) == d.id
}

// read reads with what the system has for it: whatever was put in the place of a file that
// was just looked at, it does not wait, and what it reads is no more than is asked for.
func (l *look) read(d doubt, data []byte) (int, error) {
	if d.mode == link {
		return unix.Readlinkat(int(l.top.Fd()), d.path, data)
	}
	fd, err := unix.Openat(int(l.top.Fd()), d.path, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	defer func() { _ = unix.Close(fd) }() // opened for reading
	return unix.Read(fd, data)
}

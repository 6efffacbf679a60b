package git

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/reprise-ci/reprise/internal/folders"
)

// scratchFile is a file of the scratch .git: a text, or a copy of another file,
// which is left out where that one is not there.
type scratchFile struct{ name, text, from string }

// open opens what the file is to hold. The caller closes it.
func (f scratchFile) open() (io.ReadCloser, int64, error) {
	if f.from == "" {
		return io.NopCloser(strings.NewReader(f.text)), int64(len(f.text)), nil
	}
	in, err := os.Open(f.from)
	if err != nil {
		return nil, 0, err
	}
	info, err := in.Stat()
	if err != nil {
		_ = in.Close() // opened for reading
		return nil, 0, err
	}
	return in, info.Size(), nil
}

// write makes the file, which must not be there yet.
func (f scratchFile) write(root *os.Root, to string) error {
	in, _, err := f.open()
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // opened for reading
	out, err := root.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// renew writes those files anew of the .git in the work tree that are no longer as
// they are to be, and says whether it is like a fresh one then. It is not if there is
// more or less in it: then it must be made anew as a whole. Most calls leave it as
// it is, but for the index, and making all of it takes longer than looking.
func (s scratch) renew(parts []scratchFile) bool {
	if err := s.root.RemoveAll(scratchTemp); err != nil { // a killed process may have left it
		return false
	}
	if info, err := s.top.Lstat(".git"); err != nil || !info.IsDir() {
		return false
	}
	top, err := s.top.OpenRoot(".git")
	if err != nil {
		return false
	}
	defer func() { _ = top.Close() }() // opened for reading
	missing, stale := map[string]scratchFile{}, []scratchFile(nil)
	for _, part := range parts {
		missing[part.name] = part
	}
	found := 0
	err = folders.WalkFolders(top, ".", func(at folders.Place, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := at.In.Lstat(at.Base)
		if err != nil {
			return err
		}
		part, known := missing[at.Name]
		switch {
		case info.IsDir() && asMade(info, 0o755) && slices.Contains(scratchFolders(), at.Name):
			found++
			return nil
		case !known || !info.Mode().IsRegular() || !asMade(info, 0o644):
			return errAnew
		}
		delete(missing, at.Name)
		same, err := part.same(at)
		if !same {
			stale = append(stale, part)
		}
		return err
	})
	if err != nil || found != len(scratchFolders()) {
		return false
	}
	for _, part := range missing { // such as a shallow that there is none of
		if _, err := os.Lstat(part.from); part.from == "" || !errors.Is(err, fs.ErrNotExist) {
			return false
		}
	}
	return !slices.ContainsFunc(stale, func(part scratchFile) bool { return s.replace(part) != nil })
}

// errAnew says that something is there that a fresh .git does not have.
var errAnew = errors.New("it must be made anew")

// asMade says whether a file or folder is this user's, has one name, and is as open as
// one that was made with these rights.
func asMade(info fs.FileInfo, rights fs.FileMode) bool {
	sys, ok := info.Sys().(*syscall.Stat_t)
	own := rights & 0o700
	mode := info.Mode() &^ fs.ModeDir
	return ok && int(sys.Uid) == os.Geteuid() && (info.IsDir() || sys.Nlink == 1) && mode&^rights == 0 && mode&own == own
}

// same says whether the file at a place has what it is to hold.
func (f scratchFile) same(at folders.Place) (bool, error) {
	want, size, err := f.open()
	if err != nil {
		return false, err
	}
	defer func() { _ = want.Close() }() // opened for reading
	is, info, err := folders.Open(at.In, at.Base)
	if err != nil {
		return false, err
	}
	defer func() { _ = is.Close() }() // opened for reading
	if info.Size() != size {
		return false, nil
	}
	a, b := make([]byte, 32<<10), make([]byte, 32<<10)
	for {
		n, err1 := io.ReadFull(want, a)
		m, err2 := io.ReadFull(is, b)
		switch {
		case !bytes.Equal(a[:n], b[:m]):
			return false, nil
		case errors.Is(err1, io.EOF) || errors.Is(err1, io.ErrUnexpectedEOF):
			return true, nil
		case err1 != nil || err2 != nil:
			return false, errors.Join(err1, err2)
		}
	}
}

// replace puts the file in the place of the one that is there. It is made beside the
// work tree, where no agent can write.
func (s scratch) replace(part scratchFile) error {
	if err := part.write(s.root, scratchTemp); err != nil {
		return err
	}
	return s.root.Rename(scratchTemp, filepath.Join("tree/.git", part.name))
}

package folders

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
)

// File is a file to be in a folder: a text, or a copy of another file, which is left
// out where that one is not there.
type File struct{ Name, Text, From string }

// Layout is all that a folder is to hold.
type Layout struct {
	Folders []string // with ".", the folder itself
	Files   []File
}

// open opens what the file is to hold. The caller closes it.
func (f File) open() (io.ReadCloser, int64, error) {
	if f.From == "" {
		return io.NopCloser(strings.NewReader(f.Text)), int64(len(f.Text)), nil
	}
	in, err := os.Open(f.From)
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

// Write makes the file, which must not be there yet.
func (f File) Write(root *os.Root, to string) error {
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

// Renew writes those files of a folder anew that are no longer as they are to be, and
// says whether it is then like one that was just made so. It is not if there is more or
// less in it, or something with other rights, another owner or a second name: then it
// must be made anew as a whole, which takes longer. Each file is made as temp, where
// nobody else can write, and then moved.
func (l Layout) Renew(root *os.Root, dir, temp string) bool {
	if err := root.RemoveAll(temp); err != nil { // a killed process may have left it
		return false
	}
	if info, err := root.Lstat(dir); err != nil || !info.IsDir() {
		return false
	}
	top, err := root.OpenRoot(dir)
	if err != nil {
		return false
	}
	defer func() { _ = top.Close() }() // opened for reading
	missing, stale := map[string]File{}, []File(nil)
	for _, part := range l.Files {
		missing[part.Name] = part
	}
	found := 0
	err = WalkFolders(top, ".", func(at Place, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := at.In.Lstat(at.Base)
		if err != nil {
			return err
		}
		part, known := missing[at.Name]
		switch {
		case info.IsDir() && asMade(info, 0o755) && slices.Contains(l.Folders, at.Name):
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
	if err != nil || found != len(l.Folders) {
		return false
	}
	for _, part := range missing { // such as a shallow that there is none of
		if _, err := os.Lstat(part.From); part.From == "" || !errors.Is(err, fs.ErrNotExist) {
			return false
		}
	}
	return !slices.ContainsFunc(stale, func(part File) bool {
		return part.Write(root, temp) != nil || root.Rename(temp, path.Join(dir, part.Name)) != nil
	})
}

// errAnew says that something is there that is not to be.
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
func (f File) same(at Place) (bool, error) {
	want, size, err := f.open()
	if err != nil {
		return false, err
	}
	defer func() { _ = want.Close() }() // opened for reading
	is, info, err := Open(at.In, at.Base)
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

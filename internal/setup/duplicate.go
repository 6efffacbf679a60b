package setup

import (
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// duplicate copies a file, a link or a folder. The system shares the bytes of
// the two where the file system can do that, until one of them changes.
func duplicate(from string, into *os.Root, name string, info fs.FileInfo) error {
	switch mode := info.Mode(); {
	case mode&fs.ModeSymlink != 0:
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		return into.Symlink(target, name)
	case mode.IsRegular():
		if err := duplicateFile(from, into, name, mode.Perm()); err != nil {
			return err
		}
		return into.Chtimes(name, info.ModTime(), info.ModTime()) // or it would be as if an agent had just written it
	case mode.IsDir():
		return duplicateFolder(from, into, name, mode.Perm())
	}
	return nil // a pipe or a socket is of no use to anybody
}

func duplicateFolder(from string, into *os.Root, name string, perm fs.FileMode) error {
	if err := into.Mkdir(name, perm|0o700); err != nil {
		return err
	}
	inner, err := into.OpenRoot(name)
	if err != nil {
		return err
	}
	defer func() { _ = inner.Close() }() // what is in it is closed
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err != nil {
			return err
		}
		if err := duplicate(filepath.Join(from, e.Name()), inner, path.Base(e.Name()), info); err != nil {
			return err
		}
	}
	return nil
}

func duplicateFile(from string, into *os.Root, name string, perm fs.FileMode) (err error) {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // opened for reading
	out, err := into.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, perm)
	if err != nil {
		return err
	}
	if _, err := io.Copy(out, in); err != nil {
		_ = out.Close()
		return err
	}
	return out.Close()
}

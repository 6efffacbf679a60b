package folders

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"syscall"

	"github.com/reprise-ci/reprise/internal/text"
)

// spare is what a copy leaves free on the disk.
const spare = 200 * text.MB

// Copy copies what is at from in one root to to in another, where nothing is yet but the folder above. It follows no
// link, leaves out pipes, sockets and devices, and stops before the disk is full. An error, also that ctx is over, leaves
// what was copied until then.
func Copy(ctx context.Context, src *os.Root, from string, dst *os.Root, to string) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	info, err := src.Lstat(from)
	if err != nil {
		return err
	}
	switch mode := info.Mode(); {
	case mode&fs.ModeSymlink != 0:
		target, err := src.Readlink(from)
		if err != nil {
			return err
		}
		return dst.Symlink(target, to)
	case mode.IsDir():
		return copyFolder(ctx, src, from, dst, to)
	case mode.IsRegular():
		if err := copyBytes(src, from, dst, to, info); err != nil {
			return err
		}
		return dst.Chtimes(to, info.ModTime(), info.ModTime()) // or it would be as if somebody had just written it
	}
	return nil
}

func copyFolder(ctx context.Context, src *os.Root, from string, dst *os.Root, to string) error {
	unlock(src, from)
	info, err := src.Lstat(from)
	if err == nil {
		err = dst.Mkdir(to, info.Mode().Perm()|ofFolder)
	}
	if err != nil {
		return err
	}
	source, err := src.OpenRoot(from)
	if err != nil {
		return err
	}
	defer source.Close() // opened for reading
	inner, err := dst.OpenRoot(to)
	if err != nil {
		return err
	}
	defer inner.Close() // what is in it is closed
	entries, err := List(source, ".")
	for _, e := range entries {
		if err == nil {
			err = Copy(ctx, source, e.Name(), inner, e.Name())
		}
	}
	return err
}

// copyBytes copies a file. Where the disk can, the system has the two share their bytes.
func copyBytes(src *os.Root, from string, dst *os.Root, to string, info fs.FileInfo) (err error) {
	unlock(src, from)
	in, _, err := Open(src, from)
	if err != nil {
		return err
	}
	defer in.Close() // opened for reading
	out, err := dst.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, info.Mode().Perm()|0o200)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Chmod(info.Mode().Perm()), out.Close()) }()
	var disk syscall.Statfs_t
	if err := syscall.Fstatfs(int(out.Fd()), &disk); err == nil {
		if left := text.Size(disk.Bavail * uint64(disk.Bsize)); left < spare+text.Size(info.Size()) {
			return fmt.Errorf("%s does not fit on the disk, which has %d MB left, and %d MB have to stay free: make room there, or have the setup and the work leave less behind",
				in.Name(), left/text.MB, spare/text.MB)
		}
	}
	_, err = io.Copy(out, in)
	return err
}

// Relocate has Python's virtual environments in a copy of a folder, at most three folders down, name the copy: in
// first lines of programs, and where a package is read from its sources. Else they would run the code of the other one.
func Relocate(dir, of string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close() // what is written is closed by then
	old := regexp.MustCompile(regexp.QuoteMeta(of) + `([^\w.-]|$)`)
	now := []byte(strings.ReplaceAll(dir, "$", "$$") + "${1}")
	return Walk(root, ".", func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "node_modules" || strings.Count(p, "/") >= 3):
			return fs.SkipDir
		case d.Name() == "pyvenv.cfg":
			return relocate(root, path.Dir(p), old, now)
		}
		return nil
	})
}

// relocate takes the files of a virtual environment that say where things are. Links, which lead elsewhere, are none.
func relocate(root *os.Root, dir string, old *regexp.Regexp, now []byte) error {
	in, err := root.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer in.Close() // what is written is closed by then
	for _, pattern := range []string{
		"pyvenv.cfg", "bin/*", "lib/*/site-packages/*.pth", "lib/*/site-packages/*.egg-link",
		"lib/*/site-packages/__editable__*.py", "lib/*/site-packages/*/direct_url.json",
	} {
		names, err := fs.Glob(in.FS(), pattern)
		if err != nil {
			return err
		}
		for _, name := range names {
			data, err := ReadFile(in, name, 4<<20)
			if err != nil || !old.Match(data) {
				continue // nothing that anybody would read there
			}
			info, err := in.Lstat(name)
			if err == nil {
				UnlockAbove(in, name)
				err = in.Remove(name) // it may have another name, and be closed to be written to
			}
			if err == nil {
				err = in.WriteFile(name, old.ReplaceAll(data, now), info.Mode().Perm())
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// Package copies makes copies of files and folders that programs of others have
// written. A copy takes little more room on the disk than its source: files that share
// their bytes, or have several names or holes, do so in the copy, too. It follows no
// link, and stops before the disk is full.
package folders

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"

	"github.com/reprise-ci/reprise/internal/text"
)

// Spare is what a copy leaves free on the disk.
const Spare = 200 * text.MB

// Full says that there is no room on the disk for a copy.
type Full struct {
	Name string // what was being copied
	Left text.Size
}

// Error says what to do about it.
func (e *Full) Error() string {
	return fmt.Sprintf("%s does not fit on the disk, which has %d MB left, and %d MB have to stay free: make room there, or have the setup and the work leave less behind",
		e.Name, e.Left/text.MB, Spare/text.MB)
}

// Copy copies what is at the name from in one root to the name to in another, where
// nothing is yet. The folder above to has to be there. Pipes, sockets and devices
// are left out. An error, also that ctx is over, leaves what was copied until then.
func Copy(ctx context.Context, src *os.Root, from string, dst *os.Root, to string) error {
	c := copying{ctx: ctx, top: dst, links: map[fileID]string{}, spare: Spare}
	info, err := src.Lstat(from)
	if err != nil {
		return err
	}
	return c.one(copyPlace{src, from}, copyPlace{dst, to}, to, info)
}

// copying is a copy being made.
type copying struct {
	ctx   context.Context
	top   *os.Root          // that the copy lies in
	links map[fileID]string // where files are in the copy that have several names
	alone bool              // the disk cannot have files share their bytes
	spare text.Size
}

// place is a name in a folder that is open, so that no path has to be followed
// twice.
type copyPlace struct {
	in   *os.Root
	name string
}

// one copies a file, a link or a folder to a place, which is at the name to from
// the top.
func (c *copying) one(from, at copyPlace, to string, info fs.FileInfo) error {
	if c.ctx.Err() != nil {
		return context.Cause(c.ctx)
	}
	switch mode := info.Mode(); {
	case mode&fs.ModeSymlink != 0:
		target, err := from.in.Readlink(from.name)
		if err != nil {
			return err
		}
		return at.in.Symlink(target, at.name)
	case mode.IsDir():
		return c.folder(from, at, to, mode.Perm())
	case mode.IsRegular():
		id, several := nameOf(info)
		if first, there := c.links[id]; several && there {
			return c.top.Link(first, to)
		}
		if err := c.file(from, at, info); err != nil {
			return err
		}
		if several {
			c.links[id] = to
		}
		return at.in.Chtimes(at.name, info.ModTime(), info.ModTime()) // or it would be as if somebody had just written it
	}
	return nil // a pipe or a socket is of no use to anybody
}

func (c *copying) folder(from, at copyPlace, to string, perm fs.FileMode) error {
	UnlockAbove(from.in, from.name+"/x")
	if err := at.in.Mkdir(at.name, perm|0o700); err != nil {
		return err
	}
	source, err := from.in.OpenRoot(from.name)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }() // opened for reading
	inner, err := at.in.OpenRoot(at.name)
	if err != nil {
		return err
	}
	defer func() { _ = inner.Close() }() // what is in it is closed
	entries, err := List(source, ".")
	if err != nil {
		return err
	}
	for _, e := range entries {
		info, err := e.Info()
		if err == nil {
			err = c.one(copyPlace{source, e.Name()}, copyPlace{inner, e.Name()}, path.Join(to, e.Name()), info)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// file copies the bytes of a file: the disk shares them if it can.
func (c *copying) file(from, at copyPlace, info fs.FileInfo) (err error) {
	in, _, err := Open(from.in, from.name)
	if errors.Is(err, fs.ErrPermission) && Locked(info) {
		if err = from.in.Chmod(from.name, info.Mode().Perm()|0o400); err == nil {
			in, _, err = Open(from.in, from.name)
		}
	}
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // opened for reading
	out, err := at.in.OpenFile(at.name, os.O_RDWR|os.O_CREATE|os.O_EXCL, info.Mode().Perm()|0o200)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	if !c.alone {
		if err = share(out, in); err == nil {
			return out.Chmod(info.Mode().Perm())
		}
		c.alone = true
	}
	if err := c.bytes(out, in, info.Size()); err != nil {
		return err
	}
	return out.Chmod(info.Mode().Perm())
}

// piece is the most that is copied before the disk is looked at again.
const piece = int64(64 * text.MB)

// bytes copies what a file holds, and leaves its holes.
func (c *copying) bytes(out, in *os.File, whole int64) error {
	for at := int64(0); at < whole; {
		start, end, err := dataAt(in, at, whole)
		if err != nil {
			return err
		}
		if start >= whole {
			break
		}
		end = min(end, start+piece)
		if left, known := spaceLeft(out); known && left < c.spare+text.Size(end-start) {
			return &Full{Name: in.Name(), Left: left}
		}
		_, err = in.Seek(start, io.SeekStart)
		if err == nil {
			_, err = out.Seek(start, io.SeekStart)
		}
		if err == nil {
			_, err = io.CopyN(out, in, end-start)
		}
		if err != nil && !errors.Is(err, io.EOF) { // it has become shorter
			return err
		}
		at = end
	}
	return out.Truncate(whole)
}

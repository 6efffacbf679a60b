// Package store keeps the record of a run in a folder: a save is done as a whole
// or not at all, whatever happens to the process, the disk or the machine.
package store

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"

	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/metadata"
)

// Folder holds the record of one run.
type Folder struct {
	Dir string // made by Save if it is missing
	// Within is a folder above Dir in which others may work at the same time. No link that they
	// lay on the way leads out of it.
	Within string
}

// open opens the folder, made if it is missing and that is wanted.
func (s Folder) open(wanted bool) (*os.Root, error) {
	within, err := os.OpenRoot(s.Within)
	if err != nil {
		return nil, err
	}
	defer within.Close()
	rel, err := filepath.Rel(s.Within, s.Dir)
	if err != nil {
		return nil, err
	}
	if wanted {
		if err := makeFolderIn(within, rel); err != nil {
			return nil, err
		}
	}
	return within.OpenRoot(rel)
}

// Load reads and checks the record. Where there is none, the error wraps fs.ErrNotExist; where it is damaged, the
// error is as metadata.Parse gives it.
func (s Folder) Load() (metadata.Run, error) {
	name := filepath.Join(s.Dir, metadata.File)
	root, err := s.open(false)
	if err != nil {
		return metadata.Run{}, fmt.Errorf("%s: %w", name, err)
	}
	defer root.Close()
	if info, err := root.Lstat(metadata.File); err == nil && info.Mode()&os.ModeSymlink != 0 {
		return metadata.Run{}, fmt.Errorf("%s is a symbolic link: put the file itself in its place", name)
	}
	f, info, err := folders.Open(root, metadata.File)
	if errors.Is(err, folders.ErrNoFile) {
		return metadata.Run{}, fmt.Errorf("%s is not a regular file", name)
	}
	if err != nil {
		return metadata.Run{}, fmt.Errorf("%s: %w", name, err)
	}
	defer f.Close()
	if err := ownFile(info); err != nil {
		return metadata.Run{}, fmt.Errorf("%s %w", name, err)
	}
	var data bytes.Buffer
	data.Grow(int(info.Size()) + bytes.MinRead) // so that it never grows again
	if _, err := data.ReadFrom(io.LimitReader(f, metadata.MaxSize+1)); err != nil {
		return metadata.Run{}, err
	}
	return metadata.Parse(data.Bytes(), name)
}

// ownFile refuses what is no regular file, has a second name somewhere, or is too large to be read into memory.
func ownFile(info os.FileInfo) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case ok && st.Nlink > 1:
		return errors.New("is a hard link: put a copy of the file in its place")
	case info.Size() > metadata.MaxSize:
		return fmt.Errorf("has %d bytes, more than the %d that a run can need", info.Size(), metadata.MaxSize)
	}
	return nil
}

// Save checks the record and puts it in the place of the one there is. Nobody
// ever sees half of it, and once Save returns it outlives a loss of power. An
// error leaves the old record whole; only if all that failed was to make the
// change outlive a loss of power is it the new one. Save does not ask whether
// the record may follow the old one, see metadata.CheckNext. Only who has the run's folder saves, see folders.TakeLock.
func (s Folder) Save(r metadata.Run) error {
	data, err := metadata.Format(r)
	if err == nil {
		err = s.write(data)
	}
	if err != nil {
		return fmt.Errorf("save %s: %w", filepath.Join(s.Dir, metadata.File), err)
	}
	return nil
}

func (s Folder) write(data []byte) error {
	root, err := s.open(true)
	if err != nil {
		return err
	}
	defer root.Close()
	left, _ := fs.Glob(root.FS(), "."+metadata.File+"[0-9]*") // by saves whose process was killed; the pattern is right
	for _, name := range left {
		_ = root.Remove(name) // what stays is waste, not harm
	}
	// The package renameio, which does the same, knows no os.Root.
	temp := fmt.Sprintf(".%s%d", metadata.File, rand.Uint64())
	f, err := root.OpenFile(temp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Chmod(0o644) // whatever the umask says: others may read it
	}
	if err == nil {
		err = f.Sync()
	}
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = root.Rename(temp, metadata.File)
	}
	if err != nil {
		_ = root.Remove(temp) // what stays is removed by the next save
		return err
	}
	return outlast(root, ".")
}

// makeFolderIn makes a folder and those above it that are missing, so that they outlive a loss of power.
func makeFolderIn(root *os.Root, name string) error {
	if info, err := root.Stat(name); err == nil && info.IsDir() {
		return nil
	}
	above := filepath.Dir(name)
	if above != name && above != "." {
		if err := makeFolderIn(root, above); err != nil {
			return err
		}
	}
	if err := root.Mkdir(name, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	return outlast(root, above)
}

// outlast has the names in a folder outlive a loss of power.
func outlast(root *os.Root, name string) error {
	dir, err := root.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

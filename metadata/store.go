package metadata

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"github.com/google/renameio/v2"
)

// File is the name of a record in its folder.
const File = "metadata.json"

// Store is the folder that holds the record of one run.
type Store struct {
	Dir string // made by Save if it is missing
}

// Load reads and checks the record. Where there is none, the error wraps
// fs.ErrNotExist; where it is damaged, the error is as Parse gives it. What is
// not a regular file of its own, such as a link that leads elsewhere or a pipe
// that nobody writes to, is refused.
func (s Store) Load() (Run, error) {
	name := filepath.Join(s.Dir, File)
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if errors.Is(err, syscall.ELOOP) {
		return Run{}, fmt.Errorf("%s is a symbolic link: put the file itself in its place", name)
	}
	if err != nil {
		return Run{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return Run{}, err
	}
	if err := ownFile(info); err != nil {
		return Run{}, fmt.Errorf("%s %w", name, err)
	}
	var data bytes.Buffer
	data.Grow(int(info.Size()) + bytes.MinRead) // so that it never grows again
	if _, err := data.ReadFrom(io.LimitReader(f, MaxSize+1)); err != nil {
		return Run{}, err
	}
	return Parse(data.Bytes(), name)
}

// ownFile refuses what is no regular file, has a second name somewhere, or is
// too large to be read into memory.
func ownFile(info os.FileInfo) error {
	st, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !info.Mode().IsRegular():
		return errors.New("is not a regular file")
	case ok && st.Nlink > 1:
		return errors.New("is a hard link: put a copy of the file in its place")
	case info.Size() > MaxSize:
		return fmt.Errorf("has %d bytes, more than the %d that a run can need", info.Size(), MaxSize)
	}
	return nil
}

// Save checks the record and puts it in the place of the one there is. Nobody
// ever sees half of it, and once Save returns it outlives a loss of power. An
// error leaves the old record whole; only if all that failed was to make the
// change outlive a loss of power is it the new one. Save does not ask whether
// the record may follow the old one, see CheckNext.
func (s Store) Save(r Run) error {
	data, err := Format(r)
	if err == nil {
		err = s.write(data)
	}
	if err != nil {
		return fmt.Errorf("save %s: %w", filepath.Join(s.Dir, File), err)
	}
	return nil
}

func (s Store) write(data []byte) error {
	if err := makeFolder(s.Dir); err != nil {
		return err
	}
	dir, err := os.Open(s.Dir)
	if err != nil {
		return err
	}
	defer free(dir)
	if err := sweep(dir); err != nil {
		return err
	}
	f, err := renameio.NewPendingFile(filepath.Join(s.Dir, File),
		renameio.WithTempDir(s.Dir), renameio.WithStaticPermissions(0o644))
	if err != nil {
		return err
	}
	defer f.Cleanup()
	if _, err := f.Write(data); err != nil {
		return err
	}
	if err := f.CloseAtomicallyReplace(); err != nil {
		return err
	}
	return dir.Sync()
}

// makeFolder makes a folder and those above it that are missing, so that they
// outlive a loss of power.
func makeFolder(name string) error {
	if info, err := os.Stat(name); err == nil && info.IsDir() {
		return nil
	}
	above := filepath.Dir(name)
	if above != name {
		if err := makeFolder(above); err != nil {
			return err
		}
	}
	if err := os.Mkdir(name, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return err
	}
	dir, err := os.Open(above)
	if err != nil {
		return err
	}
	defer dir.Close()
	return dir.Sync()
}

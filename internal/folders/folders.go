// Package folders deals with folders that other programs have worked in, and
// may have locked: a folder without the right to write keeps its owner from
// removing what is in it, unless the owner is root.
//
// Names are relative to an os.Root, use slashes and may hold any other byte. No
// symbolic link at the end of a name, or below it, is followed.
package folders

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/reprise-ci/reprise/internal/text"
)

// What the owner of a folder needs to change what is in it, and the owner of a file to look at it.
const (
	ofFolder fs.FileMode = 0o700
	ofFile   fs.FileMode = 0o400
)

// Locked reports whether a file or folder keeps its owner, unless root, from its use. Links and the like never do.
func Locked(info fs.FileInfo) bool { return info.Mode()&rights(info) != rights(info) }

// Own refuses a folder in which others than the user can have put something; one that is not there yet can be the user's.
// Root also works in what is of the owner of a folder beside it, as with sudo, and in containers that have it from outside.
func Own(dir, beside string) error {
	info, err := os.Stat(dir)
	if err != nil {
		return nil // it is not there, or whoever makes it is told what is in its way
	}
	owner := info.Sys().(*syscall.Stat_t)
	ours := owner.Uid == 0 || int(owner.Uid) == os.Geteuid()
	if other, err := os.Stat(beside); err == nil && os.Geteuid() == 0 {
		ours = ours || other.Sys().(*syscall.Stat_t).Uid == owner.Uid
	}
	switch mode := info.Mode().Perm(); {
	case !ours:
		return fmt.Errorf("%s belongs to another user (%d), who may have filled it", dir, owner.Uid)
	case mode&0o002 != 0 || mode&0o020 != 0 && owner.Gid != owner.Uid: // many systems give each user a group
		return fmt.Errorf("others may write in %s (mode %04o)", dir, mode)
	}
	return nil
}

func rights(info fs.FileInfo) fs.FileMode {
	switch {
	case info.IsDir():
		return ofFolder
	case info.Mode().IsRegular():
		return ofFile
	}
	return 0
}

// Unlock gives the owner of name, of all in it and of the folders above it the rights that Locked asks for. What
// belongs to somebody else stays as it is: whoever uses it finds out.
func Unlock(root *os.Root, name string) {
	UnlockAbove(root, name)
	_ = Walk(root, name, func(p string, d fs.DirEntry, err error) error { // the visits fail nowhere
		if err != nil {
			return nil
		}
		if info, gone := d.Info(); gone == nil && Locked(info) {
			unlock(root, p)
		}
		return nil
	})
}

// UnlockAbove is Unlock for the folders above name alone.
func UnlockAbove(root *os.Root, name string) {
	for i, c := range name {
		if c == '/' {
			unlock(root, name[:i])
		}
	}
}

func unlock(root *os.Root, name string) {
	if info, err := root.Lstat(name); err == nil && Locked(info) {
		_ = root.Chmod(name, info.Mode()|rights(info)) // somebody else's
	}
}

// Remove removes name and all that is in it, whatever of it is locked. What is not there is no error.
func Remove(root *os.Root, name string) error {
	err := root.RemoveAll(name)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	Unlock(root, name)
	return root.RemoveAll(name)
}

// RemoveAll is Remove for a folder given by its path. The one above it must not be locked.
func RemoveAll(dir string) error {
	err := os.RemoveAll(dir)
	if !errors.Is(err, fs.ErrPermission) {
		return err
	}
	root, err := os.OpenRoot(filepath.Dir(dir))
	if err != nil {
		return err
	}
	defer root.Close() // opened for reading
	return Remove(root, filepath.Base(dir))
}

// List gives what is in a folder, sorted by name.
func List(root *os.Root, name string) ([]fs.DirEntry, error) {
	dir, err := root.OpenFile(name, os.O_RDONLY|syscall.O_DIRECTORY|syscall.O_NONBLOCK, 0) // a pipe may stand there by now
	if err != nil {
		return nil, err
	}
	defer dir.Close() // opened for reading
	entries, err := dir.ReadDir(-1)
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	return entries, err
}

// ErrNoFile is in the error of Open for what is no ordinary file.
var ErrNoFile = errors.New("it is no ordinary file")

// Open opens a file that other programs may have put there: only an ordinary one, at once, and never through a link
// at the end of its name. A pipe or a device would make it wait, or never end. The caller closes it. Where somebody
// replaces the file meanwhile, as a save does, the new one is opened.
func Open(root *os.Root, name string) (f *os.File, info fs.FileInfo, err error) {
	for range openTries {
		if f, info, err = open(root, filepath.FromSlash(name)); !errors.Is(err, errReplaced) {
			return f, info, err
		}
	}
	return nil, nil, err
}

// openTries bounds how often a file is opened that somebody replaces all the time.
const openTries = 100

// errReplaced says that another file was put in the place of one while it was opened.
var errReplaced = fmt.Errorf("%w: it is replaced all the time", ErrNoFile)

func open(root *os.Root, name string) (*os.File, fs.FileInfo, error) {
	there, err := root.Lstat(name)
	if err != nil {
		return nil, nil, err
	}
	if !there.Mode().IsRegular() {
		return nil, nil, &fs.PathError{Op: "open", Path: name, Err: ErrNoFile}
	}
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, nil, err
	}
	info, err := f.Stat()
	// A root follows links itself, so what was opened is held to what was there.
	if err == nil && !os.SameFile(there, info) {
		err = &fs.PathError{Op: "open", Path: name, Err: errReplaced}
	}
	if err != nil {
		_ = f.Close() // opened for reading
		return nil, nil, err
	}
	return f, info, nil
}

// ReadFile reads such a file of at most the given number of bytes.
func ReadFile(root *os.Root, name string, most int64) ([]byte, error) {
	f, _, err := Open(root, name)
	if err != nil {
		return nil, err
	}
	defer f.Close() // opened for reading
	return readAll(f, name, most)
}

// ReadRegular reads a regular file of at most limit bytes. A link is followed, and no pipe waited for.
func ReadRegular(name string, limit int64) ([]byte, error) {
	f, err := os.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close() // opened for reading
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, cmp.Or(err, fmt.Errorf("%s is not a regular file", name))
	}
	return readAll(f, name, limit)
}

func readAll(from io.Reader, name string, most int64) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(from, most+1))
	if err == nil && int64(len(data)) > most {
		return nil, &fs.PathError{Op: "read", Path: name, Err: fmt.Errorf("it has more than %d bytes", most)}
	}
	return data, err
}

// ofShell are the names of what is open already.
var ofShell = text.Pattern(`^/(dev/(stdin|fd/\d+)|proc/(self|\d+)/fd/\d+)$`)

// ReadPiped reads at most limit bytes from standard input, which is "-", or from a pipe of the shell, and says whether
// that is what a name stands for.
func ReadPiped(name string, stdin io.Reader, limit int64) (data []byte, piped bool, err error) {
	if name != "-" {
		info, err := os.Stat(name)
		if err != nil || !ofShell().MatchString(name) || !info.Mode().IsRegular() && info.Mode()&fs.ModeNamedPipe == 0 { // a pipe in a folder would be waited for
			return nil, false, nil
		}
		f, err := os.Open(name)
		if err != nil {
			return nil, true, err
		}
		defer f.Close() // opened for reading
		stdin = f
	}
	data, err = readAll(stdin, name, limit)
	return data, true, err
}

// NoDisk reports whether an error says that the disk is full, closed or broken.
func NoDisk(err error) bool {
	return slices.ContainsFunc([]error{syscall.ENOSPC, syscall.EROFS, syscall.EDQUOT, syscall.EIO}, func(disk error) bool { return errors.Is(err, disk) })
}

// Walk is fs.WalkDir, which knows only names that are UTF-8.
func Walk(root *os.Root, name string, visit fs.WalkDirFunc) error {
	info, err := root.Lstat(name)
	if err != nil {
		err = visit(name, nil, err)
	} else {
		err = walk(root, name, fs.FileInfoToDirEntry(info), visit)
	}
	if errors.Is(err, fs.SkipDir) || errors.Is(err, fs.SkipAll) {
		return nil
	}
	return err
}

func walk(root *os.Root, name string, entry fs.DirEntry, visit fs.WalkDirFunc) error {
	err := visit(name, entry, nil)
	if err == nil && entry.IsDir() {
		entries, wrong := List(root, name)
		if wrong != nil {
			err = visit(name, entry, wrong)
		}
		for _, e := range entries {
			if err == nil {
				err = walk(root, path.Join(name, e.Name()), e, visit)
			}
		}
	}
	if entry.IsDir() && errors.Is(err, fs.SkipDir) { // a file has the rest of its folder left out
		return nil
	}
	return err
}

// Held says who holds the folder of a run.
type Held struct {
	Root string
	PID  int // 0 if unknown
}

// Error names the process.
func (e *Held) Error() string {
	return fmt.Sprintf("%s: another process works on this run (process %d): wait for it, or stop it with reprise pause", e.Root, e.PID)
}

// TakeLock takes the folder for this process, until the file is closed or the process ends. Git commands that write
// to the run's own directory inherit the lock, so it waits for one that has outlived its process.
func TakeLock(ctx context.Context, root string) (*os.File, error) {
	f, err := os.OpenFile(filepath.Join(root, "lock"), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, err
	}
	for wait := 0; ; wait++ {
		err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			break
		}
		text, _ := os.ReadFile(f.Name())
		pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
		atWork := pid > 0 && syscall.Kill(pid, 0) != syscall.ESRCH
		if atWork || wait >= lockTries || ctx.Err() != nil {
			f.Close()
			return nil, &Held{Root: root, PID: pid}
		}
		time.Sleep(lockPause)
	}
	if err == nil {
		err = f.Truncate(0)
	}
	if err == nil {
		_, err = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("lock %s: %w", root, err)
	}
	return f, nil
}

// Holder gives the process that holds the folder; 0: none does, or there is no such folder.
func Holder(root string) int {
	f, err := os.Open(filepath.Join(root, "lock"))
	if err != nil {
		return 0
	}
	defer f.Close() // which frees it, too
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB); !errors.Is(err, syscall.EWOULDBLOCK) {
		return 0
	}
	text, _ := os.ReadFile(f.Name())
	pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
	return pid
}

// FreeLock releases the folder at once, even if a child that is just being started has a copy of the file.
func FreeLock(f *os.File) error {
	return errors.Join(syscall.Flock(int(f.Fd()), syscall.LOCK_UN), f.Close())
}

// How long a dead process's command may go on, and one that took the lock may take to write its number: ten seconds.
const (
	lockTries = 500
	lockPause = 20 * time.Millisecond
)

// pipeWait is how long a git command runs before the work tree is looked through for pipes.
const pipeWait = time.Second

// ReleaseFromPipes takes pipes out of the folder "tree" while a git command runs, until stop is called. Git opens what
// it finds as .gitignore, .gitattributes or in the place of a file, and would wait for ever at a pipe that somebody put
// there. Few commands run long enough for the tree to be looked through at all.
func ReleaseFromPipes(root *os.Root) (stop func()) {
	var mu sync.Mutex
	stopped, wait := false, pipeWait
	var timer *time.Timer
	mu.Lock()
	defer mu.Unlock()
	timer = time.AfterFunc(wait, func() {
		mu.Lock()
		defer mu.Unlock()
		if stopped {
			return
		}
		RemovePipes(root)
		wait *= 2 // it may be a large tree
		timer.Reset(wait)
	})
	return func() {
		mu.Lock()
		defer mu.Unlock()
		stopped = true
		timer.Stop()
	}
}

// RemovePipes removes the pipes of the folder "tree", and names them from there. Whoever waits for one to be written to
// finds it empty.
func RemovePipes(root *os.Root) (removed []string) {
	_ = Walk(root, "tree", func(p string, d fs.DirEntry, err error) error { // the visits fail nowhere
		if err != nil || d.Type()&fs.ModeNamedPipe == 0 {
			return nil // what is gone or locked, git does not open either
		}
		// Open while it is removed, it keeps nobody waiting who opens it just now.
		f, err := root.OpenFile(p, os.O_RDWR|syscall.O_NONBLOCK, 0)
		_ = root.Remove(p) // somebody else may have
		removed = append(removed, strings.TrimPrefix(p, "tree/"))
		if err == nil {
			_ = f.Close() // nothing was written
		}
		return nil
	})
	return removed
}

package folders

import (
	"io/fs"
	"os"
	"sync"
	"syscall"
	"time"
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
		removePipes(root)
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

// removePipes removes the pipes of the work tree. Whoever waits for one to be written to finds it empty.
func removePipes(root *os.Root) {
	_ = Walk(root, "tree", func(p string, d fs.DirEntry, err error) error { // the visits fail nowhere
		if err != nil || d.Type()&fs.ModeNamedPipe == 0 {
			return nil // what is gone or locked, git does not open either
		}
		// Open while it is removed, it keeps nobody waiting who opens it just now.
		f, err := root.OpenFile(p, os.O_RDWR|syscall.O_NONBLOCK, 0)
		_ = root.Remove(p) // somebody else may have
		if err == nil {
			_ = f.Close() // nothing was written
		}
		return nil
	})
}

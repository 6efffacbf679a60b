package agents

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/reprise-ci/reprise/pipelines"
)

// room watches what a program does to the disk while it runs.
type room struct {
	folders []string // that it writes in; on one disk or several
	limits  Limits
	since   time.Time
	start   []space   // of the disks
	again   time.Time // when files are counted next
}

// space is what a disk has left.
type space struct {
	folder       string // that is on it
	bytes, files uint64
	counts       bool // the number of files is limited
}

// newRoom begins to watch folders. Those that are not there are left out.
func newRoom(folders []string, l Limits) *room {
	r := &room{folders: folders, limits: l, since: time.Now()}
	for _, dir := range folders {
		if s, err := spaceOf(dir); err == nil {
			r.start = append(r.start, s)
		}
	}
	return r
}

// room begins to watch what a call does to the disk. Without a sandbox its home
// is the user's, where others write, too.
func (o Options) room(c *Call) *room {
	folders, limits := []string{c.Dir, c.Temp}, Limits{}
	if o.box != nil {
		folders, limits = append(folders, c.Home), o.box.Limits
	}
	if c.Task.Access == pipelines.AccessTree {
		folders = append(folders, memory)
	}
	return newRoom(folders, limits.withDefaults())
}

// vacate makes the room free that a program has filled outside of the tree. A
// home of its own is made anew for the next call.
func (o Options) vacate(c *Call) {
	if o.box != nil {
		_ = os.RemoveAll(c.Home) // what stays is not in the way of anybody else
	}
}

// leastFiles is how many files a disk must have room for.
const leastFiles = 10_000

// tooMuch says that the program has used up what it may, or nothing. Files are
// counted in a twentieth of the time at most, however many there are.
func (r *room) tooMuch() string {
	for _, start := range r.start {
		now, err := spaceOf(start.folder)
		if err != nil {
			continue // the folder is gone, and the program has another
		}
		// A disk that was nearly full from the start is left half of what it had.
		if now.bytes < min(r.limits.Spare, start.bytes/2) {
			return fmt.Sprintf("the disk of %s has only %s left, of %s when it began", start.folder, size(now.bytes), size(start.bytes))
		}
		if start.counts && now.files < min(leastFiles, start.files/2) {
			return fmt.Sprintf("the disk of %s has room for only %d more files, of %d when it began", start.folder, now.files, start.files)
		}
	}
	began := time.Now()
	if began.Before(r.again) {
		return ""
	}
	if r.written() > r.limits.Disk {
		return fmt.Sprintf("it wrote more than the %s that a call may", size(r.limits.Disk))
	}
	r.again = time.Now().Add(20 * time.Since(began))
	return ""
}

var errEnough = errors.New("enough")

// written sums up the files that were changed since the start, as what they
// take of the disk, until there is too much or it takes too long. The time of a
// change of a file is the system's, and nobody sets it back.
func (r *room) written() (sum uint64) {
	end := time.Now().Add(5 * time.Second)
	for _, dir := range r.folders {
		_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
			if err != nil {
				return nil // gone, or not to be looked into
			}
			info, err := d.Info()
			if err != nil {
				return nil
			}
			if changed, n := taken(info); !changed.Before(r.since.Add(-time.Second)) {
				sum += n
			}
			if sum > r.limits.Disk || time.Now().After(end) {
				return errEnough
			}
			return nil
		})
	}
	return sum
}

// watch tells once if there is too much, until done is closed.
func (r *room) watch(every time.Duration, done <-chan struct{}) <-chan string {
	told := make(chan string, 1)
	go func() {
		tick := time.NewTicker(every)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case <-tick.C:
				if why := r.tooMuch(); why != "" {
					told <- why
					return
				}
			}
		}
	}()
	return told
}

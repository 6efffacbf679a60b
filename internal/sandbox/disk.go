package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"time"
)

// diskWatch watches what a program does to the disk while it runs.
type diskWatch struct {
	folders   []string // that it writes in; on one disk or several
	limits    Limits
	since     time.Time
	start     []space      // of the disks
	nextCount time.Time    // when files are counted next
	members   func() []int // the processes of the call; nil: nobody knows
}

// space is what a disk has left.
type space struct {
	folder       string // that is on it
	bytes, files uint64
	counts       bool // the number of files is limited
	traceless    bool // in memory: what a process has mapped can be changed, and the time of the last change stays
}

// newDiskWatch begins to watch folders, but those that are not there. Shared memory has a size of its own, which is
// there to be used up.
func newDiskWatch(folders []string, l Limits) *diskWatch {
	r := &diskWatch{folders: folders, limits: l, since: time.Now()}
	for _, dir := range folders {
		if s, err := spaceOf(dir); err == nil && dir != memory {
			r.start = append(r.start, s)
		}
	}
	return r
}

// WatchSpace begins to watch what a call without a sandbox leaves free on the disks of these folders.
func WatchSpace(folders ...string) *diskWatch {
	r := newDiskWatch(folders, Limits{}.withDefaults())
	r.folders = nil
	return r
}

// leastFiles is how many files a disk must have room for.
const leastFiles = 10_000

// tooMuch says that the program has used up what it may, or nothing. Files are
// counted in a twentieth of the time at most, however many there are.
func (r *diskWatch) tooMuch() string {
	for _, start := range r.start {
		now, err := spaceOf(start.folder)
		if err != nil {
			continue // the folder is gone, and the program has another
		}
		// A disk that was nearly full from the start is left half of what it had.
		if now.bytes < min(r.limits.Spare, start.bytes/2) {
			return fmt.Sprintf("the disk of %s has only %s left, of %s when it began", start.folder, Size(now.bytes), Size(start.bytes))
		}
		if start.counts && now.files < min(leastFiles, start.files/2) {
			return fmt.Sprintf("the disk of %s has room for only %d more files, of %d when it began", start.folder, now.files, start.files)
		}
	}
	began := time.Now()
	if began.Before(r.nextCount) {
		return ""
	}
	if len(r.folders) > 0 {
		held, hidden := r.held()
		switch {
		case r.written()+held > r.limits.Disk:
			return fmt.Sprintf("it wrote more than the %s that a call may; if it needs more, say so in the pipeline with `sandbox: disk`", Size(r.limits.Disk))
		case hidden && r.lost() > r.limits.Disk:
			return fmt.Sprintf("a process of it hides its open files, and the disk has lost more than the %s that a call may write; if it needs more, say so in the pipeline with `sandbox: disk`", Size(r.limits.Disk))
		}
	}
	r.nextCount = time.Now().Add(20 * time.Since(began))
	return ""
}

// lost is by how much more a disk is filled than when it began, whoever did it.
func (r *diskWatch) lost() (most uint64) {
	for _, start := range r.start {
		if now, err := spaceOf(start.folder); err == nil && now.bytes < start.bytes {
			most = max(most, start.bytes-now.bytes)
		}
	}
	return most
}

// fileID tells files apart, whatever their names are: its disk and its number.
type fileID [2]uint64

var errEnough = errors.New("enough")

// written sums up what files changed since the start take of the disk, until there is too much or it takes too long.
// Nobody sets the time of a change back.
func (r *diskWatch) written() (sum uint64) {
	end, seen := time.Now().Add(5*time.Second), map[fileID]bool{}
	for _, dir := range r.folders {
		_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
			if err != nil {
				return nil // gone, or not to be looked into
			}
			info, err := d.Info()
			if err != nil {
				return nil
			}
			// A file may have several names, and folders that are watched may lie
			// in each other.
			if changed, n, id := diskUse(info); !changed.Before(r.since.Add(-time.Second)) && !seen[id] {
				seen[id] = true
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

// Watch tells once if there is too much, until done is closed, by the processes that members gives.
func (r *diskWatch) Watch(members func() []int, done <-chan struct{}) <-chan string {
	r.members = members
	told := make(chan string, 1)
	go func() {
		tick := time.NewTicker(time.Second)
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

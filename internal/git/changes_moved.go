package git

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/internal/text"
)

// movedOut gives the ignored files that hold what files of the tip held whose places are empty now: git would call these
// deleted, and pass over where they are. It is such a file, moved, or one written since the tip was: with the same bytes, or
// of the same name before a dot. What was edited has half of the lines at least.
func (r *Repo) movedOut(ctx context.Context, gone map[string]string) (found []Change, err error) {
	if len(gone) == 0 {
		return nil, nil
	}
	index, err := r.git(ctx, "ls-files", "-z", "--debug")
	if err != nil {
		return nil, err
	}
	ids, sizes, rest := map[string]string{}, map[string]bool{}, "\n"+string(index) // of blobs, by inode as the index has it, by name, and by themselves
	for {
		name, behind, is := strings.Cut(rest, "\x00")
		if !is {
			break
		}
		name = name[strings.LastIndex(name, "\n")+1:]
		if m := indexed().FindStringSubmatch(behind); m != nil && gone[name] != "" && m[2] != "0" {
			ids["inode "+m[1]], ids[stem(name)], ids["blob "+gone[name]], sizes[m[2]] = gone[name], gone[name], gone[name], true
		}
		rest = behind
	}
	was := func(id string) string {
		if blob, err := r.reads().objects(ctx, id); err == nil {
			return string(blob[0].Data)
		}
		return ""
	}
	since := time.Now() // without a commit of its own nothing was written since
	if tip, err := os.Stat(r.home(r.ref)); err == nil {
		since = tip.ModTime().Add(-10 * time.Millisecond) // file times may be behind the clock
	}
	out, err := r.git(ctx, "ls-files", "-z", "-o", "-i", "--exclude-standard", "--directory")
	for _, name := range records(out) {
		_ = folders.Walk(r.top, strings.TrimSuffix(name, "/"), func(p string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() || Under(p, r.opt.State) {
				return nil // or not to be looked into
			}
			info, err := d.Info()
			if err != nil || info.Size() == 0 {
				return nil
			}
			fresh, from := !info.ModTime().Before(since), []string{ids[fmt.Sprint("inode ", uint32(info.Sys().(*syscall.Stat_t).Ino))]}
			if fresh {
				from = append(from, ids[stem(p)]) // too: a new file may have the inode of one that is gone
			}
			if strings.Join(from, "") == "" && !(fresh && sizes[fmt.Sprint(info.Size())]) {
				return nil
			}
			if data, err := r.readState(p); err == nil && (ids["blob "+blobID(data)] != "" || slices.ContainsFunc(from, func(id string) bool { return id != "" && resembles(was(id), string(data)) })) {
				found = append(found, Change{Path: p, Type: typeOf(info), Size: info.Size(), Ignored: true})
			}
			return nil
		})
	}
	return found, err
}

// resembles reports whether a text has half of the lines of one before.
func resembles(was, is string) bool {
	lines, all, kept := map[string]bool{}, 0, 0
	for line := range strings.Lines(is) {
		lines[strings.TrimSpace(line)] = true
	}
	for line := range strings.Lines(was) {
		all, kept = all+1, kept+text.Count(lines[strings.TrimSpace(line)])
	}
	return all > 0 && 2*kept >= all
}

// stem is the name of a file up to the first dot within.
func stem(p string) string {
	name := path.Base(p)
	first, _, _ := strings.Cut(name[1:], ".")
	return name[:1] + first
}

// indexed finds the inode and the size in what git knows of a file in the index.
var indexed = text.Pattern(`^  ctime: .*\n.*\n.*\tino: (\d+)\n.*\n  size: (\d+)\t`)

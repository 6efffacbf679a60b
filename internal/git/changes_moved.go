package git

import (
	"context"
	"fmt"
	"io/fs"
	"strings"
	"syscall"

	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/internal/text"
)

// movedOut gives the ignored files that are files of the tip whose places are empty now, with the contents they had: git
// would call these deleted, and pass over where they are.
func (r *Repo) movedOut(ctx context.Context, gone map[string]string) (found []Change, err error) {
	if len(gone) == 0 {
		return nil, nil
	}
	index, err := r.git(ctx, "ls-files", "-z", "--debug")
	if err != nil {
		return nil, err
	}
	ids, rest := map[string]string{}, "\n"+string(index) // of blobs, by inode as the index has it
	for {
		name, behind, is := strings.Cut(rest, "\x00")
		if !is {
			break
		}
		if m := indexed().FindStringSubmatch(behind); m != nil {
			ids[m[1]] = gone[name[strings.LastIndex(name, "\n")+1:]]
		}
		rest = behind
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
			if id := ids[fmt.Sprint(uint32(info.Sys().(*syscall.Stat_t).Ino))]; id != "" && r.unchanged(p, File, File, id) {
				found = append(found, Change{Path: p, Type: typeOf(info), Size: info.Size(), Ignored: true})
			}
			return nil
		})
	}
	return found, err
}

// indexed finds the inode in what git knows of a file in the index.
var indexed = text.Pattern(`^  ctime: .*\n.*\n.*\tino: (\d+)\n`)

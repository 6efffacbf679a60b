package git

import (
	"context"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/reprise-ci/reprise/internal/git/lfs"
)

// pointers lists the files of the tip that Git LFS keeps and that the tree has
// as the pointers which the tip has.
func (l *largeFiles) pointers(ctx context.Context) ([]lfs.Pointer, error) {
	out, err := l.git(ctx, "ls-files", "-s", "-z", "--", ":(top,attr:filter=lfs)")
	if err != nil {
		return nil, err
	}
	l.blobs = map[string]bool{}
	var found []lfs.Pointer
	for _, record := range records(out) {
		info, name, _ := strings.Cut(record, "\t")
		f := strings.Fields(info) // mode, id, stage
		if len(f) != 3 || f[0] != "100644" && f[0] != "100755" {
			continue
		}
		l.blobs[f[1]] = true
		if p, ok := l.pointerAt(name); ok && p.Id == f[1] {
			found = append(found, p)
		}
	}
	return found, nil
}

// pointerAt reads the pointer that the tree has at a path, if it has one there.
func (l *largeFiles) pointerAt(name string) (lfs.Pointer, bool) {
	if info, err := l.top.Lstat(name); err != nil || info.Size() > lfs.MaxPointer {
		return lfs.Pointer{}, false
	}
	data, err := l.readState(name)
	p, ok := lfs.ParsePointer(data)
	p.Path, p.Id = name, l.blobID(data)
	return p, ok && err == nil
}

// find gives the path of what a pointer stands for, or "" if it is not here.
func (l *largeFiles) find(p lfs.Pointer) string {
	for _, storage := range []string{l.src.lfs.Storage, l.lfsDir("store")} {
		if p.In(storage) {
			return lfs.ObjectIn(storage, p.Oid)
		}
	}
	return ""
}

func (l *largeFiles) missing(p lfs.Pointer) bool { return p.Size > 0 && l.find(p) == "" }

// among finds the pointers among objects.
func (l *largeFiles) among(ctx context.Context, ops []op) ([]lfs.Pointer, error) {
	var ask strings.Builder
	var asked []op
	for _, o := range ops {
		if o.kind == 'M' && !o.inline {
			ask.WriteString(o.id + "\n")
			asked = append(asked, o)
		}
	}
	if len(asked) == 0 {
		return nil, nil
	}
	out, err := l.gitStdin(ctx, []byte(ask.String()), "cat-file", "--batch-check=%(objecttype) %(objectsize)")
	if err != nil {
		return nil, err
	}
	var small []op
	var names []string
	for i, line := range strings.Split(strings.TrimSuffix(string(out), "\n"), "\n") {
		kind, size, _ := strings.Cut(line, " ")
		if n, err := strconv.Atoi(size); i < len(asked) && kind == "blob" && err == nil && n <= lfs.MaxPointer {
			small, names = append(small, asked[i]), append(names, asked[i].id)
		}
	}
	if len(names) == 0 {
		return nil, nil
	}
	blobs, err := l.lookUp(ctx, names...)
	if err != nil {
		return nil, err
	}
	var pointers []lfs.Pointer
	for i, b := range blobs {
		if p, ok := lfs.ParsePointer(b.Data); ok {
			p.Path, p.Id, p.Mode, p.Was = small[i].path, small[i].id, small[i].mode, small[i].was
			pointers = append(pointers, p)
		}
	}
	return pointers, nil
}

// held gives the beginning of a file of the tip, see Repo.Held.
func (l *largeFiles) held(ctx context.Context, path string, n int) ([]byte, error) {
	data, err := l.ReadFile(ctx, l.tip, path)
	if p, ok := lfs.ParsePointer(data); err == nil && ok && l.inLFS() {
		if name := l.find(p); name != "" {
			f, err := os.Open(name)
			if err != nil {
				return nil, err
			}
			defer f.Close()
			return io.ReadAll(io.LimitReader(f, int64(n)))
		}
	}
	return data[:min(n, len(data))], err
}

package git

import (
	"context"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/git/pathname"
)

// listing is what a commit has outside of the state folder, in the order of the
// paths.
type listing struct {
	tip   string // the commit; "" for none
	files []listed
}

type listed struct {
	path string
	entry
}

func (l *listing) find(p string) (int, bool) {
	return slices.BinarySearchFunc(l.files, p, func(f listed, p string) int { return strings.Compare(f.path, p) })
}

func (l *listing) has(p string) bool {
	_, ok := l.find(p)
	return ok
}

// apply brings the listing to the commit that the ops lead to.
func (l *listing) apply(ops []op, state, tip string) {
	l.tip = tip
	for _, o := range ops {
		i, known := l.find(o.path)
		switch {
		case pathname.Under(o.path, state):
		case o.kind == 'D' && known:
			l.files = slices.Delete(l.files, i, i+1)
		case o.kind == 'M' && known:
			l.files[i].entry = entry{o.mode, o.id}
		case o.kind == 'M':
			l.files = slices.Insert(l.files, i, listed{o.path, entry{o.mode, o.id}})
		}
	}
}

// files gives the listing of the tip, of which git is asked once: commits of
// this process bring it up to date.
func (x *index) files(ctx context.Context) (*listing, error) {
	if x.listed.tip == x.tip {
		return &x.listed, nil
	}
	if x.dirty {
		if err := x.syncIndex(ctx); err != nil {
			return nil, err
		}
	}
	out, err := x.git(ctx, "ls-files", "-s", "-z")
	if err != nil {
		return nil, err
	}
	x.listed = listing{tip: x.tip}
	for _, record := range pathname.Records(out) {
		info, name, _ := strings.Cut(record, "\t")
		if f := strings.Fields(info); len(f) == 3 && !pathname.Under(name, x.opt.State) { // mode, hash, stage
			x.listed.files = append(x.listed.files, listed{name, entry{f[0], f[1]}})
		}
	}
	return &x.listed, nil
}

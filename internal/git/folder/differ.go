package folder

import (
	"cmp"
	"context"
	"slices"
	"strings"
)

// Difference is a path at which two trees have something else. A side that has nothing
// there, or a folder, has no ID.
type Difference struct {
	Path    string
	Was, Is Object
}

// Object is what a tree has at a path, with the mode as git writes it in a list.
type Object struct{ Mode, ID string }

// Differ gives the paths of files at which two folders differ, in their order. What is in a
// folder is read by its id, and only where the two are not the same.
func Differ(ctx context.Context, read func(ctx context.Context, id string) ([]byte, error), was, is string) ([]Difference, error) {
	d := differ{read: read}
	err := d.compare(ctx, "", Object{Mode, was}, Object{Mode, is})
	slices.SortFunc(d.all, func(a, b Difference) int { return cmp.Compare(a.Path, b.Path) })
	return d.all, err
}

type differ struct {
	read func(ctx context.Context, id string) ([]byte, error)
	all  []Difference
}

// compare compares what two folders have under one name.
func (d *differ) compare(ctx context.Context, path string, was, is Object) error {
	if was == is {
		return nil
	}
	inside := map[string][2]Object{}
	file := [2]Object{was, is}
	for side, o := range file {
		if o.Mode != Mode {
			continue
		}
		file[side] = Object{}
		entries, err := entriesOf(ctx, d.read, o.ID)
		if err != nil {
			return err
		}
		for _, e := range entries {
			both := inside[e.Name]
			both[side] = Object{PlainMode(e.Mode), e.ID}
			inside[e.Name] = both
		}
	}
	if file[0] != file[1] {
		d.all = append(d.all, Difference{path, file[0], file[1]})
	}
	for name, both := range inside {
		if err := d.compare(ctx, strings.TrimPrefix(path+"/"+name, "/"), both[0], both[1]); err != nil {
			return err
		}
	}
	return nil
}

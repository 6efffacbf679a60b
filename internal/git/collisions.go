package git

import (
	"context"
	"fmt"
	"path"
	"slices"

	"github.com/reprise-ci/reprise/internal/folders"
)

// caseCollisions fills in Change.Alias and Change.LinkedFrom.
func (x *index) caseCollisions(ctx context.Context, changes []Change) error {
	var names []string
	for name := range x.state {
		names = append(names, name)
	}
	if slices.ContainsFunc(changes, func(c Change) bool { return !Under(c.Path, x.opt.State) }) {
		files, err := x.files(ctx)
		if err != nil {
			return fmt.Errorf("list the files of the tip: %w", err)
		}
		var links, blobs []string
		for _, f := range files.Files {
			names = append(names, f.Path)
			if f.Mode == "120000" {
				links, blobs = append(links, f.Path), append(blobs, f.ID)
			}
		}
		if err := x.linkedFrom(ctx, changes, links, blobs); err != nil {
			return err
		}
	}
	aliases(changes, names)
	return nil
}

// linkedFrom notes at each change the symbolic links of the tip that lead to it.
func (x *index) linkedFrom(ctx context.Context, changes []Change, links, blobs []string) error {
	if len(links) == 0 {
		return nil
	}
	objects, err := x.lookUp(ctx, blobs...)
	if err != nil {
		return fmt.Errorf("read the symbolic links of the tip: %w", err)
	}
	to := map[string]string{}
	for i, link := range links {
		if target := string(objects[i].Data); !path.IsAbs(target) {
			to[link] = path.Join(path.Dir(link), target)
		}
	}
	for _, link := range links {
		target := to[link]
		for n := 0; n < 10 && target != ""; n++ { // a link may lead to a link
			for i, c := range changes {
				if Under(c.Path, target) && !slices.Contains(c.LinkedFrom, link) {
					changes[i].LinkedFrom = append(changes[i].LinkedFrom, link)
				}
			}
			target = to[target]
		}
	}
	return nil
}

// aliases notes at each new path another one that some file systems take for the same.
func aliases(changes []Change, names []string) {
	gone := map[string]bool{}
	var added []string
	for _, c := range changes {
		switch c.Kind {
		case Deleted:
			gone[c.Path] = true
		case Added:
			added = append(added, c.Path)
		}
	}
	same := folders.Aliases(added, names, gone)
	for i, c := range changes {
		changes[i].Alias = same[c.Path]
	}
}

package git

import (
	"context"
	"fmt"
	"path"
	"slices"

	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/internal/git/pathname"
)

// caseCollisions fills in Change.Alias and Change.LinkedFrom.
func (x *index) caseCollisions(ctx context.Context, changes []Change) error {
	var names []string
	for name := range x.state {
		names = append(names, name)
	}
	if slices.ContainsFunc(changes, func(c Change) bool { return !pathname.Under(c.Path, x.opt.State) }) {
		files, err := x.files(ctx)
		if err != nil {
			return fmt.Errorf("list the files of the tip: %w", err)
		}
		var links, blobs []string
		for _, f := range files.files {
			names = append(names, f.path)
			if f.mode == "120000" {
				links, blobs = append(links, f.path), append(blobs, f.id)
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
				if pathname.Under(c.Path, target) && !slices.Contains(c.LinkedFrom, link) {
					changes[i].LinkedFrom = append(changes[i].LinkedFrom, link)
				}
			}
			target = to[target]
		}
	}
	return nil
}

// aliases notes at each new path an existing path, or an earlier new one, that
// some file systems take for the same. The folders above count, too: such a
// system would put both into one folder.
func aliases(changes []Change, names []string) {
	gone, wanted := map[string]bool{}, map[string]bool{}
	for _, c := range changes {
		switch c.Kind {
		case Deleted:
			gone[c.Path] = true
		case Added:
			for _, p := range append(folders.Parents(c.Path), c.Path) {
				wanted[folders.FoldCase(p)] = true
			}
		}
	}
	if len(wanted) == 0 {
		return
	}
	there := folders.Spellings{}
	last := ""
	for _, name := range names {
		if gone[name] {
			continue
		}
		if wanted[folders.FoldCase(name)] {
			there.Add(name)
		}
		if dir := path.Dir(name); dir != last {
			last = dir
			for _, p := range folders.Parents(name) {
				if wanted[folders.FoldCase(p)] {
					there.Add(p)
				}
			}
		}
	}
	for i, c := range changes {
		if c.Kind != Added {
			continue
		}
		all := append(folders.Parents(c.Path), c.Path)
		for _, p := range all {
			if known := there[folders.FoldCase(p)]; len(known) > 0 && !slices.Contains(known, p) {
				changes[i].Alias = known[0]
				break
			}
		}
		for _, p := range all {
			there.Add(p)
		}
	}
}

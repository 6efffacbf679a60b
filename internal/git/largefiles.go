package git

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/git/lfs"
)

// largeFiles are those of the tip that Git LFS keeps.
type largeFiles struct {
	*tree
	used       bool            // files are given to Git LFS, or may be
	blobs      map[string]bool // of the files that are given to it
	asPointers map[string]bool // paths at which the tree has pointers, and so keeps them
	fetched    string          // commit whose files were asked for
	why        error           // they did not come
}

// inLFS reports whether files are converted on their way into the tree and out
// of it.
func (l *largeFiles) inLFS() bool { return l.used && l.src.lfs.Program != "" }

// usesLFS says whether a .gitattributes gives files to Git LFS.
func (l *largeFiles) usesLFS(ctx context.Context, files *listing) (bool, error) {
	for _, f := range files.Files {
		if path.Base(f.Path) != ".gitattributes" || !strings.HasPrefix(f.Mode, "100") {
			continue
		}
		found, err := l.lookUp(ctx, f.ID)
		if err != nil || bytes.Contains(found[0].Data, []byte("filter=lfs")) {
			return err == nil, err
		}
	}
	return false, nil
}

// fill replaces pointers in the tree by their files, which are fetched first if
// they are missing. What stays a pointer is noted, and not tried again.
func (l *largeFiles) fill(ctx context.Context) error {
	if !l.inLFS() {
		return nil
	}
	if err := l.syncIndex(ctx); err != nil {
		return err
	}
	all, err := l.pointers(ctx)
	if err != nil {
		return fmt.Errorf("look for Git LFS: %w", err)
	}
	untried := slices.DeleteFunc(slices.Clone(all), func(p lfs.Pointer) bool { return l.asPointers[p.Path] })
	if slices.ContainsFunc(untried, l.missing) {
		l.fetch(ctx, l.tip)
	}
	here := slices.DeleteFunc(untried, func(p lfs.Pointer) bool { return l.src.lfs.Skips || l.missing(p) })
	for paths := range lfs.Pieces(here) {
		if err := l.put(ctx, paths); err != nil {
			return err
		}
	}
	l.asPointers = map[string]bool{}
	for _, p := range all {
		if _, still := l.pointerAt(p.Path); still {
			l.asPointers[p.Path] = true
		}
	}
	return ctx.Err()
}

// put replaces the pointers at these paths by their files.
func (l *largeFiles) put(ctx context.Context, paths []string) error {
	for _, path := range paths {
		if err := l.clearWay(path); err != nil {
			return err
		}
	}
	if err := l.checkOutPaths(ctx, paths); err != nil {
		return err
	}
	// In the sandbox git-lfs cannot link what the user's repository has, and copies it.
	return lfs.RemoveKnown(l.lfsDir("store"), l.src.lfs.Storage)
}

// refill is fill between two calls: an agent may have put pointers back.
func (l *largeFiles) refill(ctx context.Context) error {
	if !l.inLFS() {
		return nil
	}
	if !l.opt.DryRun { // which keeps there what it has committed
		if err := l.emptyStore(); err != nil {
			return err
		}
	}
	return l.fill(ctx)
}

// mark notes at changes which files Git LFS keeps and cannot be committed as
// they are. Without git-lfs that is every file that is no pointer. With it, it
// is a file in place of a pointer whose content is missing here, and a pointer
// to content that the tip does not have.
func (l *largeFiles) mark(ctx context.Context, changes []Change) error {
	if !l.used && !slices.ContainsFunc(changes, func(c Change) bool { return path.Base(c.Path) == ".gitattributes" }) {
		return nil
	}
	var ask strings.Builder
	for _, c := range changes {
		ask.WriteString(c.Path + "\x00")
	}
	out, err := l.gitStdin(ctx, []byte(ask.String()), "check-attr", "-z", "--stdin", "filter")
	if err != nil {
		return fmt.Errorf("look for Git LFS: %w", err)
	}
	kept := map[string]bool{}
	for f := records(out); len(f) >= 3; f = f[3:] { // path, attribute, value
		kept[f[0]] = f[2] == "lfs"
	}
	for i, c := range changes {
		if plain := c.Type == File || c.Type == Executable; !plain || !kept[c.Path] {
			continue
		}
		p, is := l.pointerAt(c.Path)
		switch {
		case l.src.lfs.Program == "":
			changes[i].Large = !is
		case is:
			changes[i].Large = !l.blobs[p.Id]
		default:
			changes[i].Large = l.asPointers[c.Path]
		}
	}
	return nil
}

// lacks says which files are pointers of Git LFS in the work tree.
func (l *largeFiles) lacks() string {
	const follows = " in the tree of agents and checks, and what an agent writes in place of a pointer is taken back"
	switch {
	case !l.used:
		return ""
	case l.src.lfs.Program == "":
		return "files that are kept with Git LFS are pointers" + follows
	case len(l.asPointers) == 0:
		return ""
	}
	why := "the content is not here, or Git LFS is set up to leave it out"
	if l.why != nil {
		why = fmt.Sprintf("the content could not be fetched: %v", l.why)
	}
	return named(slices.Sorted(maps.Keys(l.asPointers)), "stays a pointer", "stay pointers") + " of Git LFS" + follows + " (" + why + ")"
}

// named gives some of the paths and says what they all are.
func named(paths []string, one, all string) string {
	if len(paths) == 1 {
		return paths[0] + " " + one
	}
	names := strings.Join(paths[:min(5, len(paths))], ", ")
	if more := len(paths) - 5; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return names + " " + all
}

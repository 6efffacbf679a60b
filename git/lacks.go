package git

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// Lacks says what of the repository the work tree does not have as a clone of a
// person would, and what follows from it: a person should know before anything
// is spent.
func (r *Repo) Lacks() []string { return slices.Clone(r.lacks) }

// findLacks looks for what Lacks says, with the work tree as the tip.
func (r *Repo) findLacks(ctx context.Context) error {
	r.lacks = nil
	files, err := r.files(ctx)
	if err != nil {
		return fmt.Errorf("look for submodules: %w", err)
	}
	var modules []string
	for _, f := range files.files {
		if f.mode == "160000" {
			modules = append(modules, f.path)
		}
	}
	if len(modules) > 0 {
		r.lacks = append(r.lacks, fmt.Sprintf("%s in the tree of agents and checks, because submodules are not filled: what builds with them cannot pass", named(modules, "is empty", "are empty")))
	}
	if r.large.used, err = r.usesLFS(ctx, files); err != nil {
		return fmt.Errorf("look for Git LFS: %w", err)
	}
	if err := r.fill(ctx); err != nil {
		return err
	}
	if lack := r.lacksLarge(); lack != "" {
		r.lacks = append(r.lacks, lack)
	}
	return nil
}

// lacksLarge says which files are pointers of Git LFS in the work tree.
func (r *Repo) lacksLarge() string {
	const follows = " in the tree of agents and checks, and what an agent writes in place of a pointer is taken back"
	switch {
	case !r.large.used:
		return ""
	case r.src.lfs == "":
		return "files that are kept with Git LFS are pointers" + follows
	case len(r.large.left) == 0:
		return ""
	}
	why := "the content is not here, or Git LFS is set up to leave it out"
	if r.large.why != nil {
		why = fmt.Sprintf("the content could not be fetched: %v", r.large.why)
	}
	return named(slices.Sorted(maps.Keys(r.large.left)), "stays a pointer", "stay pointers") + " of Git LFS" + follows + " (" + why + ")"
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

// usesLFS says whether a .gitattributes gives files to Git LFS.
func (r *Repo) usesLFS(ctx context.Context, files *listing) (bool, error) {
	for _, f := range files.files {
		if path.Base(f.path) != ".gitattributes" || !strings.HasPrefix(f.mode, "100") {
			continue
		}
		found, err := r.lookUp(ctx, f.id)
		if err != nil || bytes.Contains(found[0].data, []byte("filter=lfs")) {
			return err == nil, err
		}
	}
	return false, nil
}

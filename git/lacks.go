package git

import (
	"bytes"
	"context"
	"fmt"
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
		r.lacks = append(r.lacks, fmt.Sprintf("%s in the tree of agents and checks, because submodules are not filled: what builds with them cannot pass", emptyFolders(modules)))
	}
	if r.large, err = r.usesLFS(ctx, files); err != nil {
		return fmt.Errorf("look for Git LFS: %w", err)
	}
	if r.large {
		r.lacks = append(r.lacks, "files that are kept with Git LFS are pointers in the tree of agents and checks, and what an agent writes in their place is taken back")
	}
	return nil
}

func emptyFolders(paths []string) string {
	if len(paths) == 1 {
		return paths[0] + " is empty"
	}
	names := strings.Join(paths[:min(5, len(paths))], ", ")
	if more := len(paths) - 5; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return names + " are empty"
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

// markLarge notes at changes which files Git LFS keeps and would not be converted.
func (r *Repo) markLarge(ctx context.Context, changes []Change) error {
	if !r.large && !slices.ContainsFunc(changes, func(c Change) bool { return path.Base(c.Path) == ".gitattributes" }) {
		return nil
	}
	var ask strings.Builder
	for _, c := range changes {
		ask.WriteString(c.Path + "\x00")
	}
	out, err := r.gitStdin(ctx, []byte(ask.String()), "check-attr", "-z", "--stdin", "filter")
	if err != nil {
		return fmt.Errorf("look for Git LFS: %w", err)
	}
	large := map[string]bool{}
	for f := records(out); len(f) >= 3; f = f[3:] { // path, attribute, value
		large[f[0]] = f[2] == "lfs"
	}
	for i, c := range changes {
		if plain := c.Type == File || c.Type == Executable; plain && large[c.Path] {
			changes[i].Large = !r.isPointer(c)
		}
	}
	return nil
}

// maxPointer is more than any pointer of Git LFS has, in bytes.
const maxPointer = 1024

// isPointer says whether a changed file is a pointer of Git LFS, which is what
// has to be committed, such as one that was moved.
func (r *Repo) isPointer(c Change) bool {
	if c.Size > maxPointer {
		return false
	}
	data, err := r.readState(c.Path)
	return err == nil && strings.HasPrefix(string(data), "version https://git-lfs.github.com/spec/v1\n") && strings.Contains(string(data), "\noid sha256:")
}

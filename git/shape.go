package git

import (
	"context"
	"fmt"
	"strings"
)

// Submodules lists the paths at which the commit that is checked out has
// submodules.
func (s *Source) Submodules(ctx context.Context) ([]string, error) {
	out, err := s.read(ctx, "ls-tree", "-r", "-z", "--full-tree", s.Head)
	if err != nil {
		return nil, fmt.Errorf("look for submodules: %w", err)
	}
	var paths []string
	for _, record := range records(out) {
		if info, name, _ := strings.Cut(record, "\t"); strings.HasPrefix(info, "160000 ") {
			paths = append(paths, name)
		}
	}
	return paths, nil
}

// UsesLFS says whether the commit that is checked out gives files to Git LFS.
func (s *Source) UsesLFS(ctx context.Context) (bool, error) {
	_, err := s.read(ctx, "grep", "--quiet", "--fixed-strings", "-e", "filter=lfs", s.Head, "--", ":(glob)**/.gitattributes")
	if exitCode(err) == 1 {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("look for Git LFS: %w", err)
	}
	return true, nil
}

// Sparse says whether only a part of the files is checked out.
func (s *Source) Sparse() bool { return s.get("core.sparsecheckout") == "true" }

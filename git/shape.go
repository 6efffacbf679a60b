package git

import (
	"context"
	"fmt"
	"strings"
)

// Submodules lists the paths at which the commit that is checked out has
// submodules.
func (s *Source) Submodules(ctx context.Context) ([]string, error) {
	out, err := s.read(ctx, nil, "ls-tree", "-r", "-z", "--full-tree", s.Head)
	if err != nil {
		return nil, fmt.Errorf("look for submodules: %w", err)
	}
	return gitlinks(out), nil
}

// gitlinks gives the paths of the submodules in what ls-tree or ls-files lists.
func gitlinks(list []byte) []string {
	var paths []string
	for _, record := range records(list) {
		if info, name, _ := strings.Cut(record, "\t"); strings.HasPrefix(info, "160000 ") {
			paths = append(paths, name)
		}
	}
	return paths
}

// UsesLFS says whether the commit that is checked out gives files to Git LFS.
func (s *Source) UsesLFS(ctx context.Context) (bool, error) {
	_, err := s.read(ctx, nil, "grep", "--quiet", "--fixed-strings", "-e", "filter=lfs", s.Head, "--", ":(glob)**/.gitattributes")
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

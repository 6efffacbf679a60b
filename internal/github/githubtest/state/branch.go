package state

import (
	"crypto/sha1"
	"fmt"
	"strings"
)

// Head is the commit of a branch; empty if there is none. The default branch is always
// there, unless git has the branches.
func (r *Repository) Head(branch string) string {
	branch = strings.TrimPrefix(branch, "refs/heads/")
	if r.Bare != "" {
		return r.Bare.Ref("refs/heads/" + branch)
	}
	if sha := r.Branches[branch]; sha != "" || branch != r.DefaultBranch {
		return sha
	}
	return fmt.Sprintf("%x", sha1.Sum([]byte(r.FullName())))
}

// Ahead reports whether a branch has commits that one of another repository has not.
func (r *Repository) Ahead(branch string, base *Repository, from string) bool {
	a, b := r.Head(branch), base.Head(from)
	if r.Bare == "" || a == b {
		return a != b
	}
	return r.Bare.Ahead(a, b)
}

package state

import "slices"

// Role is what somebody is in a repository. For a role of a repository's own, the base is
// the one of GitHub's that it is built on.
type Role struct{ Name, Base string }

// roles are GitHub's, from the one with the fewest rights to the one with all.
var roles = []string{"read", "triage", "write", "maintain", "admin"}

// AtLeast reports whether a role has all the rights of one of GitHub's.
func (r Role) AtLeast(role string) bool {
	return slices.Index(roles, r.Base) >= slices.Index(roles, role)
}

package github

import "slices"

// Role is what somebody may do in a repository.
type Role string

// The roles, the smallest first.
const (
	RoleNone     Role = "none"
	RoleRead     Role = "read"
	RoleTriage   Role = "triage"
	RoleWrite    Role = "write"
	RoleMaintain Role = "maintain"
	RoleAdmin    Role = "admin"
)

// rank is the place of a role among the others; -1 if it is none.
func (r Role) rank() int {
	return slices.Index([]Role{RoleNone, RoleRead, RoleTriage, RoleWrite, RoleMaintain, RoleAdmin}, r)
}

// AtLeast reports whether a role is min or greater. A word that is no role is
// not, and nothing is at least such a word.
func (r Role) AtLeast(min Role) bool { return min.rank() >= 0 && r.rank() >= min.rank() }

// parseRole reads a role. What some forges call owner is admin.
func parseRole(s string) Role {
	switch r := Role(s); {
	case s == "owner":
		return RoleAdmin
	case r.rank() >= 0:
		return r
	}
	return RoleNone
}

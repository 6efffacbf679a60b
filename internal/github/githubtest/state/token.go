package state

import "strings"

// Token is what somebody comes with.
type Token struct {
	Login        string
	Installation bool // of an app: it has permissions instead of a role
	Used         int  // of the rate limit

	limits map[string]map[string]string // by repository in small letters
}

// Limit limits a token in a repository to these permissions: issues, contents,
// pull_requests and actions, each none, read or write. Those left out are none.
func (t *Token) Limit(repository string, permissions map[string]string) {
	if t.limits == nil {
		t.limits = map[string]map[string]string{}
	}
	t.limits[strings.ToLower(repository)] = permissions
}

// Grants reports whether a token has one of the permissions, which stand as GitHub lists
// them: "issues=read; pull_requests=read". Of those, only the one for pull requests lets a
// pull request be touched, and only the one for issues an issue. The one for metadata comes
// with every token.
func (t *Token) Grants(repository, needs string, pull bool) bool {
	have, limited := t.limits[strings.ToLower(repository)]
	if !limited {
		return true
	}
	for need := range strings.SplitSeq(needs, "; ") {
		name, access, _ := strings.Cut(need, "=")
		if name == "pull_requests" && !pull || name == "issues" && pull {
			continue
		}
		if got := have[name]; name == "metadata" || got == "write" || got == access {
			return true
		}
	}
	return false
}

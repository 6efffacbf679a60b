package github

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
)

// account is somebody, or a program.
type account struct {
	login              string
	kind               string // User, Bot, Organization or Mannequin
	suspended, deleted bool
}

// account gives an account. Of one that nothing is known of, the login says what it is: one
// that ends in [bot] is a Bot, others are a User.
func (s *Server) account(login string) account {
	key := strings.ToLower(login)
	switch a := s.accounts[key]; {
	case a != nil:
		return *a
	case strings.HasSuffix(key, "[bot]"):
		return account{login: login, kind: "Bot"}
	}
	return account{login: login, kind: "User"}
}

func (s *Server) changeAccount(login string, change func(*account)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a := s.account(login)
	change(&a)
	s.accounts[strings.ToLower(login)] = &a
}

// SetType says what an account is: User, Bot, Organization or Mannequin. One
// whose name ends in [bot] is a Bot, others are a User.
func (s *Server) SetType(login, kind string) {
	s.changeAccount(login, func(who *account) { who.kind = kind })
}

// Suspend suspends an account: its tokens are refused, and it has no rights
// any more.
func (s *Server) Suspend(login string) {
	s.changeAccount(login, func(who *account) { who.suspended = true })
}

// DeleteAccount deletes an account: what it wrote has no author any more.
func (s *Server) DeleteAccount(login string) {
	s.changeAccount(login, func(who *account) { who.deleted = true })
}

// UserID is the number of an account.
func UserID(login string) int64 {
	if login == "github-actions[bot]" {
		return 41898282
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(strings.ToLower(login))) // it cannot fail
	return int64(h.Sum32())
}

// nodeID is an id of the GraphQL API.
func nodeID(kind string, id int64) string { return fmt.Sprintf("%s_kwDO%08x", kind, id) }

// role is what somebody is in a repository. For a role of a repository's own, the base is
// the one of GitHub's that it is built on.
type role struct{ name, base string }

// roles are GitHub's, from the one with the fewest rights to the one with all.
var roles = []string{"read", "triage", "write", "maintain", "admin"}

// atLeast reports whether a role has all the rights of one of GitHub's.
func (r role) atLeast(least string) bool {
	return slices.Index(roles, r.base) >= slices.Index(roles, least)
}

// Permit gives somebody a role in a repository: read, triage, write, maintain,
// admin, or none.
func (s *Server) Permit(repo, login, name string) { s.PermitAs(repo, login, name, name) }

// PermitAs gives somebody a role with a name of the repository's own, which is
// built on one of GitHub's.
func (s *Server) PermitAs(repo, login, custom, base string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.repository(repo).roles[strings.ToLower(login)] = role{custom, base}
}

// Conceal has somebody be called nobody in particular, whatever their role is: so GitHub
// calls members of an organization who do not show that they are.
func (s *Server) Conceal(repo, login string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.repository(repo).concealed[strings.ToLower(login)] = true
}

// token is what somebody comes with.
type token struct {
	login        string
	installation bool                         // of an app: it has permissions instead of a role
	used         int                          // of the rate limit
	limits       map[string]map[string]string // by repository in small letters
}

// AddToken makes a token of a person known. One that is not known is refused,
// and no token sees what is public.
func (s *Server) AddToken(name, login string) { s.addToken(name, token{login: login}) }

// AddInstallation makes a token of an app known, such as the one that a job
// has as "github-actions[bot]". It may do everything in every repository,
// until Allow limits it.
func (s *Server) AddInstallation(name, login string) {
	s.addToken(name, token{login: login, installation: true})
}

func (s *Server) addToken(name string, t token) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.limits = map[string]map[string]string{}
	s.tokens[name] = &t
}

// Allow limits a token in a repository to these permissions: issues, contents,
// pull_requests and actions, each none, read or write. Those left out are none.
// For the token of a person they come on top of the role, as for fine-grained
// tokens.
func (s *Server) Allow(name, repo string, permissions map[string]string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.tokens[name]
	if t == nil {
		s.host.Errorf("githubtest: there is no token %q", name)
		return
	}
	t.limits[strings.ToLower(repo)] = permissions
}

// grants reports whether a token has one of the permissions, which stand as GitHub lists
// them: "issues=read; pull_requests=read". Of those, only the one for pull requests lets a
// pull request be touched, and only the one for issues an issue. The one for metadata comes
// with every token.
func (t *token) grants(r *repository, needs string, pull bool) bool {
	have, limited := t.limits[strings.ToLower(r.fullName())]
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

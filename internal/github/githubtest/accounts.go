package githubtest

import (
	"strings"

	"github.com/reprise-ci/reprise/internal/github/githubtest/state"
)

// accounts are people and programs, their tokens, and what they may do.
type accounts struct{ in *world }

// UserID is the number of an account.
func UserID(login string) int64 { return state.UserID(login) }

func (a accounts) change(login string, change func(*state.Account)) {
	a.in.Lock()
	defer a.in.Unlock()
	a.in.Accounts.Change(login, change)
}

// SetType says what an account is: User, Bot, Organization or Mannequin. One
// whose name ends in [bot] is a Bot, others are a User.
func (a accounts) SetType(login, kind string) {
	a.change(login, func(who *state.Account) { who.Kind = kind })
}

// Suspend suspends an account: its tokens are refused, and it has no rights
// any more.
func (a accounts) Suspend(login string) {
	a.change(login, func(who *state.Account) { who.Suspended = true })
}

// DeleteAccount deletes an account: what it wrote has no author any more.
func (a accounts) DeleteAccount(login string) {
	a.change(login, func(who *state.Account) { who.Deleted = true })
}

// AddToken makes a token of a person known. One that is not known is refused,
// and no token sees what is public.
func (a accounts) AddToken(name, login string) { a.addToken(name, state.Token{Login: login}) }

// AddInstallation makes a token of an app known, such as the one that a job
// has as "github-actions[bot]". It may do everything in every repository,
// until Allow limits it.
func (a accounts) AddInstallation(name, login string) {
	a.addToken(name, state.Token{Login: login, Installation: true})
}

func (a accounts) addToken(name string, t state.Token) {
	a.in.Lock()
	defer a.in.Unlock()
	a.in.Tokens[name] = &t
}

// Allow limits a token in a repository to these permissions: issues, contents,
// pull_requests and actions, each none, read or write. Those left out are none.
// For the token of a person they come on top of the role, as for fine-grained
// tokens.
func (a accounts) Allow(name, repo string, permissions map[string]string) {
	a.in.Lock()
	defer a.in.Unlock()
	t := a.in.Tokens[name]
	if t == nil {
		a.in.host.Errorf("githubtest: there is no token %q", name)
		return
	}
	t.Limit(repo, permissions)
}

// Permit gives somebody a role in a repository: read, triage, write, maintain,
// admin, or none.
func (a accounts) Permit(repo, login, role string) { a.PermitAs(repo, login, role, role) }

// PermitAs gives somebody a role with a name of the repository's own, which is
// built on one of GitHub's.
func (a accounts) PermitAs(repo, login, custom, base string) {
	a.in.Lock()
	defer a.in.Unlock()
	a.in.repository(repo).Roles[strings.ToLower(login)] = state.Role{Name: custom, Base: base}
}

// Conceal has somebody be called nobody in particular, whatever their role is: so GitHub
// calls members of an organization who do not show that they are.
func (a accounts) Conceal(repo, login string) {
	a.in.Lock()
	defer a.in.Unlock()
	a.in.repository(repo).Concealed[strings.ToLower(login)] = true
}

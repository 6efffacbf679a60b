package github

import (
	"context"
	"sync"

	"github.com/google/go-github/v60/github"
)

// self remembers who the token acts for.
type self struct {
	mu     sync.Mutex
	user   User // zero as long as it is not known
	untold bool // the forge was asked and cannot tell
}

// Self says who the token acts for. The token of an app is no user, and learns it another way. The answer is kept.
// Some forges cannot tell; then it is known from the first reaction or comment that this client makes.
func (a *api) Self(ctx context.Context) (User, error) {
	a.self.mu.Lock()
	known := a.self.user
	a.self.mu.Unlock()
	if known != (User{}) {
		return known, nil
	}
	const what = "read who the token belongs to"
	w, _, err := do[github.User](ctx, a, Request{What: what, Path: "user"})
	if IsKind(err, Forbidden, NotFound) {
		var answer struct {
			Viewer struct {
				Login string
				ID    int64 `json:"databaseId"`
			}
		}
		err = a.query(ctx, Request{What: what}, "query { viewer { login databaseId } }", nil, &answer)
		w = github.User{Login: &answer.Viewer.Login, ID: &answer.Viewer.ID}
	}
	switch {
	case err != nil:
		return User{}, err
	case w.GetLogin() == "":
		return User{}, a.misfit(what, "it names nobody", nil)
	}
	who := userOf(&w)
	if who.IsBot() {
		who.Type = "Bot"
	}
	a.learn(who)
	return who, nil
}

// learn notes who wrote what this client has just written.
func (a *api) learn(who User) {
	if who.Login == "" {
		return
	}
	a.self.mu.Lock()
	defer a.self.mu.Unlock()
	a.self.user, a.self.untold = who, false
}

// whoami is Self for those that can do without: known is false if the forge
// cannot tell. An error is one that may be gone the next time.
func (a *api) whoami(ctx context.Context) (u User, known bool, err error) {
	a.self.mu.Lock()
	u, untold := a.self.user, a.self.untold
	a.self.mu.Unlock()
	if untold || u != (User{}) {
		return u, !untold, nil
	}
	u, err = a.Self(ctx)
	if IsKind(err, Forbidden, NotFound, Gone, Refused) {
		a.self.mu.Lock()
		a.self.untold = a.self.user == (User{})
		a.self.mu.Unlock()
		return User{}, false, nil
	}
	return u, err == nil, err
}

package github

import (
	"context"
	"net/http"
	"strings"
	"sync"

	"github.com/reprise-ci/reprise/internal/github/wire"
)

// self remembers who the token acts for.
type self struct {
	mu     sync.Mutex
	user   wire.User // zero as long as it is not known
	untold bool      // the forge was asked and cannot tell
}

// Self says who the token acts for. The token of an app is no user, and
// learns it another way. The answer is kept.
//
// Errors are an *Error, or why ctx was cancelled. Some forges cannot tell; then
// it is known from the first reaction or comment that this client makes.
func (a *api) Self(ctx context.Context) (wire.User, error) {
	a.self.mu.Lock()
	known := a.self.user
	a.self.mu.Unlock()
	if known != (wire.User{}) {
		return known, nil
	}
	const what = "read who the token belongs to"
	var w wire.AccountForm
	err := a.get(ctx, what, "", "user", &w)
	if isKind(err, Forbidden, NotFound) {
		var answer struct {
			Viewer struct {
				Login string
				ID    int64 `json:"databaseId"`
			}
		}
		err = a.query(ctx, &call{what: what, repeatable: true, reads: true}, "query { viewer { login databaseId } }", nil, &answer)
		w = wire.AccountForm{Login: answer.Viewer.Login, ID: answer.Viewer.ID}
	}
	switch {
	case err != nil:
		return wire.User{}, err
	case w.Login == "":
		return wire.User{}, a.misfit(&call{what: what, tries: 1, status: http.StatusOK}, "it names nobody", nil)
	}
	if w.Type == "" && strings.HasSuffix(w.Login, "[bot]") {
		w.Type = "Bot"
	}
	a.learn(w)
	return w.User(), nil
}

// learn notes who wrote what this client has just written.
func (a *api) learn(w wire.AccountForm) {
	if w.Login == "" {
		return
	}
	a.self.mu.Lock()
	defer a.self.mu.Unlock()
	a.self.user, a.self.untold = w.User(), false
}

// whoami is Self for those that can do without: known is false if the forge
// cannot tell. An error is one that may be gone the next time.
func (a *api) whoami(ctx context.Context) (u wire.User, known bool, err error) {
	a.self.mu.Lock()
	u, untold := a.self.user, a.self.untold
	a.self.mu.Unlock()
	if untold || u != (wire.User{}) {
		return u, !untold, nil
	}
	u, err = a.Self(ctx)
	if isKind(err, Forbidden, NotFound, Gone, Refused) {
		a.self.mu.Lock()
		a.self.untold = a.self.user == (wire.User{})
		a.self.mu.Unlock()
		return wire.User{}, false, nil
	}
	return u, err == nil, err
}

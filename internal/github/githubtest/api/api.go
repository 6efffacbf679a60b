// Package api is GitHub's API: it answers requests from a state in memory, and changes it.
// Every request and every answer is held against GitHub's own description.
package api

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/github/githubtest/openapi"
	"github.com/reprise-ci/reprise/internal/github/githubtest/shape"
	"github.com/reprise-ci/reprise/internal/github/githubtest/state"
)

// API answers requests.
type API struct {
	show      shape.Objects
	described *openapi.Description
	report    Reporter
	routes    []route // the state's lock guards what they do
}

// New is the API of a state.
func New(show shape.Objects, described *openapi.Description, report Reporter) *API {
	return &API{show, described, report, routes()}
}

// Extend has an operation answered by another package, which keeps that part of GitHub. It
// is one of routes, below a repository; it is held against the description as all others are.
func (a *API) Extend(method, path string, do func(*Desk) Result) {
	a.show.State.Lock()
	defer a.show.State.Unlock()
	i := slices.IndexFunc(a.routes, func(r route) bool { return r.method == method && r.path == inRepo+path })
	if i < 0 {
		a.report.Errorf("githubtest: there is no operation %s %s to extend", method, path)
		return
	}
	a.routes[i].do = func(v *visit) Result { return do(&Desk{v}) }
}

// Desk gives a repository to a caller that holds the lock of the state.
func (a *API) Desk(of *state.Repository) *Desk {
	return &Desk{&visit{State: a.show.State, show: a.show, report: a.report, repo: of}}
}

// Understand finds out what a request asks for, and reports one that GitHub does not know.
func (a *API) Understand(in *Incoming) {
	a.show.State.Lock()
	defer a.show.State.Unlock()
	in.Path = a.place(in.Path)
	in.understand(a.routes, a.described)
	if len(in.wrong) > 0 {
		a.report.Errorf("githubtest: GitHub's API has no request %s: %s", in, strings.Join(in.wrong, "; "))
	}
}

// place is the path under which a request is known: without the prefix of GitHub
// Enterprise, and with the name of a repository that is given by id.
func (a *API) place(path string) string {
	if path == "/api/graphql" {
		return "/graphql"
	}
	path = strings.TrimPrefix(path, "/api/v3")
	rest, ok := strings.CutPrefix(path, "/repositories/")
	if !ok {
		return path
	}
	id, rest, _ := strings.Cut(rest, "/")
	for _, repo := range a.show.State.Repositories() {
		if fmt.Sprint(repo.ID) == id {
			return strings.TrimSuffix("/repos/"+repo.FullName()+"/"+rest, "/")
		}
	}
	return path
}

// Answer does what a request asks for, once it is understood.
func (a *API) Answer(in *Incoming) Reply {
	st := a.show.State
	st.Lock()
	defer st.Unlock()
	v := &visit{State: st, show: a.show, report: a.report, in: in, token: st.Tokens[in.Token]}
	out, err := v.answer().reply()
	if err != nil {
		a.report.Errorf("githubtest: encode the answer to %s: %v", in.Path, err)
	}
	if wrong := a.check(in.route, out.Status, out.Body); len(wrong) > 0 {
		a.report.Errorf("githubtest: the answer %d to %s %s is not GitHub's: %s", out.Status, in.Method, in.Path, strings.Join(wrong, "; "))
	}
	out.ifNew(in)
	v.count(out)
	return out
}

// check says in what an answer is not as GitHub describes it; r is nil for what has no
// route. GraphQL has no description here, but its refusals do.
func (a *API) check(r *route, status int, body []byte) []string {
	switch {
	case r == nil, r.path == "/graphql" && status >= 300:
		return a.described.CheckAnswer("", "", status, body)
	case r.path == "/graphql":
		return nil
	}
	return a.described.CheckAnswer(r.method, r.path, status, body)
}

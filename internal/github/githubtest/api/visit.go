package api

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/github/githubtest/shape"
	"github.com/reprise-ci/reprise/internal/github/githubtest/state"
)

// Reporter is told what is wrong with a request or an answer, such as a test.
type Reporter interface {
	Errorf(format string, args ...any)
}

// visit is one request on its way through the state, which is locked.
type visit struct {
	*state.State
	show   shape.Objects
	report Reporter
	in     *Incoming
	token  *state.Token // nil: nobody
	repo   *state.Repository
	// What the path names. A visit of a comment has its issue, too.
	issue   *state.Issue
	comment *state.Posted
	pull    *state.Pull
}

// answer is what becomes of a request. The order of the questions is
// GitHub's: who, what, whether it is allowed, and only then what was sent.
func (v *visit) answer() Result {
	switch {
	case v.in.route == nil:
		return notFound()
	case v.in.Token != "" && v.token == nil:
		return refuse(http.StatusUnauthorized, "Bad credentials")
	case v.token != nil && v.Accounts.Of(v.token.Login).Suspended:
		return refuse(http.StatusForbidden, "Sorry. Your account was suspended.")
	}
	for _, ask := range []func() *Result{v.findRepository, v.findThing, v.mayDo, v.isThere, v.tooMuch, v.isUnderstood} {
		if no := ask(); no != nil {
			return *no
		}
	}
	if v.in.route.do == nil {
		return notFound() // nobody keeps that
	}
	return v.in.route.do(v)
}

// findRepository finds the repository of a request, and hides a private one
// from who has no role in it.
func (v *visit) findRepository() *Result {
	if !strings.HasPrefix(v.in.route.path, inRepo) {
		return nil
	}
	v.repo = v.Find(v.in.params["owner"] + "/" + v.in.params["repo"])
	if v.repo == nil || v.repo.Private && !v.sees(v.repo) {
		no := notFound()
		return &no
	}
	return nil
}

// findThing finds what the path names besides, if it is there.
func (v *visit) findThing() *Result {
	if id := v.number("comment_id"); id != 0 {
		if v.comment = v.repo.Comments.Find(id); v.comment != nil {
			v.issue = v.repo.Issues[v.comment.Issue]
		}
	}
	if n := int(v.number("issue_number")); n != 0 {
		v.issue = v.repo.Issues[n]
	}
	if n := int(v.number("pull_number")); n != 0 {
		v.pull, v.issue = v.repo.Pulls[n], v.repo.Issues[n]
	}
	return nil
}

// isThere refuses what names something that is not there, or not any more.
func (v *visit) isThere() *Result {
	no := notFound()
	switch {
	case v.in.params["comment_id"] != "" && v.comment == nil && v.pull == nil, v.in.params["pull_number"] != "" && v.pull == nil:
		return &no
	case v.in.params["issue_number"] == "" || v.issue != nil:
		return nil
	}
	n := int(v.number("issue_number"))
	switch gone, was := v.repo.Gone[n]; {
	case was && gone.To == nil:
		no = refuse(http.StatusGone, "This issue was deleted")
	case was:
		_, rest, _ := strings.Cut(v.in.Path, fmt.Sprintf("/issues/%d", n))
		no = moved(v.in.Method, shape.At(v.show.API, "repositories", gone.To.ID, "issues", gone.Number)+rest)
	}
	return &no
}

// isUnderstood refuses what is not as GitHub describes it.
func (v *visit) isUnderstood() *Result {
	if len(v.in.wrong) == 0 {
		return nil
	}
	no := refuse(http.StatusBadRequest, "Problems parsing JSON")
	if len(v.in.Body) == 0 || v.in.input != nil {
		no = refuse(http.StatusUnprocessableEntity, "Invalid request.\n\n"+strings.Join(v.in.wrong, "\n"))
	}
	return &no
}

// number reads a number in the path; 0 if there is none.
func (v *visit) number(name string) int64 {
	n, err := strconv.ParseInt(v.in.params[name], 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// field reads what was sent under a name. Its type is the one of GitHub's
// description; the zero value if it was not sent.
func field[T any](v *visit, name string) (value T, sent bool) {
	input, _ := v.in.input.(object)
	value, sent = input[name].(T)
	return value, sent
}

// login is who acts; empty: nobody.
func (v *visit) login() string {
	if v.token == nil {
		return ""
	}
	return v.token.Login
}

// since reports whether something was changed at or after the time that was
// asked for.
func (v *visit) since(updated time.Time) bool {
	from, err := time.Parse(time.RFC3339, v.in.Query.Get("since"))
	return err != nil || !updated.Before(from)
}

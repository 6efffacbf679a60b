package githubtest

import (
	"net/http"
	"strconv"
	"strings"
	"time"
)

// visit is one request on its way through the state. The server is locked.
type visit struct {
	*Server
	in    *incoming
	token *token // nil: nobody
	repo  *repository
	// What the path names. A visit of a comment has its issue, too.
	issue   *Issue
	comment *comment
	pull    *Pull
}

// answer is what becomes of a request. The order of the questions is
// GitHub's: who, what, whether it is allowed, and only then what was sent.
func (v *visit) answer() result {
	switch {
	case v.in.route == nil:
		return notFound()
	case v.in.token != "" && v.token == nil:
		return refuse(http.StatusUnauthorized, "Bad credentials")
	case v.token != nil && v.account(v.token.login).suspended:
		return refuse(http.StatusForbidden, "Sorry. Your account was suspended.")
	}
	for _, ask := range []func() *result{v.findRepository, v.findThing, v.mayDo, v.isThere, v.tooMuch, v.isUnderstood} {
		if no := ask(); no != nil {
			return *no
		}
	}
	return v.in.route.do(v)
}

// findRepository finds the repository of a request, and hides a private one
// from who has no role in it.
func (v *visit) findRepository() *result {
	if !strings.HasPrefix(v.in.route.path, inRepo) {
		return nil
	}
	v.repo = v.repos[strings.ToLower(v.in.params["owner"]+"/"+v.in.params["repo"])]
	if v.repo == nil || v.repo.private && !v.sees(v.repo) {
		no := notFound()
		return &no
	}
	return nil
}

// findThing finds what the path names besides, if it is there.
func (v *visit) findThing() *result {
	if id := v.number("comment_id"); id != 0 {
		if v.comment = v.repo.comments.find(id); v.comment != nil {
			v.issue = v.repo.issues[v.comment.issue]
		}
	}
	if n := int(v.number("issue_number")); n != 0 {
		v.issue = v.repo.issues[n]
	}
	if n := int(v.number("pull_number")); n != 0 {
		v.pull, v.issue = v.repo.pulls[n], v.repo.issues[n]
	}
	return nil
}

// isThere refuses what names something that is not there, or not any more.
func (v *visit) isThere() *result {
	var no result
	n := int(v.number("issue_number"))
	switch {
	case v.in.params["comment_id"] != "" && v.comment == nil && v.pull == nil, v.in.params["pull_number"] != "" && v.pull == nil:
		no = notFound()
	case v.in.params["issue_number"] == "" || v.issue != nil:
		return nil
	case v.repo.gone[n] != nil:
		no = v.repo.gone[n](v)
	default:
		no = notFound()
	}
	return &no
}

// isUnderstood refuses what is not as GitHub describes it.
func (v *visit) isUnderstood() *result {
	if len(v.in.wrong) == 0 {
		return nil
	}
	no := refuse(http.StatusBadRequest, "Problems parsing JSON")
	if len(v.in.body) == 0 || v.in.input != nil {
		no = refuse(http.StatusUnprocessableEntity, "Invalid request.\n\n"+strings.Join(v.in.wrong, "\n"))
	}
	return &no
}

// elsewhere does what another package keeps the state of.
func (v *visit) elsewhere() result {
	do := v.extra[v.in.route.method+" "+v.in.route.path]
	if do == nil {
		return notFound()
	}
	return do(&Desk{v.Server, v.repo, v})
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
	return v.token.login
}

// since reports whether something was changed at or after the time that was
// asked for.
func (v *visit) since(updated time.Time) bool {
	from, err := time.Parse(time.RFC3339, v.in.query.Get("since"))
	return err != nil || !updated.Before(from)
}

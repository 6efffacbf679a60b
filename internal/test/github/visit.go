package github

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// visit is one request on its way through the server, which is locked.
type visit struct {
	*Server
	method, path string
	query        url.Values
	body         []byte
	tag          string // of If-None-Match
	html         bool   // the HTML of texts is asked for, too
	input        any    // the body as JSON; nil if there is none
	route        *route // nil: there is none
	params       map[string]string
	wrong        []string // in what it is not as GitHub describes it
	sent         string   // the token, known or not
	token        *token   // nil: nobody
	repo         *repository
	// What the path names. A visit of a comment has its issue, too.
	issue     *Issue
	commented *posted
	pull      *Pull
}

const mostInput = 16 << 20

// ServeHTTP answers one request, and lets a fault answer before or after what it
// does. Tests in which time must not depend on a connection call it without
// one. Faults that break a connection panic with http.ErrAbortHandler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.Beside != nil && s.Beside(w, r) {
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostInput))
	if err != nil {
		return // the client is gone
	}
	v := s.receive(r, body)
	nth := s.add(v.request(r))
	fault := s.next(nth, v.method+" "+v.path)
	w.Header().Set("X-GitHub-Media-Type", "github.v3; format=json")
	w.Header().Set("X-GitHub-Request-Id", fmt.Sprintf("C0DE:%d", nth))
	if fault != nil && !fault.After {
		s.answered(nth, fault.seen(), false)
		s.fail(*fault, nil, w, r)
		return
	}
	a := v.answer()
	if fault != nil {
		s.answered(nth, fault.seen(), a.status < 300)
		s.fail(*fault, a.body, w, r)
		return
	}
	s.answered(nth, a.status, a.status < 300)
	for name, value := range a.header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body) // the client may be gone
}

// receive finds out what a request asks for, and reports one that GitHub does not know.
func (s *Server) receive(r *http.Request, body []byte) *visit {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, sent, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	v := &visit{Server: s, method: r.Method, path: s.place(r.URL.EscapedPath()), query: r.URL.Query(), body: body, sent: sent, tag: r.Header.Get("If-None-Match")}
	v.html = strings.Contains(r.Header.Get("Accept"), ".full+json") && s.Shown != nil
	v.route, v.params = findRoute(v.method, v.path)
	switch {
	case v.route == nil:
		v.wrong = []string{"there is no such route"}
	case len(body) > 0 && json.Unmarshal(body, &v.input) != nil:
		v.wrong = []string{"its body is no JSON"}
	case v.route.path != "/graphql": // it has no description here; see graphQL
		v.wrong = s.described.checkRequest(v)
	}
	if len(v.wrong) > 0 {
		asked := v.path
		if len(v.query) > 0 {
			asked += "?" + v.query.Encode()
		}
		s.host.Errorf("githubtest: GitHub's API has no request %s %s: %s", v.method, asked, strings.Join(v.wrong, "; "))
	}
	return v
}

// place is the path under which a request is known: without the prefix of GitHub
// Enterprise, and with the name of a repository that is given by id.
func (s *Server) place(path string) string {
	if path == "/api/graphql" {
		return "/graphql"
	}
	path = strings.TrimPrefix(path, "/api/v3")
	if rest, ok := strings.CutPrefix(path, "/repositories/"); ok {
		id, rest, _ := strings.Cut(rest, "/")
		for _, repo := range s.repositories {
			if fmt.Sprint(repo.id) == id {
				return strings.TrimSuffix("/repos/"+repo.fullName()+"/"+rest, "/")
			}
		}
	}
	return path
}

// request is how a visit is noted.
func (v *visit) request(r *http.Request) Request {
	one := Request{Method: v.method, Path: v.path, Token: v.sent, Header: r.Header.Clone(), Body: v.body}
	if r.URL.RawQuery != "" {
		one.Path += "?" + r.URL.RawQuery
	}
	if v.route != nil {
		query, _ := field[string](v, "query")
		mutation := v.route.path == "/graphql" && strings.HasPrefix(strings.TrimSpace(query), "mutation")
		one.Route, one.content, one.write = v.route.String(), v.route.content, v.route.writes() || mutation
	}
	return one
}

// reply is an answer.
type reply struct {
	status int
	value  any // nil: no body
	header map[string]string
	body   []byte // the value as it is sent
}

const docs = "https://docs.github.com/rest"

func ok(value any) reply      { return reply{status: http.StatusOK, value: value} }
func created(value any) reply { return reply{status: http.StatusCreated, value: value} }
func nothing() reply          { return reply{status: http.StatusNoContent} }
func notFound() reply         { return refuse(http.StatusNotFound, "Not Found") }

// refuse is what GitHub says when it does not do what was asked for.
func refuse(status int, message string) reply {
	return reply{status: status, value: object{"message": message, "documentation_url": docs, "status": fmt.Sprint(status)}}
}

// invalid refuses with the reason that GitHub gives for what was sent.
func invalid(resource, field, code, message string) reply {
	reason := object{"resource": resource, "code": code}
	for name, value := range map[string]string{"field": field, "message": message} {
		if value != "" {
			reason[name] = value
		}
	}
	r := refuse(http.StatusUnprocessableEntity, "Validation Failed")
	r.value.(object)["errors"] = []any{reason}
	return r
}

// answer does what a request asks for, and holds the answer against the description.
func (v *visit) answer() reply {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.token = v.tokens[v.sent]
	r := v.decide()
	if r.header == nil {
		r.header = map[string]string{}
	}
	if r.value != nil {
		r.header["Content-Type"] = "application/json; charset=utf-8"
	}
	var wrong []string
	if r.body, wrong = v.described.write(v.route, r.status, r.value); len(wrong) > 0 {
		v.host.Errorf("githubtest: the answer %d to %s %s is not GitHub's: %s", r.status, v.method, v.path, strings.Join(wrong, "; "))
	}
	if v.method == http.MethodGet && r.status == http.StatusOK {
		r.header["ETag"] = fmt.Sprintf(`W/"%x"`, sha256.Sum256(r.body))
		if strings.TrimPrefix(v.tag, "W/") == strings.TrimPrefix(r.header["ETag"], "W/") {
			r.status, r.body = http.StatusNotModified, nil
			delete(r.header, "Content-Type")
		}
	}
	v.count(r)
	return r
}

// count notes what an answer costs, and says what is left. It never runs out by itself. To
// be told that nothing has changed is free.
func (v *visit) count(r reply) {
	limit, used := 60, 0
	if v.token != nil {
		if r.status != http.StatusNotModified {
			v.token.used++
		}
		limit, used = 5000, v.token.used
	}
	used = min(used, limit-1)
	for name, n := range map[string]int{"Limit": limit, "Remaining": limit - used, "Used": used, "Reset": int(v.now().Add(time.Hour).Unix())} {
		r.header["X-RateLimit-"+name] = strconv.Itoa(n)
	}
	r.header["X-RateLimit-Resource"] = "core"
}

// decide says what becomes of a request. The order of the questions is GitHub's: who, what,
// whether it is allowed, and only then what was sent.
func (v *visit) decide() reply {
	switch {
	case v.route == nil:
		return notFound()
	case v.sent != "" && v.token == nil:
		return refuse(http.StatusUnauthorized, "Bad credentials")
	case v.token != nil && v.account(v.token.login).suspended:
		return refuse(http.StatusForbidden, "Sorry. Your account was suspended.")
	}
	for _, ask := range []func() *reply{v.findAll, v.forbidden, v.missing, v.tooMuch, v.misunderstood} {
		if no := ask(); no != nil {
			return *no
		}
	}
	return v.route.do(v)
}

// findAll finds the repository of a request, and hides a private one from who has no role
// in it; and what the path names besides, if it is there.
func (v *visit) findAll() *reply {
	if !strings.HasPrefix(v.route.path, inRepo) {
		return nil
	}
	v.repo = v.find(v.params["owner"] + "/" + v.params["repo"])
	if v.repo == nil || v.repo.private && !v.sees(v.repo) {
		no := notFound()
		return &no
	}
	if v.commented = v.repo.comment(v.number("comment_id")); v.commented != nil {
		v.issue = v.repo.issues[v.commented.issue]
	}
	if n := int(cmp.Or(v.number("issue_number"), v.number("pull_number"))); n != 0 {
		v.issue = v.repo.issues[n]
	}
	v.pull = v.repo.pulls[int(v.number("pull_number"))]
	return nil
}

const byIntegration = "Resource not accessible by integration"

// forbidden refuses what the one who asks may not do.
func (v *visit) forbidden() *reply {
	refuseWith := func(status int, message string) *reply {
		no := refuse(status, message)
		if v.token != nil && v.repo != nil {
			no.header = map[string]string{"X-Accepted-GitHub-Permissions": v.route.needs}
		}
		return &no
	}
	r := v.route
	switch {
	case v.token == nil && r.role != "":
		return refuseWith(http.StatusUnauthorized, "Requires authentication")
	case r.needs == "" && v.token.installation:
		return refuseWith(http.StatusForbidden, byIntegration)
	case v.repo == nil || v.token == nil:
		return nil
	case !v.token.grants(v.repo, r.needs, v.pull != nil || v.issue != nil && v.issue.Pull || strings.HasPrefix(r.path, inRepo+"/pulls")):
		return refuseWith(http.StatusForbidden, v.notAccessible())
	case r.writes() && v.repo.Archived:
		return refuseWith(http.StatusForbidden, "Repository was archived so is read-only.")
	case !v.token.installation && r.role != "" && r.role != "anybody" && !v.has(r.role):
		return refuseWith(http.StatusForbidden, "Must have admin rights to Repository.")
	}
	return nil
}

func (v *visit) notAccessible() string {
	if v.token.installation {
		return byIntegration
	}
	return "Resource not accessible by personal access token"
}

// has reports whether the one who asks has a role, or more. An app has what
// its permissions say, which were asked before.
func (v *visit) has(role string) bool {
	return v.token != nil && (v.token.installation || v.repo.roleOf(v.token.login).atLeast(role))
}

// sees reports whether a private repository is shown.
func (v *visit) sees(repo *repository) bool {
	return v.token != nil && (v.token.installation || repo.roleOf(v.token.login).atLeast("read"))
}

// is reports whether the one who asks is somebody.
func (v *visit) is(login string) bool { return strings.EqualFold(login, v.login()) }

// missing refuses what names something that is not there, or not any more.
func (v *visit) missing() *reply {
	no := notFound()
	switch {
	case v.params["comment_id"] != "" && v.commented == nil && v.pull == nil, v.params["pull_number"] != "" && v.pull == nil:
		return &no
	case v.params["issue_number"] == "" || v.issue != nil:
		return nil
	}
	n := int(v.number("issue_number"))
	switch gone, was := v.repo.moved[n]; {
	case was && gone.to == nil:
		no = refuse(http.StatusGone, "This issue was deleted")
	case was:
		_, rest, _ := strings.Cut(v.path, fmt.Sprintf("/issues/%d", n))
		to := fmt.Sprintf("%s/repositories/%d/issues/%d%s", v.URL, gone.to.id, gone.number, rest)
		no = reply{status: http.StatusMovedPermanently, value: object{"message": "Moved Permanently", "url": to, "documentation_url": docs}, header: map[string]string{"Location": to}}
		if v.method != http.MethodGet {
			no.status = http.StatusTemporaryRedirect
		}
	}
	return &no
}

const secondaryMessage = "You have exceeded a secondary rate limit and have been temporarily blocked from content creation. " +
	"Please retry your request again later."

// tooMuch refuses one request too many that creates content.
func (v *visit) tooMuch() *reply {
	if !v.route.content {
		return nil
	}
	wait := v.content.take(v.now())
	if wait == 0 {
		return nil
	}
	no := refuse(http.StatusForbidden, secondaryMessage)
	no.header = map[string]string{"Retry-After": strconv.Itoa(int(wait.Seconds() + 0.999))}
	return &no
}

// misunderstood refuses what is not as GitHub describes it.
func (v *visit) misunderstood() *reply {
	if len(v.wrong) == 0 {
		return nil
	}
	no := refuse(http.StatusBadRequest, "Problems parsing JSON")
	if len(v.body) == 0 || v.input != nil {
		no = refuse(http.StatusUnprocessableEntity, "Invalid request.\n\n"+strings.Join(v.wrong, "\n"))
	}
	return &no
}

// number reads a number in the path; 0 if there is none.
func (v *visit) number(name string) int64 {
	n, err := strconv.ParseInt(v.params[name], 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// field reads what was sent under a name. Its type is the one of GitHub's
// description; the zero value if it was not sent.
func field[T any](v *visit, name string) (value T, sent bool) {
	input, _ := v.input.(object)
	value, sent = input[name].(T)
	return value, sent
}

// text is a text that was sent.
func (v *visit) text(name string) string {
	s, _ := field[string](v, name)
	return s
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
	from, err := time.Parse(time.RFC3339, v.query.Get("since"))
	return err != nil || !updated.Before(from)
}

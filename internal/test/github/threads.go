package github

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

func (v *visit) getUser() reply { return ok(v.user(v.token.login)) }

// getPermission answers what somebody may do. GitHub knows four permissions and more roles;
// only the role tells triage and maintain apart.
func (v *visit) getPermission() reply {
	login := v.params["username"]
	if a := v.account(login); a.suspended || a.deleted {
		return notFound()
	}
	if !v.has("write") {
		return refuse(http.StatusForbidden, "Must have push access to view collaborator permission.")
	}
	has := v.repo.roleOf(login)
	permission := cmp.Or(map[string]string{"triage": "read", "maintain": "write"}[has.base], has.base)
	user := v.user(login)
	user["permissions"], user["role_name"] = permissions(has), has.name
	return ok(object{"permission": permission, "role_name": has.name, "user": user})
}

func (v *visit) getRepository() reply {
	out := v.repo.object()
	if v.token != nil && !v.token.installation {
		out["permissions"] = permissions(v.repo.roleOf(v.token.login))
	}
	return ok(out)
}

// getJobRights says what jobs may do with GITHUB_TOKEN.
func (v *visit) getJobRights() reply {
	return ok(object{"default_workflow_permissions": "read", "can_approve_pull_request_reviews": !v.repo.NoActionsPulls})
}

// withHTML adds the text as people see it, if that was asked for.
func (v *visit) withHTML(o object, text string) object {
	if v.html {
		o["body_html"] = v.Shown(text)
	}
	return o
}

func (v *visit) getIssue() reply { return ok(v.withHTML(v.repo.issueObject(v.issue), v.issue.Body)) }

func (v *visit) listIssues() reply {
	if v.repo.NoIssues {
		return issuesOff()
	}
	q := v.query
	wanted := cmp.Or(q.Get("state"), "open")
	var found []*Issue
	for _, is := range v.repo.issues {
		switch {
		case wanted != "all" && is.State != wanted, q.Get("creator") != "" && !strings.EqualFold(q.Get("creator"), is.Author), !v.since(is.Updated):
		case q.Get("labels") != "" && !hasAll(is.Labels, strings.Split(q.Get("labels"), ",")):
		default:
			found = append(found, is)
		}
	}
	by := func(is *Issue) time.Time { return is.Created }
	if q.Get("sort") == "updated" {
		by = func(is *Issue) time.Time { return is.Updated }
	}
	slices.SortFunc(found, func(a, b *Issue) int { return cmp.Or(by(b).Compare(by(a)), b.Number-a.Number) })
	if q.Get("direction") == "asc" {
		slices.Reverse(found)
	}
	return page(v, found, v.repo.issueObject)
}

func hasAll(have, want []string) bool {
	return !slices.ContainsFunc(want, func(w string) bool { return !slices.ContainsFunc(have, same(strings.TrimSpace(w))) })
}

// same compares labels, which differ in more than large and small letters.
func same(name string) func(string) bool {
	return func(other string) bool { return strings.EqualFold(name, other) }
}

func issuesOff() reply {
	return refuse(http.StatusGone, "Issues has been disabled in this repository.")
}

const (
	mostTitle = 256
	mostBody  = 65536
)

// tooLong refuses a text that is longer than GitHub keeps.
func tooLong(field, text string, most int) *reply {
	if len([]rune(text)) <= most {
		return nil
	}
	no := invalid("Issue", field, "custom", fmt.Sprintf("%s is too long (maximum is %d characters)", field, most))
	return &no
}

func (v *visit) createIssue() reply {
	title, body := v.text("title"), v.text("body")
	switch no := cmp.Or(tooLong("title", title, mostTitle), tooLong("body", body, mostBody)); {
	case v.repo.NoIssues:
		return issuesOff()
	case strings.TrimSpace(title) == "":
		return invalid("Issue", "title", "missing_field", "")
	case no != nil:
		return *no
	}
	is := &Issue{Title: title, Body: body, Author: v.login(), Updated: v.tick()}
	if v.has("triage") { // what others send is dropped without a word
		is.Labels = v.sentLabels()
	}
	v.repo.addIssue(is)
	return created(v.repo.issueObject(is))
}

// edited is the issue, or the pull request, with what was sent of the fields that both have.
func (v *visit) edited() Issue {
	is := *v.issue
	for name, to := range map[string]*string{"title": &is.Title, "body": &is.Body, "state": &is.State} {
		if text, sent := field[string](v, name); sent {
			*to = text
		}
	}
	return is
}

func (v *visit) editIssue() reply {
	if !v.has("triage") && !v.is(v.issue.Author) {
		return refuse(http.StatusForbidden, "Must have admin rights to Repository.")
	}
	next := v.edited()
	next.Reason = v.text("state_reason")
	if _, sent := field[[]any](v, "labels"); sent && v.has("triage") {
		next.Labels = v.sentLabels()
	}
	if no := tooLong("body", next.Body, mostBody); no != nil {
		return *no
	}
	next.Updated = v.tick()
	*v.issue = next
	return ok(v.repo.issueObject(v.issue))
}

// sentLabels are the labels that were sent, as names or as objects, each once.
func (v *visit) sentLabels() []string {
	sent, isList := v.input.([]any)
	if !isList {
		sent, _ = field[[]any](v, "labels")
	}
	var out []string
	for _, x := range sent {
		name, isName := x.(string)
		if o, isObject := x.(object); !isName && isObject {
			name, _ = o["name"].(string)
		}
		if name != "" && !slices.ContainsFunc(out, same(name)) {
			out = append(out, name)
		}
	}
	return out
}

func (v *visit) listLabels() reply {
	return page(v, v.repo.labelObjects(v.issue.Labels), func(l object) object { return l })
}

func (v *visit) addLabels() reply {
	for _, name := range v.sentLabels() {
		if !slices.ContainsFunc(v.issue.Labels, same(name)) {
			v.issue.Labels = append(v.issue.Labels, name)
		}
	}
	v.issue.Updated = v.tick()
	return ok(v.repo.labelObjects(v.issue.Labels))
}

func (v *visit) removeLabel() reply {
	i := slices.IndexFunc(v.issue.Labels, same(v.params["name"]))
	if i < 0 {
		return refuse(http.StatusNotFound, "Label does not exist")
	}
	v.issue.Labels = slices.Delete(v.issue.Labels, i, i+1)
	v.issue.Updated = v.tick()
	return ok(v.repo.labelObjects(v.issue.Labels))
}

func (v *visit) listSubIssues() reply {
	return page(v, v.repo.children[v.issue.Number], func(id int64) object {
		repo, is := v.issueByID(id)
		return repo.issueObject(is)
	})
}

func (v *visit) addSubIssue() reply {
	sent, _ := field[float64](v, "sub_issue_id")
	id := int64(sent)
	_, child := v.issueByID(id)
	reason := func(message string) reply {
		return refuse(http.StatusUnprocessableEntity, "An error occurred while adding the sub-issue to the parent issue. "+message)
	}
	switch {
	case child == nil:
		return refuse(http.StatusNotFound, "The provided sub-issue does not exist")
	case id == v.issue.ID:
		return reason("Parent cannot be the same as the sub-issue")
	case slices.Contains(v.repo.children[v.issue.Number], id):
		return reason("Issue may not contain duplicate sub-issues and Sub issue may only have one parent")
	}
	for _, r := range v.repositories {
		for _, children := range r.children {
			if slices.Contains(children, id) {
				return reason("Sub issue may only have one parent")
			}
		}
	}
	v.repo.children[v.issue.Number] = append(v.repo.children[v.issue.Number], id)
	v.issue.Updated = v.tick()
	return created(v.repo.issueObject(v.issue))
}

func (v *visit) getComment() reply {
	return ok(v.withHTML(v.repo.commentObject(v.commented), v.commented.Body))
}

func (v *visit) listComments() reply {
	all := slices.DeleteFunc(v.repo.commentsOf(v.issue.Number), func(c *posted) bool { return !v.since(c.Updated) })
	return page(v, all, v.repo.commentObject)
}

// wrongBody refuses the text of a comment that GitHub does not take.
func (v *visit) wrongBody() *reply {
	body, said := v.text("body"), ""
	switch {
	case strings.TrimSpace(body) == "":
		said = "Body cannot be blank"
	case len([]rune(body)) > mostBody:
		said = "Body is too long (maximum is 65536 characters)"
	default:
		return nil
	}
	no := invalid("IssueComment", "data", "unprocessable", said)
	return &no
}

// locked refuses what only people with a right to write may add. An app is
// none of them.
func (v *visit) locked(what string) *reply {
	if !v.issue.Locked || !v.token.installation && v.has("write") {
		return nil
	}
	no := refuse(http.StatusForbidden, "Unable to create "+what+" because issue is locked.")
	return &no
}

func (v *visit) createComment() reply {
	if no := cmp.Or(v.locked("comment"), v.wrongBody()); no != nil {
		return *no
	}
	return created(v.repo.commentObject(v.repo.addComment(v.issue, Comment{Author: v.login(), Body: v.text("body")})))
}

// mayChange refuses to change a comment of somebody else.
func (v *visit) mayChange() *reply {
	if v.has("write") || v.is(v.commented.Author) {
		return nil
	}
	no := refuse(http.StatusForbidden, "Must have admin rights to Repository.")
	return &no
}

func (v *visit) editComment() reply {
	if no := cmp.Or(v.mayChange(), v.wrongBody()); no != nil {
		return *no
	}
	v.commented.Body, v.commented.Updated = v.text("body"), v.tick()
	return ok(v.repo.commentObject(v.commented))
}

func (v *visit) deleteComment() reply {
	if no := v.mayChange(); no != nil {
		return *no
	}
	v.repo.deleteComment(v.commented.ID)
	return nothing()
}

// subject is what the path of a request names.
func (v *visit) subject() subject {
	if v.commented != nil {
		return subject{comment: v.commented.ID}
	}
	return subject{issue: v.issue.Number}
}

func (v *visit) listReactions() reply {
	all := slices.Clone(v.repo.reactions[v.subject()])
	if content := v.query.Get("content"); content != "" {
		all = slices.DeleteFunc(all, func(r *Reaction) bool { return r.Content != content })
	}
	return page(v, all, v.reactionObject)
}

func (v *visit) createReaction() reply {
	if no := v.locked("reaction"); no != nil {
		return *no
	}
	r, fresh := v.repo.react(v.subject(), v.login(), v.text("content"))
	if !fresh {
		return ok(v.reactionObject(r))
	}
	return created(v.reactionObject(r))
}

func (v *visit) deleteReaction() reply {
	to, id := v.subject(), v.number("reaction_id")
	i := slices.IndexFunc(v.repo.reactions[to], func(r *Reaction) bool { return r.ID == id })
	switch {
	case i < 0:
		return notFound()
	case !v.is(v.repo.reactions[to][i].Author):
		return refuse(http.StatusForbidden, "Must be the author of the reaction.")
	}
	v.repo.reactions[to] = slices.Delete(v.repo.reactions[to], i, i+1)
	return nothing()
}

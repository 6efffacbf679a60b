package github

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Objects are what GitHub sends, as far as a test or a client looks at it. What has to be in
// an answer besides is added when it is written; see description.complete.

// stamp is a time as GitHub writes it.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// orNull is a text as GitHub sends it: an empty one is null.
func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// user is an account, deleted or not.
func (s *Server) user(login string) object {
	a, id := s.account(login), UserID(login)
	return object{"login": a.login, "id": id, "node_id": nodeID("U", id), "html_url": web + "/" + a.login, "type": a.kind}
}

// author is an account that wrote something; nil if it is deleted.
func (s *Server) author(login string) any {
	if s.account(login).deleted {
		return nil
	}
	return s.user(login)
}

// via is the app through which a bot writes; null for people.
func (s *Server) via(login string) any {
	if login != "github-actions[bot]" {
		return nil
	}
	return object{
		"id": 15368, "client_id": "Iv1.05c79e9ad1f6bdfa", "slug": "github-actions", "owner": s.user("github"), "name": "GitHub Actions",
		"html_url": web + "/apps/github-actions", "permissions": object{"issues": "write", "contents": "write", "metadata": "read"},
	}
}

// permissions are what a role lets somebody do.
func permissions(r role) object {
	return object{"pull": r.atLeast("read"), "triage": r.atLeast("triage"), "push": r.atLeast("write"), "maintain": r.atLeast("maintain"), "admin": r.atLeast("admin")}
}

// issueObject is an issue, or a pull request as one.
func (r *repository) issueObject(is *Issue) object {
	node, place := "I", "issues"
	if is.Pull {
		node, place = "PR", "pull"
	}
	self := fmt.Sprintf("%s/issues/%d", r.api(), is.Number)
	total, done := len(r.children[is.Number]), 0
	for _, id := range r.children[is.Number] {
		if _, child := r.server.issueByID(id); child.State == "closed" {
			done++
		}
	}
	out := object{
		"id": is.ID, "node_id": nodeID(node, is.ID), "number": is.Number, "title": is.Title, "body": orNull(is.Body), "user": r.server.author(is.Author),
		"state": is.State, "state_reason": nil, "locked": is.Locked, "active_lock_reason": nil, "assignees": []any{}, "labels": r.labelObjects(is.Labels),
		"comments": len(r.commentsOf(is.Number)), "author_association": r.association(is.Author), "created_at": stamp(is.Created), "updated_at": stamp(is.Updated),
		"url": self, "html_url": fmt.Sprintf("%s/%s/%d", r.web(), place, is.Number), "repository_url": r.api(), "comments_url": self + "/comments",
		"timeline_url": self + "/timeline", "reactions": r.rollup(self, subject{issue: is.Number}), "performed_via_github_app": r.server.via(is.Author),
		"issue_dependencies_summary": object{"blocked_by": is.Blocked, "total_blocked_by": is.Blocked, "blocking": 0, "total_blocking": 0},
		"sub_issues_summary":         object{"total": total, "completed": done, "percent_completed": done * 100 / max(total, 1)},
	}
	if is.Type != "" {
		out["type"] = object{"name": is.Type}
	}
	if is.State == "closed" {
		out["state_reason"], out["closed_at"], out["closed_by"] = cmp.Or(is.Reason, "completed"), stamp(is.Updated), r.server.user(r.owner)
	}
	if p := r.pulls[is.Number]; is.Pull && p != nil {
		out["draft"] = p.Draft
		merged := any(nil)
		if p.Merged {
			merged = stamp(is.Updated)
		}
		out["pull_request"] = object{"url": fmt.Sprintf("%s/pulls/%d", r.api(), is.Number), "html_url": out["html_url"], "merged_at": merged}
	}
	return out
}

// labelObjects are labels of a repository, by their names.
func (r *repository) labelObjects(names []string) []object {
	out := []object{}
	for _, name := range names {
		id := UserID(name) // a label needs a number, too
		out = append(out, object{"id": id, "node_id": nodeID("LA", id), "name": name, "color": "d73a4a", "description": ""})
	}
	return out
}

func (r *repository) commentObject(c *posted) object {
	place := "issues"
	if is := r.issues[c.issue]; is != nil && is.Pull {
		place = "pull"
	}
	self := fmt.Sprintf("%s/issues/comments/%d", r.api(), c.ID)
	return object{
		"id": c.ID, "node_id": nodeID("IC", c.ID), "url": self, "html_url": fmt.Sprintf("%s/%s/%d#issuecomment-%d", r.web(), place, c.issue, c.ID),
		"issue_url": fmt.Sprintf("%s/issues/%d", r.api(), c.issue), "user": r.server.author(c.Author), "body": c.Body, "author_association": r.association(c.Author),
		"created_at": stamp(c.Created), "updated_at": stamp(c.Updated), "reactions": r.rollup(self, subject{comment: c.ID}),
		"performed_via_github_app": r.server.via(c.Author),
	}
}

// rollup counts the reactions to something.
func (r *repository) rollup(self string, to subject) object {
	out := object{"url": self + "/reactions", "total_count": len(r.reactions[to])}
	for _, x := range r.reactions[to] {
		n, _ := out[x.Content].(int)
		out[x.Content] = n + 1
	}
	return out
}

func (s *Server) reactionObject(r *Reaction) object {
	return object{"id": r.ID, "node_id": nodeID("REA", r.ID), "user": s.author(r.Author), "content": r.Content, "created_at": stamp(r.Created)}
}

// pullObject is a pull request, without what stands only in the answer about one of them.
func (r *repository) pullObject(p *Pull) object {
	is, page := r.issues[p.Number], fmt.Sprintf("%s/pull/%d", r.web(), p.Number)
	out := object{
		"id": p.ID, "node_id": p.NodeID(), "url": fmt.Sprintf("%s/pulls/%d", r.api(), p.Number), "html_url": page, "number": p.Number, "state": is.State,
		"issue_url": fmt.Sprintf("%s/issues/%d", r.api(), p.Number), "locked": is.Locked, "title": is.Title, "body": orNull(is.Body),
		"user": r.server.user(is.Author), "labels": r.labelObjects(is.Labels), "created_at": stamp(is.Created), "updated_at": stamp(is.Updated),
		"draft": p.Draft, "assignees": []any{}, "requested_reviewers": []any{}, "requested_teams": []any{}, "author_association": r.association(is.Author),
		"head": r.server.find(p.HeadRepository).side(p.Head), "base": r.side(p.Base),
	}
	if is.State == "closed" {
		out["closed_at"] = stamp(is.Updated)
	}
	if p.Merged {
		out["merged_at"], out["merge_commit_sha"] = stamp(is.Updated), r.side(p.Base)["sha"]
	}
	return out
}

// wholePull is a pull request that was asked for alone.
func (r *repository) wholePull(p *Pull) object {
	out := r.pullObject(p)
	out["merged"], out["mergeable"], out["mergeable_state"] = p.Merged, true, "clean"
	if p.Merged {
		out["merged_by"] = r.server.user(r.owner)
	}
	return out
}

// side is one of the two branches of a pull request.
func (r *repository) side(branch string) object {
	return object{
		"label": r.owner + ":" + branch, "ref": branch, "sha": cmp.Or(r.head(branch), "0000000000000000000000000000000000000000"),
		"user": r.server.user(r.owner), "repo": r.object(),
	}
}

// event is what GitHub sends when somebody has caused an event: these parts, and what stands
// in all of them. The parts of some kinds are completed.
func (r *repository) event(sender string, parts object) []byte {
	d, s := r.server.described, r.server
	repo := d.completed("full-repository", r.object())
	for _, name := range []string{"has_downloads", "is_template", "web_commit_signoff_required", "allow_forking"} {
		repo[name] = false
	}
	repo["custom_properties"], repo["topics"] = object{}, []any{}
	out := object{"repository": repo, "sender": d.completed("simple-user", s.user(sender))}
	if s.account(r.owner).kind == "Organization" {
		out["organization"] = organization(s.URL, r.owner)
	}
	for name, schema := range map[string]string{"issue": "issue", "comment": "issue-comment", "label": "label"} {
		if part, is := parts[name].(object); is && part["diff_hunk"] == nil {
			parts[name] = d.completed(schema, part)
		}
	}
	maps.Copy(out, parts)
	data, err := json.Marshal(out)
	if err != nil {
		s.host.Errorf("githubtest: encode a payload: %v", err)
	}
	return data
}

func organization(url, login string) object {
	out, id := object{"login": login, "id": UserID(login), "node_id": nodeID("O", UserID(login)), "description": nil}, url+"/orgs/"+login
	for _, name := range []string{"url", "repos_url", "events_url", "hooks_url", "issues_url", "members_url", "public_members_url", "avatar_url"} {
		out[name] = id
	}
	return out
}

// CommentPayload is what GitHub sends when a comment is created, edited or
// deleted: the event issue_comment. The sender is who wrote the comment,
// unless another one is named.
func (s *Server) CommentPayload(repo string, id int64, action, sender string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	c, r := s.comment(repo, id), s.repository(repo)
	if c == nil {
		return nil
	}
	out := object{"action": action, "issue": r.issueObject(r.issues[c.issue]), "comment": r.commentObject(c)}
	if action == "edited" {
		out["changes"] = object{"body": object{"from": "what it was before"}}
	}
	return r.event(cmp.Or(sender, c.Author), out)
}

// LabelPayload is what GitHub sends when somebody adds a label to an issue:
// the event issues, labeled. The label is on the issue if it was added there
// before.
func (s *Server) LabelPayload(repo string, number int, label, sender string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.repository(repo)
	return r.event(sender, object{"action": "labeled", "issue": r.issueObject(s.thread(repo, number)), "label": r.labelObjects([]string{label})[0]})
}

// IssuePayload is what GitHub sends when something else happens to an issue,
// such as opened or closed: the event issues.
func (s *Server) IssuePayload(repo string, number int, action, sender string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.repository(repo)
	return r.event(sender, object{"action": action, "issue": r.issueObject(s.thread(repo, number))})
}

// WorkflowPayload is what GitHub sends when somebody starts a workflow by
// hand: the event workflow_dispatch. The workflow is the path of its file.
// Without inputs they are null.
func (s *Server) WorkflowPayload(repo, workflow, sender string, inputs map[string]string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.repository(repo)
	out := object{"ref": "refs/heads/" + r.DefaultBranch, "workflow": workflow, "inputs": nil}
	if inputs != nil {
		out["inputs"] = inputs
	}
	return r.event(sender, out)
}

// DispatchPayload is what GitHub sends when a program starts workflows: the
// event repository_dispatch. GitHub calls its type the action.
func (s *Server) DispatchPayload(repo, kind, sender string, payload map[string]any) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.repository(repo)
	out := object{"action": kind, "branch": r.DefaultBranch, "client_payload": nil, "installation": object{"id": 1, "node_id": nodeID("II", 1)}}
	if payload != nil {
		out["client_payload"] = payload
	}
	return r.event(sender, out)
}

// Run is one run of a workflow.
type Run struct {
	ID         int64
	Attempt    int    // 0: 1
	Status     string // queued, in_progress, completed; empty: in_progress
	Conclusion string // success, failure, cancelled; empty: none yet
	Branch     string // empty: the default branch
	Event      string // empty: issue_comment
	Name, Path string // of the workflow; empty: those of reprise
	Commit     string // empty: that of the branch
	Jobs       []Job  // of the newest attempt

	at time.Time
}

// Job is a job of a run.
type Job struct {
	Name   string // empty: run
	Runner string // the name of its machine; empty: it has none yet
	Status string // queued, in_progress, completed; empty: in_progress
}

// Dispatch is a wish to start workflows.
type Dispatch struct {
	Workflow string         // of workflow_dispatch: the name of its file, or its id
	Ref      string         // of workflow_dispatch
	Inputs   map[string]any // of workflow_dispatch, or the payload of repository_dispatch
	Type     string         // of repository_dispatch
	By       string
}

// AddRun adds a run, or replaces the one with its id.
func (s *Server) AddRun(repo string, run Run) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.repository(repo)
	run.Attempt, run.Status = max(run.Attempt, 1), cmp.Or(run.Status, "in_progress")
	run.Branch, run.Event = cmp.Or(run.Branch, r.DefaultBranch), cmp.Or(run.Event, "issue_comment")
	run.at = s.now()
	if was := r.runs[run.ID]; was != nil {
		run.at = was.at
	}
	r.runs[run.ID] = &run
}

// Dispatches are the wishes that were taken, in order.
func (s *Server) Dispatches(repo string) []Dispatch {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.repository(repo).dispatches)
}

func (r *repository) runObject(run *Run) object {
	name := cmp.Or(run.Name, "reprise")
	return object{
		"id": run.ID, "name": name, "node_id": nodeID("WFR", run.ID), "check_suite_id": run.ID, "head_branch": run.Branch, "created_at": stamp(run.at),
		"head_sha": cmp.Or(run.Commit, r.head(run.Branch)), "path": cmp.Or(run.Path, ".github/workflows/reprise.yml"), "run_attempt": run.Attempt,
		"event": run.Event, "display_title": name, "status": run.Status, "conclusion": orNull(run.Conclusion), "pull_requests": []any{},
		"html_url": fmt.Sprintf("%s/actions/runs/%d", r.web(), run.ID), "repository": r.object(), "head_repository": r.object(),
	}
}

func (r *repository) jobObject(run *Run, j Job) object {
	id := run.ID*100 + int64(slices.Index(run.Jobs, j))
	out := object{
		"id": id, "run_id": run.ID, "run_attempt": run.Attempt, "head_sha": r.head(run.Branch), "name": cmp.Or(j.Name, "run"),
		"html_url": fmt.Sprintf("%s/actions/runs/%d/job/%d", r.web(), run.ID, id), "status": cmp.Or(j.Status, "in_progress"), "conclusion": nil,
		"runner_name": orNull(j.Runner),
	}
	if j.Status == "completed" {
		out["conclusion"] = "success"
	}
	return out
}

// page answers with one page of a list, and says where the others are.
func page[T any](v *visit, all []T, show func(T) object) reply {
	size, n := min(positive(v.query.Get("per_page"), 30), 100), positive(v.query.Get("page"), 1)
	last := max((len(all)+size-1)/size, 1)
	out := []any{}
	for _, x := range all[min((n-1)*size, len(all)):min(n*size, len(all))] {
		out = append(out, show(x))
	}
	var links []string
	link := func(to int, rel string) {
		q := maps.Clone(v.query)
		q.Set("page", strconv.Itoa(to))
		links = append(links, fmt.Sprintf(`<%s%s?%s>; rel="%s"`, v.URL, v.path, q.Encode(), rel))
	}
	if n > 1 {
		link(min(n-1, last), "prev")
		link(1, "first")
	}
	if n < last {
		link(n+1, "next")
		link(last, "last")
	}
	r := ok(out)
	if len(links) > 0 {
		r.header = map[string]string{"Link": strings.Join(links, ", ")}
	}
	return r
}

// pageAs is a page that is in an object under a name, beside how long the list is.
func pageAs[T any](v *visit, name string, all []T, show func(T) object) reply {
	r := page(v, all, show)
	r.value = object{name: r.value, "total_count": len(all)}
	return r
}

func positive(s string, otherwise int) int {
	if n, err := strconv.Atoi(s); err == nil && n > 0 {
		return n
	}
	return otherwise
}

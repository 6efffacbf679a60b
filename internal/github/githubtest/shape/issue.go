package shape

import (
	"cmp"

	"github.com/reprise-ci/reprise/internal/github/githubtest/state"
)

// Issue is an issue as GitHub sends it.
func (o Objects) Issue(repo *state.Repository, is *state.Issue) object {
	api, web := o.apiOf(repo), o.WebOf(repo)
	self := At(api, "issues", is.Number)
	kind, place := "I", "issues"
	if is.Pull {
		kind, place = "PR", "pull"
	}
	out := object{
		"id": is.ID, "node_id": state.Node(kind, is.ID), "number": is.Number, "title": is.Title, "body": orNull(is.Body), "user": o.User(is.Author),
		"state": is.State, "state_reason": nil, "locked": is.Locked, "active_lock_reason": nil, "labels": o.Labels(repo, is.Labels),
		"assignee": nil, "assignees": []any{}, "milestone": nil, "comments": len(repo.Comments.Of(is.Number)), "author_association": repo.Association(is.Author),
		"created_at": stamp(is.Created), "updated_at": stamp(is.Updated), "closed_at": nil, "closed_by": nil,
		"url": self, "html_url": At(web, place, is.Number), "repository_url": api,
		"labels_url": self + "/labels{/name}", "comments_url": self + "/comments", "events_url": self + "/events", "timeline_url": self + "/timeline",
		"reactions": rollup(repo, self, state.Subject{Issue: is.Number}), "performed_via_github_app": o.via(is.Author),
		"sub_issues_summary": o.subIssues(repo.Children[is.Number]),
	}
	if is.Type != "" {
		out["type"] = object{"id": 1, "node_id": state.Node("IT", 1), "name": is.Type, "description": nil, "color": "red"}
	}
	if is.State == "closed" {
		out["state_reason"], out["closed_at"], out["closed_by"] = cmp.Or(is.Reason, "completed"), stamp(is.Updated), o.User(repo.Owner)
	}
	if is.Pull {
		pull, merged := At(web, "pull", is.Number), any(nil)
		out["draft"] = false
		if p := repo.Pulls[is.Number]; p != nil {
			out["draft"] = p.Draft
			if p.Merged {
				merged = stamp(is.Updated)
			}
		}
		out["pull_request"] = object{
			"url": At(api, "pulls", is.Number), "html_url": pull, "diff_url": pull + ".diff", "patch_url": pull + ".patch", "merged_at": merged,
		}
	}
	return out
}

// subIssues says how far the issues below an issue are.
func (o Objects) subIssues(children []int64) object {
	total, done := len(children), 0
	for _, id := range children {
		if _, is := o.State.IssueByID(id); is.State == "closed" {
			done++
		}
	}
	return object{"total": total, "completed": done, "percent_completed": done * 100 / max(total, 1)}
}

// Labels are labels of a repository, by their names.
func (o Objects) Labels(repo *state.Repository, names []string) []any {
	out := []any{}
	for _, name := range names {
		id := state.UserID(name) // a label needs a number, too
		out = append(out, object{
			"id": id, "node_id": state.Node("LA", id), "url": At(o.apiOf(repo), "labels", name), "name": name, "color": "d73a4a", "default": false, "description": "",
		})
	}
	return out
}

// Comment is a comment as GitHub sends it.
func (o Objects) Comment(r *state.Repository, c *state.Posted) object {
	self, place := At(o.apiOf(r), "issues/comments", c.ID), "issues"
	if is := r.Issues[c.Issue]; is != nil && is.Pull {
		place = "pull"
	}
	return object{
		"id": c.ID, "node_id": state.Node("IC", c.ID), "url": self, "html_url": At(o.WebOf(r), place, c.Issue) + "#issuecomment-" + text(c.ID),
		"issue_url": At(o.apiOf(r), "issues", c.Issue), "user": o.User(c.Author), "body": c.Body, "author_association": r.Association(c.Author),
		"created_at": stamp(c.Created), "updated_at": stamp(c.Updated), "reactions": rollup(r, self, state.Subject{Comment: c.ID}),
		"performed_via_github_app": o.via(c.Author),
	}
}

// Reaction is a reaction as GitHub sends it.
func (o Objects) Reaction(r *state.Reaction) any {
	return object{"id": r.ID, "node_id": state.Node("REA", r.ID), "user": o.User(r.Author), "content": r.Content, "created_at": stamp(r.Created)}
}

// rollup counts the reactions to something.
func rollup(r *state.Repository, self string, to state.Subject) object {
	all := r.Reactions[to]
	out := object{"url": self + "/reactions", "total_count": len(all)}
	for _, name := range []string{"+1", "-1", "laugh", "hooray", "confused", "heart", "rocket", "eyes"} {
		n := 0
		for _, x := range all {
			if x.Content == name {
				n++
			}
		}
		out[name] = n
	}
	return out
}

package shape

import (
	"cmp"

	"github.com/reprise-ci/reprise/internal/github/githubtest/state"
)

// Pull is a pull request as GitHub sends it: whole, or as in lists.
func (o Objects) Pull(r *state.Repository, p *state.Pull, whole bool) object {
	is := r.Issues[p.Number]
	api, page := o.apiOf(r), At(o.WebOf(r), "pull", p.Number)
	self, issue := At(api, "pulls", p.Number), At(api, "issues", p.Number)
	head, base := o.side(o.State.Find(p.HeadRepository), p.Head), o.side(r, p.Base)
	statuses := At(api, "statuses", head["sha"])
	out := object{
		"id": p.ID, "node_id": p.NodeID(), "url": self, "html_url": page, "diff_url": page + ".diff", "patch_url": page + ".patch",
		"issue_url": issue, "number": p.Number, "state": is.State, "locked": is.Locked, "title": is.Title, "user": o.simpleUser(is.Author),
		"body": orNull(is.Body), "labels": o.Labels(r, is.Labels), "milestone": nil, "active_lock_reason": nil, "created_at": stamp(is.Created),
		"updated_at": stamp(is.Updated), "closed_at": nil, "merged_at": nil, "merge_commit_sha": nil, "assignee": nil, "assignees": []any{},
		"requested_reviewers": []any{}, "requested_teams": []any{}, "draft": p.Draft, "commits_url": self + "/commits",
		"review_comments_url": self + "/comments", "review_comment_url": api + "/pulls/comments{/number}", "comments_url": issue + "/comments",
		"statuses_url": statuses, "head": head, "base": base, "author_association": r.Association(is.Author), "auto_merge": nil,
		"_links": object{
			"self": link(self), "html": link(page), "issue": link(issue), "comments": link(issue + "/comments"), "review_comments": link(self + "/comments"),
			"review_comment": link(api + "/pulls/comments{/number}"), "commits": link(self + "/commits"), "statuses": link(statuses),
		},
	}
	if is.State == "closed" {
		out["closed_at"] = stamp(is.Updated)
	}
	if p.Merged {
		out["merged_at"], out["merge_commit_sha"] = stamp(is.Updated), base["sha"]
	}
	if whole {
		o.addSizes(out, r, p)
	}
	return out
}

// addSizes adds what stands only in the answer about one pull request.
func (o Objects) addSizes(out object, r *state.Repository, p *state.Pull) {
	for _, name := range []string{"comments", "review_comments"} {
		out[name] = 0
	}
	for _, name := range []string{"commits", "additions", "deletions", "changed_files"} {
		out[name] = 1
	}
	out["merged"], out["mergeable"], out["rebaseable"], out["mergeable_state"] = p.Merged, true, true, "clean"
	out["merged_by"], out["maintainer_can_modify"] = nil, false
	if p.Merged {
		out["merged_by"] = o.simpleUser(r.Owner)
	}
}

// side is one of the two branches of a pull request.
func (o Objects) side(r *state.Repository, branch string) object {
	return object{
		"label": r.Owner + ":" + branch, "ref": branch, "sha": cmp.Or(r.Head(branch), "0000000000000000000000000000000000000000"),
		"user": o.simpleUser(r.Owner), "repo": o.Repository(r),
	}
}

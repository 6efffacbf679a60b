package githubtest

import "cmp"

// pullObject is a pull request as GitHub sends it: whole, or as in lists.
func (s *Server) pullObject(r *repository, p *Pull, whole bool) object {
	is := r.issues[p.Number]
	api, page := s.apiOf(r), at(s.webOf(r), "pull", p.Number)
	self, issue := at(api, "pulls", p.Number), at(api, "issues", p.Number)
	head, base := s.side(s.repository(p.HeadRepository), p.Head), s.side(r, p.Base)
	statuses := at(api, "statuses", head["sha"])
	out := object{
		"id": p.ID, "node_id": p.NodeID(), "url": self, "html_url": page, "diff_url": page + ".diff", "patch_url": page + ".patch",
		"issue_url": issue, "number": p.Number, "state": is.State, "locked": is.Locked, "title": is.Title, "user": s.simpleUser(is.Author),
		"body": orNull(is.Body), "labels": s.labelObjects(r, is.Labels), "milestone": nil, "active_lock_reason": nil, "created_at": stamp(is.Created),
		"updated_at": stamp(is.Updated), "closed_at": nil, "merged_at": nil, "merge_commit_sha": nil, "assignee": nil, "assignees": []any{},
		"requested_reviewers": []any{}, "requested_teams": []any{}, "draft": p.Draft, "commits_url": self + "/commits",
		"review_comments_url": self + "/comments", "review_comment_url": api + "/pulls/comments{/number}", "comments_url": issue + "/comments",
		"statuses_url": statuses, "head": head, "base": base, "author_association": r.association(is.Author), "auto_merge": nil,
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
		s.addSizes(out, r, p)
	}
	return out
}

// addSizes adds what stands only in the answer about one pull request.
func (s *Server) addSizes(out object, r *repository, p *Pull) {
	for _, name := range []string{"comments", "review_comments"} {
		out[name] = 0
	}
	for _, name := range []string{"commits", "additions", "deletions", "changed_files"} {
		out[name] = 1
	}
	out["merged"], out["mergeable"], out["rebaseable"], out["mergeable_state"] = p.Merged, true, true, "clean"
	out["merged_by"], out["maintainer_can_modify"] = nil, false
	if p.Merged {
		out["merged_by"] = s.simpleUser(r.owner)
	}
}

// side is one of the two branches of a pull request.
func (s *Server) side(r *repository, branch string) object {
	return object{
		"label": r.owner + ":" + branch, "ref": branch, "sha": cmp.Or(s.sha(r, branch), "0000000000000000000000000000000000000000"),
		"user": s.simpleUser(r.owner), "repo": s.repositoryObject(r),
	}
}

func link(to string) object { return object{"href": to} }

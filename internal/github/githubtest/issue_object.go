package githubtest

import "cmp"

// issueObject is an issue as GitHub sends it.
func (s *Server) issueObject(repo *repository, is *Issue) object {
	api, web := s.apiOf(repo), s.webOf(repo)
	self := at(api, "issues", is.Number)
	kind, place := "I", "issues"
	if is.Pull {
		kind, place = "PR", "pull"
	}
	comments := 0
	for _, c := range repo.comments {
		if c.issue == is.Number {
			comments++
		}
	}
	out := object{
		"id": is.ID, "node_id": node(kind, is.ID), "number": is.Number, "title": is.Title, "body": orNull(is.Body), "user": s.user(is.Author),
		"state": is.State, "state_reason": nil, "locked": is.Locked, "active_lock_reason": nil, "labels": s.labelObjects(repo, is.Labels),
		"assignee": nil, "assignees": []any{}, "milestone": nil, "comments": comments, "author_association": repo.association(is.Author),
		"created_at": stamp(is.Created), "updated_at": stamp(is.Updated), "closed_at": nil, "closed_by": nil,
		"url": self, "html_url": at(web, place, is.Number), "repository_url": api,
		"labels_url": self + "/labels{/name}", "comments_url": self + "/comments", "events_url": self + "/events", "timeline_url": self + "/timeline",
		"reactions": repo.reactions.rollup(self, subject{issue: is.Number}), "performed_via_github_app": s.via(is.Author),
		"sub_issues_summary": repo.subIssuesSummary(s, is.Number),
	}
	if is.Type != "" {
		out["type"] = object{"id": 1, "node_id": node("IT", 1), "name": is.Type, "description": nil, "color": "red"}
	}
	if is.State == "closed" {
		out["state_reason"], out["closed_at"], out["closed_by"] = cmp.Or(is.Reason, "completed"), stamp(is.Updated), s.user(repo.owner)
	}
	if is.Pull {
		pull, merged := at(web, "pull", is.Number), any(nil)
		out["draft"] = false
		if p := repo.pulls[is.Number]; p != nil {
			out["draft"] = p.Draft
			if p.Merged {
				merged = stamp(is.Updated)
			}
		}
		out["pull_request"] = object{
			"url": at(api, "pulls", is.Number), "html_url": pull, "diff_url": pull + ".diff", "patch_url": pull + ".patch", "merged_at": merged,
		}
	}
	return out
}

// orNull is a text as GitHub sends it: an empty one is null.
func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

// via is the app through which a bot writes; null for people.
func (s *Server) via(login string) any {
	if login != "github-actions[bot]" {
		return nil
	}
	return object{
		"id": 15368, "client_id": "Iv1.05c79e9ad1f6bdfa", "slug": "github-actions", "node_id": node("A", 15368), "owner": s.simpleUser("github"),
		"name": "GitHub Actions", "description": "Automate your workflow from idea to production", "external_url": "https://help.github.com/en/actions",
		"html_url": s.web + "/apps/github-actions", "created_at": "2018-07-30T09:30:17Z", "updated_at": "2024-04-10T20:33:16Z",
		"permissions": object{"issues": "write", "contents": "write", "metadata": "read"}, "events": []any{"workflow_dispatch", "repository_dispatch"},
	}
}

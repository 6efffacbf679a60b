package shape

import (
	"strings"

	"github.com/reprise-ci/reprise/internal/github/githubtest/state"
)

// apiOf is the address of a repository for programs.
func (o Objects) apiOf(r *state.Repository) string { return o.API + "/repos/" + r.FullName() }

// WebOf is its address for people.
func (o Objects) WebOf(r *state.Repository) string { return o.Web + "/" + r.FullName() }

// Repository is a repository as it stands in other objects.
func (o Objects) Repository(r *state.Repository) object {
	web, at, open := o.WebOf(r), stamp(o.State.Time()), 0
	for _, is := range r.Issues {
		if is.State == "open" {
			open++
		}
	}
	visibility := "public"
	if r.Private {
		visibility = "private"
	}
	out := object{
		"id": r.ID, "node_id": state.Node("R", r.ID), "name": r.Name, "full_name": r.FullName(), "private": r.Private, "owner": o.simpleUser(r.Owner),
		"html_url": web, "description": nil, "fork": r.Fork, "homepage": nil, "language": nil, "license": nil, "mirror_url": nil,
		"git_url": strings.Replace(web, "https:", "git:", 1) + ".git", "ssh_url": "git@github.com:" + r.FullName() + ".git", "clone_url": web + ".git", "svn_url": web,
		"created_at": at, "updated_at": at, "pushed_at": at, "size": 1, "stargazers_count": 0, "watchers_count": 0, "forks_count": 0, "forks": 0, "watchers": 0,
		"open_issues": open, "open_issues_count": open, "has_issues": !r.NoIssues, "has_projects": true, "has_downloads": true, "has_wiki": true,
		"has_pages": false, "has_discussions": false, "archived": r.Archived, "disabled": false, "allow_forking": true, "is_template": false,
		"web_commit_signoff_required": false, "topics": []any{}, "visibility": visibility, "default_branch": r.DefaultBranch,
	}
	addAddresses(out, o.apiOf(r))
	return out
}

// addAddresses adds where the parts of a repository are found.
func addAddresses(out object, api string) {
	out["url"] = api
	for name, rest := range map[string]string{
		"archive": "/{archive_format}{/ref}", "assignees": "/assignees{/user}", "blobs": "/git/blobs{/sha}", "branches": "/branches{/branch}",
		"collaborators": "/collaborators{/collaborator}", "comments": "/comments{/number}", "commits": "/commits{/sha}",
		"compare": "/compare/{base}...{head}", "contents": "/contents/{+path}", "contributors": "/contributors", "deployments": "/deployments",
		"downloads": "/downloads", "events": "/events", "forks": "/forks", "git_commits": "/git/commits{/sha}", "git_refs": "/git/refs{/sha}",
		"git_tags": "/git/tags{/sha}", "hooks": "/hooks", "issue_comment": "/issues/comments{/number}", "issue_events": "/issues/events{/number}",
		"issues": "/issues{/number}", "keys": "/keys{/key_id}", "labels": "/labels{/name}", "languages": "/languages", "merges": "/merges",
		"milestones": "/milestones{/number}", "notifications": "/notifications{?since,all,participating}", "pulls": "/pulls{/number}",
		"releases": "/releases{/id}", "stargazers": "/stargazers", "statuses": "/statuses/{sha}", "subscribers": "/subscribers",
		"subscription": "/subscription", "tags": "/tags", "teams": "/teams", "trees": "/git/trees{/sha}",
	} {
		out[name+"_url"] = api + rest
	}
}

package shape

import "github.com/reprise-ci/reprise/internal/github/githubtest/state"

// User is an account as it stands in other objects; nil if it is deleted.
func (o Objects) User(login string) any {
	if o.State.Accounts.Of(login).Deleted {
		return nil
	}
	return o.simpleUser(login)
}

// simpleUser is an account, deleted or not.
func (o Objects) simpleUser(login string) object {
	a := o.State.Accounts.Of(login)
	api, id := o.API+"/users/"+a.Login, state.UserID(login)
	return object{
		"login": a.Login, "id": id, "node_id": state.Node("U", id), "avatar_url": "https://avatars.githubusercontent.com/u/1?v=4", "gravatar_id": "",
		"url": api, "html_url": o.Web + "/" + a.Login, "followers_url": api + "/followers", "following_url": api + "/following{/other_user}",
		"gists_url": api + "/gists{/gist_id}", "starred_url": api + "/starred{/owner}{/repo}", "subscriptions_url": api + "/subscriptions",
		"organizations_url": api + "/orgs", "repos_url": api + "/repos", "events_url": api + "/events{/privacy}",
		"received_events_url": api + "/received_events", "type": a.Kind, "user_view_type": "public", "site_admin": false,
	}
}

// Viewer is an account as it sees itself.
func (o Objects) Viewer(login string) object {
	user, now := o.simpleUser(login), stamp(o.State.Time())
	for _, name := range []string{"name", "company", "email", "hireable", "bio", "twitter_username"} {
		user[name] = nil
	}
	user["blog"], user["location"] = "", nil
	for _, name := range []string{"public_repos", "public_gists", "followers", "following"} {
		user[name] = 0
	}
	user["created_at"], user["updated_at"] = now, now
	return user
}

// Permission is what somebody may do in a repository. GitHub knows four permissions and
// more roles; only the role tells triage and maintain apart.
func (o Objects) Permission(login string, has state.Role) object {
	permission := has.Base
	switch has.Base {
	case "triage":
		permission = "read"
	case "maintain":
		permission = "write"
	}
	user := o.simpleUser(login)
	user["permissions"], user["role_name"] = Permissions(has), has.Name
	return object{"permission": permission, "role_name": has.Name, "user": user}
}

// Permissions are what a role lets somebody do.
func Permissions(r state.Role) object {
	return object{"pull": r.AtLeast("read"), "triage": r.AtLeast("triage"), "push": r.AtLeast("write"), "maintain": r.AtLeast("maintain"), "admin": r.AtLeast("admin")}
}

// via is the app through which a bot writes; null for people.
func (o Objects) via(login string) any {
	if login != "github-actions[bot]" {
		return nil
	}
	return object{
		"id": 15368, "client_id": "Iv1.05c79e9ad1f6bdfa", "slug": "github-actions", "node_id": state.Node("A", 15368), "owner": o.simpleUser("github"),
		"name": "GitHub Actions", "description": "Automate your workflow from idea to production", "external_url": "https://help.github.com/en/actions",
		"html_url": o.Web + "/apps/github-actions", "created_at": "2018-07-30T09:30:17Z", "updated_at": "2024-04-10T20:33:16Z",
		"permissions": object{"issues": "write", "contents": "write", "metadata": "read"}, "events": []any{"workflow_dispatch", "repository_dispatch"},
	}
}

func (o Objects) organization(login string) object {
	api, id := o.API+"/orgs/"+login, state.UserID(login)
	return object{
		"login": login, "id": id, "node_id": state.Node("O", id), "url": api, "repos_url": api + "/repos", "events_url": api + "/events",
		"hooks_url": api + "/hooks", "issues_url": api + "/issues", "members_url": api + "/members{/member}",
		"public_members_url": api + "/public_members{/member}", "avatar_url": "https://avatars.githubusercontent.com/u/1?v=4", "description": nil,
	}
}

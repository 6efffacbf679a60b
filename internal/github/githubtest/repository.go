package githubtest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/github/githubtest/bare"
)

// repository has what people see under one owner/name.
type repository struct {
	Settings
	owner, name string
	id          int64
	private     bool
	issues      map[int]*Issue
	gone        map[int]func(*visit) result // what is said of issues that are not there any more
	comments    comments
	reactions   reactions
	children    map[int][]int64 // ids of the sub-issues of an issue
	pulls       map[int]*Pull
	roles       map[string]role   // by login in small letters
	concealed   map[string]bool   // the same; called nobody in particular
	branches    map[string]string // commits by branch; not used with a bare repository
	bare        bare.Repository
	runs        map[int64]*Run
	dispatches  []Dispatch
}

// Settings are what the owner of a repository can choose.
type Settings struct {
	DefaultBranch  string // empty: main
	Fork           bool
	Archived       bool // it can be read only
	NoIssues       bool // issues are switched off
	NoDrafts       bool // pull requests cannot be drafts
	NoActionsPulls bool // jobs with GITHUB_TOKEN may not create pull requests
}

// AddRepository adds owner/name, or makes it private if it is there.
func (s *Server) AddRepository(name string, private bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.repository(name).private = private
}

// Configure sets the settings of owner/name, and adds it if it is not there.
func (s *Server) Configure(name string, settings Settings) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if settings.DefaultBranch == "" {
		settings.DefaultBranch = "main"
	}
	s.repository(name).Settings = settings
}

// repository finds owner/name, or adds it. The caller holds the lock.
func (s *Server) repository(fullName string) *repository {
	key := strings.ToLower(fullName)
	if r := s.repos[key]; r != nil {
		return r
	}
	owner, name, ok := strings.Cut(fullName, "/")
	if !ok {
		s.host.Helper()
		s.host.Errorf("githubtest: %q is not owner/name", fullName)
	}
	r := &repository{
		Settings: Settings{DefaultBranch: "main"}, owner: owner, name: name, id: s.id(), issues: map[int]*Issue{}, gone: map[int]func(*visit) result{},
		reactions: reactions{}, children: map[int][]int64{}, pulls: map[int]*Pull{}, branches: map[string]string{}, runs: map[int64]*Run{},
		roles: map[string]role{strings.ToLower(owner): {"admin", "admin"}}, concealed: map[string]bool{},
	}
	s.repos[key] = r
	return r
}

func (r *repository) fullName() string { return r.owner + "/" + r.name }

// deleteComment takes a comment away with what people thought of it.
func (r *repository) deleteComment(id int64) {
	r.comments = slices.DeleteFunc(r.comments, func(c *comment) bool { return c.ID == id })
	delete(r.reactions, subject{comment: id})
}

// apiOf and webOf give the addresses of a repository, for programs and for people.
func (s *Server) apiOf(r *repository) string { return s.URL + "/repos/" + r.fullName() }
func (s *Server) webOf(r *repository) string { return s.web + "/" + r.fullName() }

// repositoryHandler answers requests about repositories.
type repositoryHandler struct{ *visit }

func (h repositoryHandler) getRepository() result {
	out := h.repositoryObject(h.repo)
	out["network_count"], out["subscribers_count"] = 0, 1
	if h.token != nil && !h.token.installation {
		out["permissions"] = permissions(h.repo.roleOf(h.token.login))
	}
	return ok(out)
}

// repositoryObject is a repository as it stands in other objects.
func (s *Server) repositoryObject(r *repository) object {
	web, at, open := s.webOf(r), stamp(s.time()), 0
	for _, is := range r.issues {
		if is.State == "open" {
			open++
		}
	}
	visibility := "public"
	if r.private {
		visibility = "private"
	}
	out := object{
		"id": r.id, "node_id": node("R", r.id), "name": r.name, "full_name": r.fullName(), "private": r.private, "owner": s.simpleUser(r.owner),
		"html_url": web, "description": nil, "fork": r.Fork, "homepage": nil, "language": nil, "license": nil, "mirror_url": nil,
		"git_url": strings.Replace(web, "https:", "git:", 1) + ".git", "ssh_url": "git@github.com:" + r.fullName() + ".git", "clone_url": web + ".git", "svn_url": web,
		"created_at": at, "updated_at": at, "pushed_at": at, "size": 1, "stargazers_count": 0, "watchers_count": 0, "forks_count": 0, "forks": 0, "watchers": 0,
		"open_issues": open, "open_issues_count": open, "has_issues": !r.NoIssues, "has_projects": true, "has_downloads": true, "has_wiki": true,
		"has_pages": false, "has_discussions": false, "archived": r.Archived, "disabled": false, "allow_forking": true, "is_template": false,
		"web_commit_signoff_required": false, "topics": []any{}, "visibility": visibility, "default_branch": r.DefaultBranch,
	}
	s.addresses(out, s.apiOf(r))
	return out
}

// addresses adds where the parts of a repository are found.
func (s *Server) addresses(out object, api string) {
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

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func text(n int64) string { return strconv.FormatInt(n, 10) }

// at joins the parts of an address.
func at(base string, parts ...any) string {
	for _, p := range parts {
		base += "/" + fmt.Sprint(p)
	}
	return base
}

// getJobRights says what jobs may do with GITHUB_TOKEN.
func (h repositoryHandler) getJobRights() result {
	return ok(object{"default_workflow_permissions": "read", "can_approve_pull_request_reviews": !h.repo.NoActionsPulls})
}

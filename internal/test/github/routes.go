package github

import (
	"net/url"
	"strings"
)

// route is one operation of the API.
type route struct {
	method string
	path   string // as GitHub writes it, such as /repos/{owner}/{repo}
	// needs are the permissions that let a limited token in, as GitHub lists
	// them in a header; one of them is enough. Empty: none can be granted.
	needs string
	role  string // the least that a person needs; "": to see it; "anybody": to be somebody
	// content marks what GitHub counts as creating content.
	content bool
	do      func(*visit) reply
}

func (r *route) String() string { return r.method + " " + r.path }

// writes reports whether an operation changes something.
func (r *route) writes() bool { return r.method != "GET" && r.path != "/graphql" }

// Permissions as GitHub lists them.
const (
	metadataRead = "metadata=read"
	issuesRead   = "issues=read; pull_requests=read"
	issuesWrite  = "issues=write; pull_requests=write"
	pullsRead    = "pull_requests=read"
	pullsWrite   = "pull_requests=write"
	contentsRead = "contents=read"
)

const (
	inRepo    = "/repos/{owner}/{repo}"
	onComment = inRepo + "/issues/comments/{comment_id}"
	onIssue   = inRepo + "/issues/{issue_number}"
	onPull    = inRepo + "/pulls/{pull_number}"
)

// routes are all operations that there are. Those with more fixed words come
// first where two fit.
func routes() []route {
	return []route{
		{"GET", "/user", "", "anybody", false, (*visit).getUser},
		{"POST", "/graphql", metadataRead, "anybody", false, (*visit).graphQL},
		{"GET", inRepo, metadataRead, "", false, (*visit).getRepository},
		{"GET", inRepo + "/collaborators/{username}/permission", metadataRead, "anybody", false, (*visit).getPermission},

		{"GET", "/search/issues", metadataRead, "", false, (*visit).searchIssues},
		{"GET", inRepo + "/issues", issuesRead, "", false, (*visit).listIssues},
		{"POST", inRepo + "/issues", "issues=write", "anybody", true, (*visit).createIssue},
		{"GET", onComment, issuesRead, "", false, (*visit).getComment},
		{"PATCH", onComment, issuesWrite, "anybody", true, (*visit).editComment},
		{"DELETE", onComment, issuesWrite, "anybody", false, (*visit).deleteComment},
		{"GET", onComment + "/reactions", issuesRead, "", false, (*visit).listReactions},
		{"POST", onComment + "/reactions", issuesWrite, "anybody", true, (*visit).createReaction},
		{"DELETE", onComment + "/reactions/{reaction_id}", issuesWrite, "anybody", false, (*visit).deleteReaction},
		{"GET", onIssue, issuesRead, "", false, (*visit).getIssue},
		{"PATCH", onIssue, issuesWrite, "anybody", true, (*visit).editIssue},
		{"GET", onIssue + "/comments", issuesRead, "", false, (*visit).listComments},
		{"POST", onIssue + "/comments", issuesWrite, "anybody", true, (*visit).createComment},
		{"GET", onIssue + "/labels", issuesRead, "", false, (*visit).listLabels},
		{"POST", onIssue + "/labels", issuesWrite, "triage", true, (*visit).addLabels},
		{"DELETE", onIssue + "/labels/{name}", issuesWrite, "triage", false, (*visit).removeLabel},
		{"GET", onIssue + "/reactions", issuesRead, "", false, (*visit).listReactions},
		{"POST", onIssue + "/reactions", issuesWrite, "anybody", true, (*visit).createReaction},
		{"DELETE", onIssue + "/reactions/{reaction_id}", issuesWrite, "anybody", false, (*visit).deleteReaction},
		{"GET", onIssue + "/sub_issues", "issues=read", "", false, (*visit).listSubIssues},
		{"POST", onIssue + "/sub_issues", "issues=write", "triage", true, (*visit).addSubIssue},
		{"POST", onIssue + "/assignees", issuesWrite, "triage", false, (*visit).assign},

		{"GET", inRepo + "/pulls", pullsRead, "", false, (*visit).listPulls},
		{"POST", inRepo + "/pulls", pullsWrite, "anybody", true, (*visit).createPull},
		{"GET", onPull, pullsRead, "", false, (*visit).getPull},
		{"PATCH", onPull, pullsWrite, "anybody", true, (*visit).editPull},
		{"GET", onPull + "/reviews", pullsRead, "", false, (*visit).listReviews},
		{"GET", onPull + "/reviews/{review_id}", pullsRead, "", false, (*visit).getReview},
		{"GET", onPull + "/comments", pullsRead, "", false, (*visit).listLineComments},
		{"POST", onPull + "/comments/{comment_id}/replies", pullsWrite, "anybody", true, (*visit).replyToLine},
		{"POST", onPull + "/requested_reviewers", pullsWrite, "anybody", false, (*visit).requestReview},

		{"GET", inRepo + "/commits", contentsRead, "", false, (*visit).listCommits},
		{"GET", inRepo + "/commits/{ref}/check-runs", "checks=read", "", false, (*visit).listChecks},
		{"GET", inRepo + "/commits/{ref}/status", "statuses=read", "", false, (*visit).listStatuses},
		{"POST", inRepo + "/statuses/{sha}", "statuses=write", "write", false, (*visit).postStatus},
		{"GET", inRepo + "/check-runs/{check_run_id}/annotations", "checks=read", "", false, (*visit).listNotes},
		{"GET", inRepo + "/actions/jobs/{job_id}/logs", "actions=read", "", false, (*visit).findLog},

		{"GET", inRepo + "/git/ref/{ref}", contentsRead, "", false, (*visit).getRef},
		{"POST", inRepo + "/git/refs", "contents=write", "write", false, (*visit).createRef},
		{"POST", inRepo + "/git/commits", "contents=write", "write", false, (*visit).createCommit},
		{"GET", inRepo + "/rules/branches/{branch}", metadataRead, "", false, (*visit).listRules},
		{"GET", inRepo + "/contents/{path}", contentsRead, "", false, (*visit).getContents},
		{"GET", inRepo + "/git/blobs/{file_sha}", contentsRead, "", false, (*visit).getBlob},
		{"GET", inRepo + "/branches/{branch}", contentsRead, "", false, (*visit).getBranch},

		{"GET", inRepo + "/actions/permissions/workflow", "administration=read", "admin", false, (*visit).getJobRights},
		{"GET", inRepo + "/actions/runs", "actions=read", "", false, (*visit).listRuns},
		{"GET", inRepo + "/actions/runs/{run_id}", "actions=read", "", false, (*visit).getRun},
		{"GET", inRepo + "/actions/runs/{run_id}/attempts/{attempt_number}/jobs", "actions=read", "", false, (*visit).listJobs},
		{"POST", inRepo + "/actions/workflows/{workflow_id}/dispatches", "actions=write", "write", false, (*visit).dispatchWorkflow},
		{"POST", inRepo + "/dispatches", "contents=write", "write", false, (*visit).dispatchEvent},
	}
}

// Routes lists all operations that there are, such as "GET /repos/{owner}/{repo}".
func Routes() (out []string) {
	for _, r := range routes() {
		out = append(out, r.String())
	}
	return out
}

// findRoute finds the route of a path, and what stands in its places.
func findRoute(method, path string) (*route, map[string]string) {
	for _, r := range routes() {
		if r.method != method {
			continue
		}
		if params, ok := match(r.path, path); ok {
			return &r, params
		}
	}
	return nil, nil
}

// match fits a path into a pattern. A branch, another ref or a file may have slashes:
// it is the rest.
func match(pattern, path string) (map[string]string, bool) {
	params := map[string]string{}
	want, got := strings.Split(pattern, "/"), strings.Split(path, "/")
	for i, part := range want {
		if i >= len(got) {
			return nil, false
		}
		name, isParam := strings.CutPrefix(part, "{")
		name = strings.TrimSuffix(name, "}")
		value := got[i]
		if i == len(want)-1 {
			if name == "ref" || name == "branch" || name == "path" {
				value = strings.Join(got[i:], "/")
			} else if len(got) != len(want) {
				return nil, false
			}
		}
		value, err := url.PathUnescape(value)
		if err != nil || value == "" && isParam || !isParam && value != part {
			return nil, false
		}
		if isParam {
			params[name] = value
		}
	}
	return params, true
}

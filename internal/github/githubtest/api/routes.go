package api

// routes are all operations that there are. Those with more fixed words come
// first where two fit.
func routes() []route {
	return []route{
		{"GET", "/user", "", "anybody", false, on(accountHandler.getUser)},
		{"POST", "/graphql", metadataRead, "anybody", false, on(graphHandler.graphQL)},
		{"GET", inRepo, metadataRead, "", false, on(repositoryHandler.getRepository)},
		{"GET", inRepo + "/collaborators/{username}/permission", metadataRead, "anybody", false, on(accountHandler.getPermission)},

		{"GET", inRepo + "/issues", issuesRead, "", false, on(issueHandler.listIssues)},
		{"POST", inRepo + "/issues", "issues=write", "anybody", true, on(issueHandler.createIssue)},
		{"GET", inRepo + "/issues/comments/{comment_id}", issuesRead, "", false, on(commentHandler.getComment)},
		{"PATCH", inRepo + "/issues/comments/{comment_id}", issuesWrite, "anybody", true, on(commentHandler.editComment)},
		{"DELETE", inRepo + "/issues/comments/{comment_id}", issuesWrite, "anybody", false, on(commentHandler.deleteComment)},
		{"GET", inRepo + "/issues/comments/{comment_id}/reactions", issuesRead, "", false, on(reactionHandler.listReactions)},
		{"POST", inRepo + "/issues/comments/{comment_id}/reactions", issuesWrite, "anybody", true, on(reactionHandler.createReaction)},
		{"DELETE", inRepo + "/issues/comments/{comment_id}/reactions/{reaction_id}", issuesWrite, "anybody", false, on(reactionHandler.deleteReaction)},
		{"GET", inRepo + "/issues/{issue_number}", issuesRead, "", false, on(issueHandler.getIssue)},
		{"PATCH", inRepo + "/issues/{issue_number}", issuesWrite, "anybody", true, on(issueHandler.editIssue)},
		{"GET", inRepo + "/issues/{issue_number}/comments", issuesRead, "", false, on(commentHandler.listComments)},
		{"POST", inRepo + "/issues/{issue_number}/comments", issuesWrite, "anybody", true, on(commentHandler.createComment)},
		{"GET", inRepo + "/issues/{issue_number}/labels", issuesRead, "", false, on(labelHandler.listLabels)},
		{"POST", inRepo + "/issues/{issue_number}/labels", issuesWrite, "triage", true, on(labelHandler.addLabels)},
		{"DELETE", inRepo + "/issues/{issue_number}/labels/{name}", issuesWrite, "triage", false, on(labelHandler.removeLabel)},
		{"GET", inRepo + "/issues/{issue_number}/reactions", issuesRead, "", false, on(reactionHandler.listReactions)},
		{"POST", inRepo + "/issues/{issue_number}/reactions", issuesWrite, "anybody", true, on(reactionHandler.createReaction)},
		{"DELETE", inRepo + "/issues/{issue_number}/reactions/{reaction_id}", issuesWrite, "anybody", false, on(reactionHandler.deleteReaction)},
		{"GET", inRepo + "/issues/{issue_number}/sub_issues", "issues=read", "", false, on(subIssueHandler.listSubIssues)},
		{"POST", inRepo + "/issues/{issue_number}/sub_issues", "issues=write", "triage", true, on(subIssueHandler.addSubIssue)},

		{"GET", inRepo + "/pulls", pullsRead, "", false, on(pullHandler.listPulls)},
		{"POST", inRepo + "/pulls", pullsWrite, "anybody", true, on(pullHandler.createPull)},
		{"GET", inRepo + "/pulls/{pull_number}", pullsRead, "", false, on(pullHandler.getPull)},
		{"PATCH", inRepo + "/pulls/{pull_number}", pullsWrite, "anybody", true, on(pullHandler.editPull)},
		{"GET", inRepo + "/pulls/{pull_number}/reviews", pullsRead, "", false, nil},
		{"GET", inRepo + "/pulls/{pull_number}/comments", pullsRead, "", false, nil},
		{"POST", inRepo + "/pulls/{pull_number}/comments/{comment_id}/replies", pullsWrite, "anybody", true, nil},
		{"POST", inRepo + "/pulls/{pull_number}/requested_reviewers", pullsWrite, "anybody", false, nil},

		{"POST", inRepo + "/issues/{issue_number}/assignees", issuesWrite, "triage", false, nil},

		{"GET", inRepo + "/commits", contentsRead, "", false, on(refHandler.listCommits)},
		{"GET", inRepo + "/commits/{ref}/check-runs", "checks=read", "", false, nil},
		{"GET", inRepo + "/commits/{ref}/status", "statuses=read", "", false, nil},
		{"POST", inRepo + "/statuses/{sha}", "statuses=write", "write", false, nil},
		{"GET", inRepo + "/check-runs/{check_run_id}/annotations", "checks=read", "", false, nil},
		{"GET", inRepo + "/actions/jobs/{job_id}/logs", "actions=read", "", false, nil},

		{"GET", inRepo + "/git/ref/{ref}", contentsRead, "", false, on(refHandler.getRef)},
		{"GET", inRepo + "/git/matching-refs/{ref}", contentsRead, "", false, on(refHandler.listRefs)},
		{"POST", inRepo + "/git/refs", "contents=write", "write", false, on(refHandler.createRef)},
		{"GET", inRepo + "/contents/{path}", contentsRead, "", false, on(contentHandler.getContents)},
		{"PUT", inRepo + "/contents/{path}", "contents=write", "write", false, on(contentHandler.putContents)},
		{"GET", inRepo + "/git/blobs/{file_sha}", contentsRead, "", false, on(contentHandler.getBlob)},
		{"GET", inRepo + "/branches/{branch}", contentsRead, "", false, on(refHandler.getBranch)},

		{"GET", inRepo + "/actions/permissions/workflow", "administration=read", "admin", false, on(repositoryHandler.getJobRights)},
		{"GET", inRepo + "/actions/runs", "actions=read", "", false, nil},
		{"GET", inRepo + "/actions/runs/{run_id}", "actions=read", "", false, on(jobHandler.getRun)},
		{"GET", inRepo + "/actions/runs/{run_id}/attempts/{attempt_number}/jobs", "actions=read", "", false, on(jobHandler.listJobs)},
		{"POST", inRepo + "/actions/workflows/{workflow_id}/dispatches", "actions=write", "write", false, on(jobHandler.dispatchWorkflow)},
		{"POST", inRepo + "/dispatches", "contents=write", "write", false, on(jobHandler.dispatchEvent)},
	}
}

// on answers an operation with a method of a handler.
func on[H ~struct{ *visit }](do func(H) Result) func(*visit) Result {
	return func(v *visit) Result { return do(H{v}) }
}

// Routes lists all operations that there are, such as "GET /repos/{owner}/{repo}".
func Routes() (out []string) {
	for _, r := range routes() {
		out = append(out, r.method+" "+r.path)
	}
	return out
}

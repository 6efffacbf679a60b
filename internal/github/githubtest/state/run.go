package state

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

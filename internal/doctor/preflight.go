package doctor

import (
	"context"
	"errors"
	"path"
	"slices"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/delivery"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/internal/issue"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// Preflight finds out, in a job on GitHub, what is missing for the work ahead.
type Preflight struct {
	Env         environ.Env
	GitHub      *github.Client
	Owner, Name string          // of the repository
	Pull        bool            // a pull request is to be opened
	Warn        func(err error) // tells of what could not be found out

	done bool // what the work takes is there
}

// Check says what is missing for the work ahead, all at once, before anything is spent; it is asked for once in a job.
func (f *Preflight) Check(ctx context.Context, w *workspace.Workspace, o workspace.Options, base string, run metadata.Run) error {
	if f.done {
		return nil
	}
	opts, err := workspace.AgentOptions(f.Env, w, o)
	if err != nil {
		return err
	}
	var missing []metadata.Reason
	if err := w.Ready(opts); err != nil {
		missing = append(missing, exit.Why(err))
	}
	if lacks := f.lacks(ctx, w.Plan, base, run); len(lacks) > 0 {
		missing = append(missing, metadata.Because("lacks_rights", "rights", workspace.Lined(lacks)))
	}
	if err := f.MayPush(ctx, w.Workflows); err != nil {
		missing = append(missing, exit.Why(err))
	}
	if len(missing) > 0 {
		return command.Refuse(metadata.CredentialsMissing, workspace.Lined(missing))
	}
	w.SayLacking(f.Env)
	f.done = true
	return nil
}

// quiet reports whether the token is that of a job, which can push no workflow.
func (f *Preflight) quiet(ctx context.Context) bool {
	who, err := f.GitHub.Self(ctx)
	return err == nil && who.Login == "github-actions[bot]"
}

// MayPush says that the token of a job cannot push what is at some paths: files of workflows.
// Nil if nothing is known to be in the way.
func (f *Preflight) MayPush(ctx context.Context, paths []string) error {
	workflows := slices.DeleteFunc(slices.Clone(paths), func(p string) bool { return path.Dir(p) != workspace.Workflows })
	if len(workflows) == 0 || !f.quiet(ctx) {
		return nil
	}
	return command.Refuse(metadata.CredentialsMissing, metadata.Because("token_no_workflows", "paths", workflows))
}

// lacks lists what the token may not do and will have to.
func (f *Preflight) lacks(ctx context.Context, plan *pipelines.Pipeline, base string, run metadata.Run) []metadata.Reason {
	if !f.Pull || run.PRNumber > 0 {
		base = "" // no pull request is opened
	}
	issues := issue.Right{Name: "issues: write", Ask: func(ctx context.Context) error { return f.GitHub.MayWriteIssues(ctx, f.Owner, f.Name) }}
	rights := append(issue.RightsOf(f.GitHub, f.Owner, f.Name, base), issues)
	if files := delivery.CIFiles(plan.CI); f.Pull && len(files) > 0 && f.quiet(ctx) { // what it pushes starts nothing
		rights = append(rights, issue.Right{Name: "actions: write", Ask: func(ctx context.Context) error { return f.GitHub.MayStart(ctx, f.Owner, f.Name, files[0]) }})
	}
	var lacks []metadata.Reason
	for _, right := range rights {
		var problem *github.Error
		switch err := right.Ask(ctx); {
		case errors.As(err, &problem) && (problem.Kind == github.Forbidden || problem.Kind == github.BadToken):
			lacks = append(lacks, metadata.Because("lacks_right", "right", right.Name, "why", exit.Why(err)))
		case err != nil && ctx.Err() == nil:
			f.Warn(err) // it may work when it is needed
		}
	}
	return lacks
}

package eval

import (
	"cmp"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/prompts"
)

// onStep makes a repository that freeze has made stand on the branch of its run, and says
// what is wrong if that run does not go on with the step of the case.
func onStep(ctx context.Context, c Case, env environ.Env, dir string) error {
	at, err := frozen(ctx, env, dir)
	if err != nil {
		return err
	}
	run := phases.TakeUp(at.Run, phases.Start{At: env.Now(), More: phases.Allowance{Attempts: 1}, Refresh: true})
	// Checks belong to the step that they come before.
	if d := phases.Decide(at.Plan, run); d.Phase != c.Step.Phase || d.Step() != c.Step.Step && d.Do != phases.DoCheck {
		c.doc.Wrong([]any{"step"}, "at this commit the run goes on with %s, and not with %s", strings.TrimSpace(d.Phase+" "+string(d.Do)), c.Step)
		return c.doc.Mistakes()
	}
	_, err = repository{dir: dir, environ: env.Environ}.git(ctx, "checkout", "--quiet", at.Run.BranchName)
	return err
}

// frozen gives the one run in a repository.
func frozen(ctx context.Context, env environ.Env, dir string) (*workspace.Recorded, error) {
	env.Environ = append(apart(env.Environ), "REPRISE_BRANCH_PREFIX="+environ.BranchPrefix)
	return workspace.Look(ctx, env, dir, "")
}

// Before is a frozen run as a trial takes it up.
type Before struct {
	ID       string // of the issue
	Attempts int    // checks among them
	Facts    Facts
}

// beforeFile is where a trial keeps it.
func beforeFile(dir string) string { return filepath.Join(dir, "before.json") }

// remember keeps what the frozen run was.
func (r *runner) remember(ctx context.Context, dir string) error {
	at, err := frozen(ctx, r.env, filepath.Join(dir, "repo"))
	if err != nil {
		return err
	}
	facts, err := factsOf(ctx, at)
	if err != nil {
		return err
	}
	data, err := json.Marshal(Before{at.Run.IssueNumber, len(at.Run.Attempts), facts})
	if err != nil {
		return err
	}
	return os.WriteFile(beforeFile(dir), data, 0o600)
}

// before gives what the frozen run of a trial was, nothing of a whole run.
func before(c Case, dir string) (b Before, err error) {
	if c.Step == nil {
		return b, nil
	}
	data, err := os.ReadFile(beforeFile(dir))
	if err == nil {
		err = json.Unmarshal(data, &b)
	}
	return b, err
}

// over reports whether a run has come as far as a trial of the case goes: to its end, or
// through the one step.
func over(c Case, b Before, run metadata.Run) bool {
	if c.Step == nil {
		return run.Status != metadata.Running && run.Status != metadata.Interrupted && (run.Status != metadata.Failed || unanswered(run) == nil)
	}
	for _, a := range run.Attempts[b.Attempts:] {
		if a.Step.ByAgent() && a.Status != metadata.Started && !outside(a) {
			return true
		}
	}
	return false
}

// outside reports whether a call has failed for what says nothing of the agent: its key, its
// service, the network or the disk. A program that crashes or takes too long is to blame itself.
func outside(a metadata.Attempt) bool {
	return a.Status == metadata.Errored && slices.Contains([]metadata.Class{metadata.Missing, metadata.Auth, metadata.RateLimited, metadata.Network, metadata.Refused, metadata.Disk}, a.Class)
}

// openError is why a trial is not over, although its run has stopped: the next start goes on
// with it. It keeps no other trial from going on.
type openError struct{ why string }

// Error gives why.
func (e *openError) Error() string { return e.why }

// unanswered says why the newest call of a run says nothing of its agent; nil: it does.
func unanswered(run metadata.Run) error {
	if n := len(run.Attempts); n > 0 && outside(run.Attempts[n-1]) {
		return &openError{run.Attempts[n-1].Why.In(prompts.Words("en"))}
	}
	return nil
}

// since leaves of what a run came to that of a trial.
func (f Facts) since(b Facts) Facts {
	f.Cost.USD, f.Cost.Tokens = f.Cost.USD-b.Cost.USD, f.Cost.Tokens-b.Cost.Tokens
	f.Attempts, f.Revises, f.Rollbacks = f.Attempts-b.Attempts, f.Revises-b.Revises, f.Rollbacks-b.Rollbacks
	f.Seconds = max(0, f.Seconds-b.Seconds)
	return f
}

// stepFlags are those of reprise run that make it take one step with a variant.
func (v Variant) stepFlags(c Case, id string) []string {
	out := append([]string{"--issue", id}, v.flags(c)...)
	if v.Pipeline+v.Agent+v.Model+v.Prompts+v.Language != "" {
		out = append(out, "--refresh")
	}
	return out
}

// reviewed gives what a trial of a review said, or why it gave no verdict.
func reviewed(c Case, b Before, run metadata.Run) (said *metadata.Verdict, why string) {
	if c.Step == nil {
		return nil, ""
	}
	for _, a := range run.Attempts[b.Attempts:] {
		rec := run.Phase(a.Phase)
		switch {
		case a.Step != metadata.Review:
		case a.Status == metadata.Succeeded && rec != nil:
			return rec.Verdict, ""
		default:
			why = a.Why.In(prompts.Words("en"))
		}
	}
	return nil, cmp.Or(why, "it was not begun")
}

package eval

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/eval/scratch"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// StepOf names the one step of a run that a case is about.
type StepOf struct {
	Phase string
	Step  metadata.Step
}

func (s StepOf) String() string { return s.Phase + " " + string(s.Step) }

// freeze makes of a repository at a commit of a run one in which that run is as it was
// then: its branch, with the mistakes that the case plants, and main where it began.
func (c Case) freeze(ctx context.Context, g scratch.Repository) error {
	id, err := runAt(ctx, g, c.Commit)
	if err != nil {
		return err
	}
	file := filepath.Join(g.Dir, filepath.FromSlash(workspace.RecordFile(id)))
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	run, err := metadata.Parse(data, workspace.RecordFile(id))
	if err != nil {
		return err
	}
	// Where the run was at work, and who spoke with whom there, is nothing to go on with.
	run.Execution.Lease, run.Execution.Push = nil, false
	for i := range run.Attempts {
		run.Attempts[i].Session, run.Attempts[i].Confirmed = "", false
	}
	if data, err = metadata.Format(run); err != nil {
		return err
	}
	if err := errors.Join(os.WriteFile(file, data, 0o644), c.plant(g.Dir)); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"checkout", "--quiet", "-b", environ.BranchPrefix + id},
		{"add", "--all"},
		{"commit", "--quiet", "--no-verify", "--amend", "--no-edit"},
		{"checkout", "--quiet", "-B", "main", run.BaseCommit},
	} {
		if _, err := g.Git(ctx, args...); err != nil {
			return err
		}
	}
	return g.Forget(ctx) // what was planted is not read off what is unreachable
}

// runAt gives the issue of the run whose record the commit has changed that is checked
// out, or whose record is the only one there.
func runAt(ctx context.Context, g scratch.Repository, commit string) (string, error) {
	records := func(names string) (ids []string) {
		for name := range strings.Lines(names) {
			name = strings.TrimSuffix(name, "\n")
			if id, is := strings.CutPrefix(path.Base(path.Dir(name)), "issue-"); is && name == workspace.RecordFile(id) {
				ids = append(ids, id)
			}
		}
		return ids
	}
	changed, err := g.Git(ctx, "diff-tree", "--no-commit-id", "--name-only", "--root", "-r", "HEAD", "--", ".reprise")
	if err != nil {
		return "", err
	}
	if ids := records(changed); len(ids) == 1 {
		return ids[0], nil
	}
	all, err := g.Git(ctx, "ls-tree", "-r", "--name-only", "HEAD", "--", ".reprise")
	if err != nil {
		return "", err
	}
	if ids := records(all); len(ids) == 1 {
		return ids[0], nil
	}
	return "", fmt.Errorf("%s is no commit of a run: it has no record of one", commit)
}

// onStep makes a repository that freeze has made stand on the branch of its run, and says
// what is wrong if that run does not go on with the step of the case.
func (c Case) onStep(ctx context.Context, env environ.Env, dir string) error {
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
	_, err = scratch.Repository{Dir: dir, Environ: env.Environ}.Git(ctx, "checkout", "--quiet", at.Run.BranchName)
	return err
}

// frozen gives the one run in a repository.
func frozen(ctx context.Context, env environ.Env, dir string) (*workspace.Recorded, error) {
	env.Environ = append(scratch.Apart(env.Environ), "REPRISE_BRANCH_PREFIX="+environ.BranchPrefix)
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
func (c Case) before(dir string) (b Before, err error) {
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
func (c Case) over(b Before, run metadata.Run) bool {
	if c.Step == nil {
		return run.Status != metadata.Running && run.Status != metadata.Interrupted
	}
	for _, a := range run.Attempts[b.Attempts:] {
		if a.Step.ByAgent() {
			return a.Status != metadata.Started
		}
	}
	return false
}

// another says which step a run has taken in place of that of the case, or "".
func (c Case) another(b Before, run metadata.Run) string {
	if c.Step == nil {
		return ""
	}
	for _, a := range run.Attempts[b.Attempts:] {
		if is := (StepOf{a.Phase, a.Step}); a.Step.ByAgent() && is != *c.Step {
			return is.String()
		}
	}
	return ""
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
	out := append([]string{"--issue", id, "--attempts", "1"}, v.flags(c)...)
	if v.Pipeline+v.Agent+v.Model+v.Prompts+v.Language != "" {
		out = append(out, "--refresh")
	}
	return out
}

// notEnded says that a run did not come as far as a trial goes.
func notEnded(c Case, said string) error {
	if c.Step != nil {
		return fmt.Errorf("the run did not take the step %s: %s", c.Step, said)
	}
	return fmt.Errorf("the run did not come to an end: %s", said)
}

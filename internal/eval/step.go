package eval

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
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
	if d := phases.Decide(phases.On(at.Plan, run)); d.Phase != c.Step.Phase || d.Step() != c.Step.Step && d.Do != phases.DoCheck {
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

// frozenRun is a frozen run as a trial takes it up.
type frozenRun struct {
	ID       string // of the issue
	Attempts int    // checks among them
	Facts    facts
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
	data, err := json.Marshal(frozenRun{at.Run.IssueNumber, len(at.Run.Attempts), facts})
	if err != nil {
		return err
	}
	return os.WriteFile(beforeFile(dir), data, 0o600)
}

// before gives what the frozen run of a trial was, nothing of a whole run.
func before(c Case, dir string) (b frozenRun, err error) {
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
func over(c Case, b frozenRun, run metadata.Run) bool {
	if c.Step == nil {
		return run.Status != metadata.Running && run.Status != metadata.Interrupted && (run.Status != metadata.Failed || unanswered(run) == nil)
	}
	return slices.ContainsFunc(run.Attempts[b.Attempts:], func(a metadata.Attempt) bool {
		return a.Step.ByAgent() && a.Status != metadata.Started && !outside(a)
	})
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
func (f facts) since(b facts) facts {
	f.Cost.USD, f.Cost.Unpriced, f.Cost.Tokens = f.Cost.USD-b.Cost.USD, f.Cost.Unpriced-b.Cost.Unpriced, f.Cost.Tokens-b.Cost.Tokens
	f.Attempts, f.Revises, f.Rollbacks = f.Attempts-b.Attempts, f.Revises-b.Revises, f.Rollbacks-b.Rollbacks
	f.Seconds = max(0, f.Seconds-b.Seconds)
	return f
}

// stepFlags are those of reprise run that make it take one step with a variant.
func (v variant) stepFlags(c Case, id string) []string {
	out := append([]string{"--issue", id}, v.flags(c)...)
	if v.Pipeline+v.Agent+v.Model+v.Prompts+v.Language != "" {
		out = append(out, "--refresh")
	}
	return out
}

// reviewed gives what a trial of a review said, or why it gave no verdict.
func reviewed(c Case, b frozenRun, run metadata.Run) (said *metadata.Verdict, why string) {
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

// freeze makes of a repository at a commit of a run one in which that run is as it was
// then: its branch, with the mistakes that the case plants, and main where it began.
func freeze(ctx context.Context, c Case, g repository) error {
	id, err := runAt(ctx, g, c.Commit)
	if err != nil {
		return err
	}
	file := filepath.Join(g.dir, filepath.FromSlash(phases.RecordFile(id)))
	data, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	run, err := metadata.Parse(data, phases.RecordFile(id))
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
	if err := errors.Join(os.WriteFile(file, data, 0o644), c.plant(g.dir)); err != nil {
		return err
	}
	if err := g.all(ctx,
		[]string{"checkout", "--quiet", "-b", environ.BranchPrefix + id},
		[]string{"add", "--all"},
		[]string{"commit", "--quiet", "--no-verify", "--amend", "--no-edit"},
		[]string{"checkout", "--quiet", "-B", "main", run.BaseCommit},
	); err != nil {
		return err
	}
	return g.forget(ctx) // what was planted is not read off what is unreachable
}

// runAt gives the issue of the run whose record the commit that is checked out, or else the
// newest before it, has changed.
func runAt(ctx context.Context, g repository, commit string) (string, error) {
	name, err := g.git(ctx, "log", "--max-count=1", "--format=", "--name-only", "--diff-filter=AM", "--", phases.RecordFile("*"))
	if err != nil {
		return "", err
	}
	name, _, _ = strings.Cut(strings.TrimSpace(name), "\n")
	id, is := strings.CutPrefix(path.Base(path.Dir(name)), "issue-")
	if !is {
		return "", fmt.Errorf("%s is no commit of a run: it has no record of one", commit)
	}
	return id, nil
}

// forReview leaves of the suite the reviews of accepted work: each as it was, and once with each defect that
// it plants. Work that the case says has to be refused has a defect as it is.
func (e *evaluation) forReview(ctx context.Context) error {
	var all []Case
	for _, c := range e.suite.Cases {
		if c.Step == nil {
			continue
		}
		bad, err := refused(c)
		if err != nil {
			return err
		}
		if bad {
			c.of, c.Expect, c.Checks, c.Still, c.planted = c.Name, "_", nil, nil, &mutation{}
			all = append(all, c)
			continue
		}
		found, err := e.defectsFor(ctx, c)
		if err != nil {
			return err
		}
		c.of, c.Expect, c.Mutation, c.Checks, c.Still = c.Name, "_", nil, nil, nil
		all = append(all, c)
		for i, d := range found {
			c.Name, c.planted, c.Mutation = fmt.Sprintf("%s+%d", c.of, i+1), &found[i], []mutation{d}
			all = append(all, c)
		}
	}
	if len(all) == 0 {
		return exit.Usagef("no case of the suite is a review of accepted work; its case.cue has commit and step: {phase: PHASE, step: \"review\"}")
	}
	e.suite.Cases = all
	return nil
}

// refused reports whether a case expects that its work is refused as it is: people have found
// what a review had missed.
func refused(c Case) (bool, error) {
	if len(c.Mutation) > 0 {
		return false, nil
	}
	passed, err := json.Marshal(map[string]any{"verdicts": map[string]metadata.Ruling{c.Step.Phase: metadata.Pass}})
	if err != nil {
		return false, err
	}
	misses, err := unmet(c.Expect, passed)
	if err != nil {
		return false, fmt.Errorf("what case %s expects: %w", c.Name, err)
	}
	return slices.ContainsFunc(misses, func(m string) bool { return strings.HasPrefix(m, "verdicts."+c.Step.Phase+": got ") }), nil
}

// defectsFor gives the defects that a case plants, with the lines that they are on.
func (e *evaluation) defectsFor(ctx context.Context, c Case) (all []mutation, err error) {
	for i, m := range c.Mutation {
		content, err := repository{dir: c.Repo, environ: e.env.Environ}.git(ctx, "show", c.Commit+":"+m.File)
		if n := strings.Count(content, m.Find); err != nil || n != 1 {
			c.doc.Wrong([]any{"mutation", i, "find"}, "%s has the text %q %d times; it has to be there exactly once", m.File, m.Find, n)
			continue
		}
		before, _, _ := strings.Cut(content, m.Find)
		m.line = 1 + strings.Count(before, "\n")
		all = append(all, m)
	}
	return all, c.doc.Mistakes()
}

// worth sums up what the reviews said, for each variant.
func (e *evaluation) worth(all []result) []worth {
	for i := range all {
		c, _ := e.of(all[i].trial)
		all[i].of, all[i].planted = c.of, c.planted
	}
	out := []worth{}
	for _, v := range e.suite.Variants {
		out = append(out, worthOf(v.Name, all))
	}
	return out
}

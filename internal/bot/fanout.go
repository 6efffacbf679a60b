package bot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
)

// partsDue is the error by which an engine stops where the parts of a run are to be done by
// other machines. The record says nothing of it.
type partsDue struct{ Parts []string }

// Error says so.
func (d *partsDue) Error() string {
	return "other machines are to do " + strings.Join(d.Parts, ", ")
}

// splitIntoParts has an engine end with a *partsDue as soon as parts can be done beside each other.
func splitIntoParts(e *engine.Engine) {
	here := e.Beside
	e.Beside = func(ctx context.Context, run metadata.Run) (metadata.Run, bool, error) {
		if parts := phases.PartsOfWave(e.Plan, run); parts != nil && ctx.Err() == nil {
			return run, false, &partsDue{parts}
		}
		return here(ctx, run)
	}
}

// leaseFor is how long the jobs of a run of a workflow have a run, if GitHub does not say before that they are over.
const leaseFor = 12 * time.Hour

// leaveParts leaves a run to the jobs of the same run of a workflow, one for each part, and gives its record and the
// matrix that starts them. What earlier jobs have pushed and nobody has taken is removed first.
func leaveParts(ctx context.Context, w *workspace.Workspace, e *engine.Engine, run metadata.Run, parts []string) (next metadata.Run, matrix string, err error) {
	at, err := originOf(w)
	if err != nil {
		return run, "", err
	}
	all, ok := allJobs(e.Owner)
	if !ok {
		return run, "", errors.New("parts can be done by other machines only within GitHub Actions")
	}
	if err := at.clear(ctx); err != nil {
		return run, "", err
	}
	next = phases.Touch(run, e.Now())
	if err := e.HandOn(ctx, next, fmt.Sprintf("fan out: %d parts, each on a machine of its own", len(parts)), all, leaseFor); err != nil {
		return run, "", err
	}
	type row struct {
		Part string `json:"part"`
	}
	rows := struct {
		Include []row `json:"include"`
	}{}
	for _, p := range parts {
		rows.Include = append(rows.Include, row{p})
	}
	text, err := json.Marshal(rows)
	return next, string(text), err
}

// exchange is a checkout that can talk with origin.
type exchange interface {
	Exchange(ctx context.Context, command []string, what ...string) ([]byte, error)
}

// origin has what machines have pushed for a run.
type origin struct {
	exchange
	refs string // their refs begin with it
}

// originOf gives the origin of a run. There is one if it was opened to be pushed.
func originOf(w *workspace.Workspace) (origin, error) {
	repo, ok := w.Repo.(exchange)
	if !ok || !w.Push {
		return origin{}, errors.New("a run that is not pushed cannot be done by several machines")
	}
	return origin{repo, phases.PartRefs(w.Issue.ID)}, nil
}

// list gives the refs that machines have pushed, by their parts.
func (o origin) list(ctx context.Context) (of map[string]git.Ref, err error) {
	out, err := o.Exchange(ctx, []string{"ls-remote", "--refs"}, git.RefsBeginning([]string{o.refs})...)
	if err != nil {
		return nil, fmt.Errorf("list what other machines have done: %w", err)
	}
	of = map[string]git.Ref{}
	for _, r := range git.ParseRefs(out) {
		if part, is := strings.CutPrefix(r.Name, o.refs); is && metadata.CheckID(part) == nil {
			of[part] = r
		}
	}
	return of, nil
}

// fetch fetches what is at a ref. Why says that this ref alone cannot be fetched, such as
// one that is gone or broken; an error, that origin cannot be reached.
func (o origin) fetch(ctx context.Context, r git.Ref) (why, err error) {
	_, why = o.Exchange(ctx, git.FetchArgs(), "+"+r.Name+":"+r.Name)
	if why != nil {
		_, err = o.list(ctx)
	}
	return why, err
}

// remove removes refs, unless somebody has pushed there since they were listed.
func (o origin) remove(ctx context.Context, of map[string]git.Ref) error {
	if len(of) == 0 {
		return nil
	}
	command, what := append(git.PushArgs(), "--quiet"), []string{}
	for _, r := range of {
		command, what = append(command, "--force-with-lease="+r.Name+":"+r.Commit), append(what, ":"+r.Name)
	}
	if _, err := o.Exchange(ctx, command, what...); err != nil {
		return fmt.Errorf("remove what other machines have pushed: %w", err)
	}
	return nil
}

// clear removes all refs of machines.
func (o origin) clear(ctx context.Context) error {
	of, err := o.list(ctx)
	if err != nil {
		return err
	}
	return o.remove(ctx, of)
}

// FoldAbandonedParts does on a person's machine what Fold does, if the job that was to join the parts of a run is
// gone: the lease on the run says so, as nobody gave it back. Without such a lease, and on a scratch copy, it does
// nothing. People are told what was taken, and what was not.
func FoldAbandonedParts(ctx context.Context, w *workspace.Workspace, env environ.Env, o workspace.Options) error {
	if o.Scratch || w.Run.Execution.Lease == nil {
		return nil
	}
	say := func(what any) { _, _ = fmt.Fprintln(env.Stderr, "reprise:", text.Flat(fmt.Sprint(what))) }
	e, err := w.Engine(env, o, engine.Quiet{})
	if err != nil {
		return err
	}
	before := len(w.Run.Attempts)
	if _, err := foldParts(ctx, w, e, func(err error) { say(err) }); err != nil {
		return err
	}
	if n := len(w.Run.Attempts) - before; n > 0 {
		say(w.Shown("from jobs", "n", n))
	}
	return nil
}

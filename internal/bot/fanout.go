package bot

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/prompts"
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
		if parts := phases.PartsOfWave(phases.On(e.Plan, run)); parts != nil && ctx.Err() == nil {
			return run, false, &partsDue{parts}
		}
		return here(ctx, run)
	}
}

// leaseFor is how long the jobs of a run of a workflow have a run, if GitHub does not say before that they are over.
const leaseFor = 12 * time.Hour

// leaveParts leaves a run to the jobs of the same run of a workflow, one for each part, and gives its record and the
// matrix that starts them. What earlier jobs have pushed and nobody has taken is removed first.
func leaveParts(ctx context.Context, w *workspace.Workspace, e *engine.Engine, parts []string) (next metadata.Run, matrix string, err error) {
	at, err := originOf(w)
	if err != nil {
		return w.Run, "", err
	}
	all, ok := allJobs(e.Owner)
	if !ok {
		return w.Run, "", errors.New("parts can be done by other machines only within GitHub Actions")
	}
	earlier, err := at.list(ctx)
	if err == nil {
		err = at.remove(ctx, earlier)
	}
	if err != nil {
		return w.Run, "", err
	}
	next = phases.Touch(w.Run, e.Now())
	if err := e.HandOn(ctx, next, fmt.Sprintf("fan out: %d parts, each on a machine of its own", len(parts)), all, leaseFor); err != nil {
		return w.Run, "", err
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

// FoldAbandonedParts does on a person's machine what Fold does, if the job that was to join the parts of a run is
// gone: the lease on the run says so, as nobody gave it back. Without such a lease, and on a scratch copy, it does
// nothing. People are told what was taken, and what was not.
func FoldAbandonedParts(ctx context.Context, w *workspace.Workspace, o workspace.Options) error {
	if o.Scratch || w.Run.Execution.Lease == nil {
		return nil
	}
	say := func(what any) { _, _ = fmt.Fprintln(w.Env.Stderr, "reprise:", text.Flat(fmt.Sprint(what))) }
	e, err := w.Engine(o, engine.Quiet{})
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

// How much is read of what a machine has pushed besides the code.
const (
	mostRecord = 16 << 20 // bytes of the record
	mostFiles  = 200      // in the folder of a part
	mostBytes  = 16 << 20 // of all of them
)

// foldParts takes what other machines have done into the record of a run and commits that, and
// removes what they have pushed, save what cannot be fetched. Where nothing was pushed,
// nothing is committed. Warn is told of each part whose work is missing or not taken, and why.
func foldParts(ctx context.Context, w *workspace.Workspace, e *engine.Engine, warn func(error)) (metadata.Run, error) {
	at, err := originOf(w)
	if err != nil {
		return w.Run, nil // no other machine knows of it
	}
	of, err := at.list(ctx)
	if err != nil {
		return w.Run, err
	}
	tellMissing(w, of, warn)
	if len(of) == 0 {
		return w.Run, nil
	}
	f := folding{w: w, e: e, from: w.Run, next: w.Run, files: map[string][]byte{}}
	var said []string
	if err := at.fetchAll(ctx, of, warn); err != nil {
		return w.Run, err
	}
	for _, part := range slices.Sorted(maps.Keys(of)) {
		became, why, err := f.take(ctx, part, of[part])
		if err != nil {
			return w.Run, err
		}
		if why != nil {
			warn(fmt.Errorf("what another machine has done of %s is not taken: %w", part, why))
		}
		if became != phases.NothingFolded {
			said = append(said, part+": "+string(became))
		}
	}
	if len(said) == 0 {
		return w.Run, at.remove(ctx, of)
	}
	next := phases.Touch(f.next, e.Now())
	if err := e.Fold(ctx, next, "join: "+strings.Join(said, ", "), f.files, f.heads); err != nil {
		return w.Run, err
	}
	w.Run, w.Elsewhere = next, len(next.Attempts)
	e.Elsewhere = w.Elsewhere // the sessions are not on this machine
	if err := at.remove(ctx, of); err != nil {
		warn(err) // they say nothing new, and the next job removes them
	}
	return next, nil
}

// tellMissing says of which parts that the run was left to jobs for nothing was pushed.
func tellMissing(w *workspace.Workspace, of map[string]git.Ref, warn func(error)) {
	if lease := w.Run.Execution.Lease; lease == nil || !sharedLease(lease.Owner, lease) {
		return
	}
	for _, part := range phases.PartsOfWave(phases.On(w.Plan, w.Run)) {
		if _, is := of[part]; !is {
			warn(fmt.Errorf("the job for %s has pushed nothing, so the run does the part itself when it goes on; the log of that job says why", part))
		}
	}
}

// fetchAll fetches what machines have pushed. Of what cannot be fetched alone, warn is told,
// and it is taken out of the refs: what nobody has read is not removed.
func (o origin) fetchAll(ctx context.Context, of map[string]git.Ref, warn func(error)) error {
	for _, part := range slices.Sorted(maps.Keys(of)) {
		r := of[part]
		why, err := o.fetch(ctx, r)
		if err != nil {
			return fmt.Errorf("fetch what another machine has done of %s: %w", part, err)
		}
		if why != nil {
			warn(fmt.Errorf("what another machine has done of %s cannot be fetched, so the run does the part itself when it goes on; once nobody needs it any more, remove it with: git push origin :%s: %w", part, r.Name, why))
			delete(of, part)
		}
	}
	return nil
}

// folding is a record that is being put together.
type folding struct {
	w     *workspace.Workspace
	e     *engine.Engine
	from  metadata.Run // at the tip
	next  metadata.Run
	files map[string][]byte
	heads []string
}

// take takes what a machine has pushed of a part. Why says why it does not count, or does
// so only as something that was spent; an error, that it is not known.
func (f *folding) take(ctx context.Context, part string, r git.Ref) (became phases.FoldOutcome, why, err error) {
	theirs, why := f.record(ctx, r)
	if why != nil {
		return phases.NothingFolded, why, nil
	}
	next, became, why := phases.FoldPart(f.from, f.w.Repo.Tip(), f.next, part, theirs)
	if why != nil || became == phases.NothingFolded {
		return phases.NothingFolded, why, nil
	}
	var files map[string][]byte
	head := "" // the commit with the code; empty: the part has changed none
	if lane := next.Phase(part).Lane; lane != nil {
		head = lane.Head
	}
	if became == phases.VoidFolded {
		why = errors.New("the run has gone another way meanwhile; only what it has spent counts")
	} else if files, why, err = f.work(ctx, next, part, head, r); err != nil {
		return phases.NothingFolded, nil, err
	} else if why != nil { // it is done again
		next, became = phases.RefusePart(f.next, next, why.Error()), phases.VoidFolded
	}
	if wrong := f.misfit(next); wrong != nil {
		return phases.NothingFolded, wrong, nil
	}
	f.next = next
	if became == phases.TakenFolded {
		maps.Copy(f.files, files)
		if head != "" {
			f.heads = append(f.heads, head)
		}
	}
	return became, why, nil
}

// work gives the files of the folder of a part, which goes on as next says. Why says what
// keeps its work from being taken.
func (f *folding) work(ctx context.Context, next metadata.Run, part, head string, r git.Ref) (files map[string][]byte, why, err error) {
	if why := f.misfit(next); why != nil {
		return nil, why, nil
	}
	files, why = f.folder(ctx, part, r)
	if why == nil && head != "" {
		why, err = f.unfit(ctx, part, head)
	}
	return files, why, err
}

// misfit says why a record cannot follow on that of the run. What one machine has pushed
// never keeps out what others have.
func (f *folding) misfit(next metadata.Run) error {
	next = phases.Touch(next, f.e.Now())
	if err := metadata.CheckNext(f.from, next); err != nil {
		return err
	}
	return next.Check()
}

// record reads the record at a ref.
func (f *folding) record(ctx context.Context, r git.Ref) (metadata.Run, error) {
	name := phases.RecordFile(f.w.Issue.ID)
	data, err := f.w.Repo.ReadFile(ctx, r.Commit, name)
	if err != nil {
		return metadata.Run{}, err
	}
	if len(data) > mostRecord {
		return metadata.Run{}, fmt.Errorf("its record has %d bytes, and at most %d are read", len(data), mostRecord)
	}
	return metadata.Parse(data, r.Name+":"+name)
}

// folder gives the files of the folder of a part as they are at a ref.
func (f *folding) folder(ctx context.Context, part string, r git.Ref) (map[string][]byte, error) {
	p := f.w.Plan.Phase(part)
	if p == nil {
		return nil, errors.New("the pipeline has no such part")
	}
	folder := phases.PhaseFolder(f.next, p)
	in, err := f.w.Source.FS(ctx, r.Commit, folder)
	if err != nil || in == nil {
		return nil, err
	}
	files, size := map[string][]byte{}, 0
	err = fs.WalkDir(in, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(in, name)
		full := path.Join(folder, name)
		if size += len(data); err == nil {
			err = metadata.CheckPath(full)
		}
		if err == nil && (len(files) == mostFiles || size > mostBytes) {
			err = fmt.Errorf("%s has more than %d files or %d bytes", folder, mostFiles, mostBytes)
		}
		files[full] = data
		return err
	})
	return files, err
}

// unfit says why a part's code cannot be taken: its phase may not change it, or it has a
// secret. The rules are those for work that was done here.
func (f *folding) unfit(ctx context.Context, part, head string) (why, err error) {
	if _, _, err := f.w.Repo.Recover(ctx, head, phases.Folder(f.w.Issue.ID)); err != nil {
		return err, f.e.Tree.Restore(ctx)
	}
	defer func() { err = errors.Join(err, f.e.Tree.Restore(context.WithoutCancel(ctx))) }()
	changes, err := f.e.Tree.Changes(ctx)
	if err != nil {
		return nil, err
	}
	may := phases.BoundaryOf(phases.On(f.w.Plan, f.next), phases.Decision{Do: phases.DoExecute, Phase: part})
	sorted := may.Sort(changes)
	paths := sorted.Tree
	switch other := slices.Concat(sorted.Undo, sorted.Opened, sorted.Artifacts); {
	case len(other) > 0:
		return fmt.Errorf("it changes %s, which the phase may not", phases.Printable(other[0])), nil
	case sorted.Over != "":
		return errors.New(sorted.Over.In(prompts.Words("en"))), nil
	}
	staged, err := f.e.Tree.Stage(ctx, paths...)
	if err != nil || len(paths) == 0 {
		return nil, err
	}
	leaks, err := f.e.CheckStaged(ctx, may, f.e.Plan.Secrets.Allow, staged)
	if leaks != "" {
		why = errors.New(leaks.In(prompts.Words("en")))
	}
	return why, err
}

package bot

import (
	"cmp"
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

// PartsDue is the error by which an engine stops where the parts of a run are to be done by
// other machines. The record says nothing of it.
type PartsDue struct{ Parts []string }

// Error says so.
func (d *PartsDue) Error() string {
	return "other machines are to do " + strings.Join(d.Parts, ", ")
}

// matrix gives the parts as the matrix of a workflow.
func (d *PartsDue) matrix() string {
	var rows []map[string]string
	for _, p := range d.Parts {
		rows = append(rows, map[string]string{"part": p})
	}
	data, _ := json.Marshal(map[string]any{"include": rows}) // texts alone
	return string(data)
}

// SplitIntoParts has an engine end with a *PartsDue as soon as parts can be done beside each other.
func SplitIntoParts(e *engine.Engine) {
	if e.Lanes != nil { // else parts cannot be done beside each other
		e.Lanes.Leave = func(parts []string) error { return &PartsDue{parts} }
	}
}

// leaseFor is how long those that do parts have a run, unless it is known before that they are over, or somebody joins.
const leaseFor = 12 * time.Hour

// LeaveParts leaves a run, as its workspace has it, to those that do its parts: to the jobs of the same run of a workflow,
// else to tasks on any machine. It gives the record. What earlier ones have pushed and nobody has taken is removed first.
func LeaveParts(ctx context.Context, w *workspace.Workspace, e *engine.Engine, due *PartsDue) (metadata.Run, error) {
	f := &folding{w: w, e: e}
	if !f.pushed() {
		return w.Run, errors.New("a run that is not pushed cannot be done by several machines")
	}
	earlier, err := f.list(ctx)
	if err == nil {
		err = f.remove(ctx, earlier)
	}
	if err != nil {
		return w.Run, err
	}
	return e.HandOn(ctx, w.Run, fmt.Sprintf("fan out: %d parts, each on a machine of its own", len(due.Parts)), allTasks(e.Owner), leaseFor)
}

// folding is what machines have pushed for a run, as it is put together with the record at the tip.
type folding struct {
	w     *workspace.Workspace
	e     *engine.Engine
	warn  func(error) // told of each part whose work is missing or not taken, and why
	next  metadata.Run
	said  []string // what became of parts
	files map[string][]byte
	heads []string
}

// pushed reports whether other machines know of the run.
func (f *folding) pushed() bool { return f.w.Push && f.w.Git().Repo != nil }

// list gives the refs that machines have pushed, by their parts.
func (f *folding) list(ctx context.Context) (of map[string]git.Ref, err error) {
	refs := phases.PartRefs(f.w.Issue.ID) // they begin with it
	out, err := f.w.Git().Exchange(ctx, []string{"ls-remote", "--refs"}, refs+"*")
	if err != nil {
		return nil, fmt.Errorf("list what other machines have done: %w", err)
	}
	of = map[string]git.Ref{}
	for _, r := range git.ParseRefs(out) {
		if part, is := strings.CutPrefix(r.Name, refs); is && metadata.CheckID(part) == nil {
			of[part] = r
		}
	}
	return of, nil
}

// remove removes refs, unless somebody has pushed there since they were listed.
func (f *folding) remove(ctx context.Context, of map[string]git.Ref) error {
	if len(of) == 0 {
		return nil
	}
	command, what := append(git.PushArgs(), "--quiet"), []string{}
	for _, r := range of {
		command, what = append(command, "--force-with-lease="+r.Name+":"+r.Commit), append(what, ":"+r.Name)
	}
	if _, err := f.w.Git().Exchange(ctx, command, what...); err != nil {
		return fmt.Errorf("remove what other machines have pushed: %w", err)
	}
	return nil
}

// JoinParts takes in, on a person's machine, what others have done of the parts of a run. People are told what was taken,
// and what was not. On a scratch copy it does nothing; nor without a lease on the run, which those who do parts leave
// behind until somebody joins them, unless join says that they have nobody else.
func JoinParts(ctx context.Context, w *workspace.Workspace, o workspace.Options, join bool) error {
	if o.Scratch || w.Run.Execution.Lease == nil && !join {
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
	w.Run.Execution.Lease = nil // so says the next commit
	switch n := len(w.Run.Attempts) - before; {
	case n > 0:
		say(w.Shown("from tasks", "n", n))
	case join:
		say(w.Shown("nothing joined"))
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
// removes what they have pushed, save what cannot be read here. Where nothing was pushed,
// nothing is committed.
func foldParts(ctx context.Context, w *workspace.Workspace, e *engine.Engine, warn func(error)) (metadata.Run, error) {
	f := &folding{w: w, e: e, warn: warn}
	if !f.pushed() {
		return w.Run, nil
	}
	of, err := f.list(ctx)
	if err != nil {
		return w.Run, err
	}
	var alone []string
	if lease := w.Run.Execution.Lease; lease != nil && sharedLease(lease.Owner, lease) {
		for _, part := range phases.PartsOfWave(phases.On(w.Plan, w.Run)) {
			if _, is := of[part]; !is {
				alone = append(alone, part)
				warn(fmt.Errorf("nothing was pushed of %s, so the run does the part itself when it goes on; the log of its job or task says why", part))
			}
		}
	}
	if err := f.gather(ctx, of); err != nil {
		return w.Run, err
	}
	for _, part := range alone {
		f.spent(part, workspace.SavedTask(w.Env, w.Source, w.Issue.ID, part))
	}
	if len(f.said) == 0 {
		return w.Run, f.remove(ctx, of)
	}
	if err := f.commit(ctx, "join: "+strings.Join(f.said, ", ")); err != nil {
		return w.Run, err
	}
	if err := f.remove(ctx, of); err != nil {
		warn(err) // they say nothing new, and the next job removes them
	}
	return w.Run, nil
}

// spent takes over what a task on this machine has spent on a part, and could not push.
func (f *folding) spent(part string, left *metadata.Run) {
	if left == nil {
		return
	}
	next, became, err := phases.FoldPart(f.w.Run, f.w.Repo.Tip(), f.next, part, *left)
	if err != nil || became == phases.NothingFolded { // it is of another run, or was pushed
		return
	}
	if next = phases.RefusePart(f.next, next, "it was not pushed"); f.misfit(next) == nil {
		f.next, f.said = next, append(f.said, part+": "+string(phases.VoidFolded))
	}
}

// gather puts together what machines have pushed. What cannot be fetched alone, or read here, is taken out of the
// refs: what nobody has read is not removed.
func (f *folding) gather(ctx context.Context, of map[string]git.Ref) error {
	f.next, f.files = f.w.Run, map[string][]byte{}
	for _, part := range slices.Sorted(maps.Keys(of)) {
		r := of[part]
		if _, why := f.w.Git().Exchange(ctx, git.FetchArgs(), "+"+r.Name+":"+r.Name); why != nil {
			if _, err := f.list(ctx); err != nil { // origin cannot be reached at all
				return fmt.Errorf("fetch what another machine has done of %s: %w", part, err)
			}
			f.warn(fmt.Errorf("what another machine has done of %s cannot be fetched, so the part is done again; once nobody needs it any more, remove it with: git push origin :%s: %w", part, r.Name, why))
			delete(of, part)
			continue
		}
		why, err := f.take(ctx, part, r)
		if err != nil {
			return err
		}
		if why != nil {
			f.warn(fmt.Errorf("what another machine has done of %s is not taken: %w", part, why))
		}
		if errors.As(why, new(*metadata.NewerError)) {
			delete(of, part)
		}
	}
	return nil
}

// commit commits the record with the work of the parts.
func (f *folding) commit(ctx context.Context, subject string) error {
	next := phases.Touch(f.next, f.e.Now())
	if err := f.e.Note(ctx, next, subject, engine.BranchCommit{Files: f.files, Parents: f.heads}); err != nil {
		return err
	}
	f.w.Run, f.w.Elsewhere = next, len(next.Attempts)
	f.e.Elsewhere = f.w.Elsewhere // the sessions are not on this machine
	return nil
}

// take takes what a machine has pushed of a part. Why says why it does not count, or does
// so only as something that was spent; an error, that it is not known. What one machine has
// pushed never keeps out what others have.
func (f *folding) take(ctx context.Context, part string, r git.Ref) (why, err error) {
	theirs, why := f.record(ctx, r)
	if why != nil {
		return why, nil
	}
	next, became, why := phases.FoldPart(f.w.Run, f.w.Repo.Tip(), f.next, part, theirs)
	if why != nil || became == phases.NothingFolded {
		return why, nil
	}
	var files map[string][]byte
	head := "" // the commit with the code; empty: the part has changed none
	if lane := next.Phase(part).Lane; lane != nil {
		head = lane.Head
	}
	if became == phases.VoidFolded {
		why = errors.New("the run has gone another way meanwhile; only what it has spent counts")
	} else if why = f.misfit(next); why == nil {
		files, why = f.folder(ctx, part, r)
	}
	if why == nil && head != "" {
		if why, err = f.unfit(ctx, part, head); err != nil {
			return nil, err
		}
	}
	if why != nil && became == phases.TakenFolded { // it is done again
		next, became = phases.RefusePart(f.next, next, why.Error()), phases.VoidFolded
	}
	if wrong := f.misfit(next); wrong != nil {
		return wrong, nil
	}
	f.next, f.said = next, append(f.said, part+": "+string(became))
	if became == phases.TakenFolded {
		maps.Copy(f.files, files)
		if head != "" {
			f.heads = append(f.heads, head)
		}
	}
	return why, nil
}

// misfit says why a record cannot follow on that of the run.
func (f *folding) misfit(next metadata.Run) error {
	next = phases.Touch(next, f.e.Now())
	return cmp.Or(metadata.CheckNext(f.w.Run, next), next.Check())
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
	if other := slices.Concat(sorted.Undo, sorted.Opened, sorted.Artifacts); len(other) > 0 {
		return fmt.Errorf("it changes %s, which the phase may not", phases.Printable(other[0])), nil
	}
	found := sorted.Over
	if found == "" && len(sorted.Tree) > 0 {
		staged, err := f.e.Tree.Stage(ctx, sorted.Tree...)
		if err != nil {
			return nil, err
		}
		if found, err = f.e.CheckStaged(ctx, may, f.e.Plan.Secrets.Allow, staged); err != nil {
			return nil, err
		}
	}
	if found != "" {
		why = errors.New(found.In(prompts.Words("en")))
	}
	return why, nil
}

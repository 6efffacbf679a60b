package bot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/prompts"
)

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
	for _, part := range phases.PartsOfWave(w.Plan, w.Run) {
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
	head := headOf(next, part)
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

// headOf gives the commit with the code of a part; "" if it has changed none.
func headOf(run metadata.Run, part string) string {
	if lane := run.Phase(part).Lane; lane != nil {
		return lane.Head
	}
	return ""
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
	may := phases.BoundaryOf(f.w.Plan, f.next, phases.Decision{Do: phases.DoExecute, Phase: part})
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

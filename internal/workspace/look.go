package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/issue"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/prompts"
)

// Recorded is a run as its branch has it, opened for reading only.
type Recorded struct {
	Definition
	Env    environ.Env // of who looks
	Source *git.Source
	Issue  issue.Issue
	Run    metadata.Run
	Gone   bool // its branch is: this is the record that is kept of it
}

// Catalogue has the words of the language of the run.
func (r *Recorded) Catalogue() prompts.Catalogue { return prompts.Words(r.Run.Language) }

// Look reads a run without taking it: another process may be at work on it. No id: the run at hand.
func Look(ctx context.Context, env environ.Env, repo, id string) (*Recorded, error) {
	if id != "" {
		if err := issue.CheckID(id); err != nil {
			return nil, err
		}
	}
	src, err := git.Find(ctx, repo)
	if err != nil {
		return nil, err
	}
	if id == "" {
		if id, err = CurrentRun(ctx, env, src); err != nil {
			return nil, err
		}
	}
	r, err := LookAt(ctx, env, src, id)
	if err != nil || !r.Run.Execution.Push || r.AtWork() > 0 {
		return r, err
	}
	further, err := r.Further(ctx)
	switch {
	case err != nil:
		_, _ = fmt.Fprintf(env.Stderr, "reprise: %v; this is the run as of %s UTC\n", err, r.Run.UpdatedAt.UTC().Format("2006-01-02 15:04"))
	case further != r:
		_, _ = fmt.Fprintf(env.Stderr, "reprise: origin has the run further than branch %s here: this is the run as it is there (git fetch origin brings its commits)\n", r.Run.BranchName)
	}
	return further, ctx.Err()
}

// AtWork gives the process on this machine that works on the run; 0: none does.
func (r *Recorded) AtWork() int {
	root, err := HomeFolder(r.Env, r.Source, r.Run.IssueNumber)
	if err != nil {
		return 0
	}
	return folders.Holder(root)
}

// LookAt reads the run of an issue in a repository.
func LookAt(ctx context.Context, env environ.Env, src *git.Source, id string) (*Recorded, error) {
	r := &Recorded{Env: env, Source: src}
	name := phases.RecordFile(id)
	read, done, err := r.reader(ctx, id)
	if err != nil {
		return nil, err
	}
	defer done()
	data, err := read(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, noRun(ctx, env, src, id)
	}
	if err != nil {
		return nil, err
	}
	if r.Run, err = metadata.ParseOf(id, data, env.Branch(id)+":"+name); err != nil {
		return nil, err
	}
	r.preferLocal(id)
	r.Definition, r.Issue, err = thaw(r.Run, read)
	return r, err
}

// reader gives how files of a run's branch are read: of the branch here, else of the one on origin now (or as fetched
// last, if origin does not answer), else of the record that is kept of a run whose branch is gone.
func (r *Recorded) reader(ctx context.Context, id string) (read func(string) ([]byte, error), done func(), err error) {
	branch := r.Env.Branch(id)
	here := RecordReader(ctx, r.Source, branch, id)
	if _, err := here(phases.RecordFile(id)); !errors.Is(err, fs.ErrNotExist) {
		return here, func() {}, nil
	}
	kept := func(name string) ([]byte, error) {
		r.Gone = true
		return r.Source.ReadFile(ctx, KeptRef(id), name)
	}
	if r.Source.RemoteURL == "" {
		return kept, func() {}, nil
	}
	there, err := r.Source.Peek(ctx, branch, phases.RecordName(id))
	if errors.Is(err, fs.ErrNotExist) {
		return kept, func() {}, nil
	}
	if err != nil && ctx.Err() == nil {
		_, _ = fmt.Fprintf(r.Env.Stderr, "reprise: %v; what is shown was fetched earlier, if anything\n", err)
		return here, func() {}, nil
	}
	if err != nil {
		return nil, nil, err
	}
	far := RecordReader(ctx, there.Source, branch, id)
	return func(name string) ([]byte, error) {
		data, err := far(name)
		if errors.Is(err, fs.ErrNotExist) { // what was taken off the branch may be kept here alone
			data, err = r.Source.ReadFile(ctx, KeptRef(id), name)
		}
		return data, err
	}, there.Close, nil
}

// preferLocal takes the record from the run's folder on this machine if that is newer: the user's branch is not
// moved along while it is checked out.
func (r *Recorded) preferLocal(id string) {
	here, root := Further(r.Env, r.Source, id, r.Run)
	if here == nil {
		return
	}
	_, _ = fmt.Fprintf(r.Env.Stderr, "reprise: branch %s of this repository is behind the run; this is the run as it is in %s\n", r.Run.BranchName, filepath.Join(root, "tree"))
	r.Run = *here
}

// Further gives the record in the run's folder on this machine, and that folder, if it is further than the given one.
func Further(env environ.Env, src *git.Source, id string, than metadata.Run) (*metadata.Run, string) {
	root, err := HomeFolder(env, src, id)
	if err != nil {
		return nil, "" // then nothing of the run is here
	}
	here := savedRun(root, id)
	if here == nil || here.Execution.ID != than.Execution.ID || here.Pipeline.Digest != than.Pipeline.Digest {
		return nil, root
	}
	committed := here.Revision
	if n := len(here.Attempts); n > 0 && here.Attempts[n-1].Status == metadata.Started {
		committed-- // that it began is in no commit yet
	}
	if committed <= than.Revision {
		return nil, root
	}
	return here, root
}

// NoRunError says that an issue has no run.
type NoRunError struct{ error }

// Unwrap returns the mistake that it is.
func (e *NoRunError) Unwrap() error { return e.error }

// noRun says that an issue has no run that could go on, and what there is.
func noRun(ctx context.Context, env environ.Env, src *git.Source, id string) error {
	if _, err := src.ReadFile(ctx, KeptRef(id), phases.RecordFile(id)); err == nil {
		return &NoRunError{exit.Usagef("the branch %s is gone, and of its run only the record is kept, which reprise status --issue %s shows; begin another one with: reprise run --issue-file FILE", env.Branch(id), id)}
	}
	ids, err := RunIDs(ctx, src, BranchesHere, env.Prefix())
	if err != nil || len(ids) == 0 {
		return &NoRunError{exit.Usagef("there is no run for issue %s in this repository; start one with: reprise run --issue-file FILE", id)}
	}
	return &NoRunError{exit.Usagef("there is no run for issue %s in this repository; there are: %s", id, strings.Join(ids, ", "))}
}

// RunIDs lists the issues that have a branch named prefix and id in a folder of refs, in the order of the names.
func RunIDs(ctx context.Context, src *git.Source, in, prefix string) (ids []string, err error) {
	folder, _ := path.Split(prefix) // a prefix may end within a name, which git lists no branches by
	branches, err := src.Refs(ctx, in+folder)
	for _, b := range branches {
		if id, ok := strings.CutPrefix(b.Name, in+prefix); ok && metadata.CheckID(id) == nil {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids, err
}

// AmbiguousRun says that a command does not name a run, and that there are several.
type AmbiguousRun struct {
	Src *git.Source
	Ids []string
}

// Error names the runs.
func (s AmbiguousRun) Error() string {
	return "which issue? Give --issue ID; there are runs of: " + strings.Join(s.Ids, ", ")
}

// CurrentRun gives the id of the run that is meant by no name: whose branch is checked out, else the only one here or,
// where none is here, on origin as it was fetched last.
func CurrentRun(ctx context.Context, env environ.Env, src *git.Source) (string, error) {
	ids, err := RunIDs(ctx, src, BranchesHere, env.Prefix())
	if err == nil && len(ids) == 0 {
		ids, err = RunIDs(ctx, src, BranchesAfar, env.Prefix())
	}
	if err != nil {
		return "", err
	}
	for _, id := range ids {
		if env.Branch(id) == src.Branch {
			return id, nil
		}
	}
	switch len(ids) {
	case 0:
		return "", exit.Usagef("there is no run in this repository; start one with: reprise run --issue-file FILE, or name one that only origin has with --issue ID")
	case 1:
		return ids[0], nil
	}
	return "", exit.UsageError{Err: AmbiguousRun{src, ids}}
}

// InsideRun gives the path of a file below the run's folder, as the branch has it, or "".
func (r *Recorded) InsideRun(full string) (string, error) {
	tops, err := r.tops()
	if err != nil {
		return "", err
	}
	for _, top := range tops {
		rel, err := filepath.Rel(top, full)
		if err == nil && strings.HasPrefix(filepath.ToSlash(rel), phases.Folder(r.Issue.ID)+"/") {
			return filepath.ToSlash(rel), nil
		}
	}
	return "", nil
}

// LinkTo gives the symbolic link that an absolute, clean path leads through in the run's or user's tree, and that tree.
func (r *Recorded) LinkTo(full string) (link, top string, err error) {
	tops, err := r.tops()
	for _, top := range tops {
		if link := folders.LinkBelow(top, full); link != "" {
			return link, top, nil
		}
	}
	return "", "", err
}

// tops gives the folders that may have the files of the run: its own work tree, and that of the user.
func (r *Recorded) tops() ([]string, error) {
	root, err := HomeFolder(r.Env, r.Source, r.Issue.ID)
	if err != nil {
		return nil, err
	}
	return []string{filepath.Join(root, "tree"), r.Source.Dir}, nil
}

// Further gives the run as origin has it now, if it has got further there; else as it is. The error says why origin
// could not be asked.
func (r *Recorded) Further(ctx context.Context) (*Recorded, error) {
	there, err := r.Source.Peek(ctx, r.Run.BranchName, phases.RecordName(r.Run.IssueNumber))
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil // it has no such branch
	}
	if err != nil {
		return r, err
	}
	defer there.Close()
	read := RecordReader(ctx, there.Source, r.Run.BranchName, r.Run.IssueNumber)
	data, err := read(phases.RecordFile(r.Run.IssueNumber))
	if err != nil {
		return r, nil
	}
	next := &Recorded{Env: r.Env, Source: r.Source}
	if next.Run, err = metadata.ParseOf(r.Run.IssueNumber, data, r.Run.BranchName); err != nil || next.Run.Revision <= r.Run.Revision {
		return r, nil
	}
	if next.Definition, next.Issue, err = thaw(next.Run, read); err != nil {
		return r, nil
	}
	return next, nil
}

// The trailers of a commit that say which attempt, and which phase, it is of.
const (
	AttemptTrailer = "Reprise-Attempt"
	PhaseTrailer   = "Reprise-Phase"
)

// Patches gives what the commits with a trailer changed, the oldest first, but for record and definition. The error
// wraps fs.ErrNotExist where the commits are not in this repository.
func (r *Recorded) Patches(ctx context.Context, trailer string) ([]git.CommitPatch, error) {
	return r.Source.Patches(ctx, r.Run.BaseCommit, r.Ref(), trailer, definedBy(r.Run.IssueNumber)...)
}

// Change gives what the whole run changed besides its own folder. The error is as with Patches.
func (r *Recorded) Change(ctx context.Context) (git.CommitPatch, error) {
	return r.Source.Difference(ctx, r.Run.BaseCommit, r.Ref(), path.Dir(phases.Folder(r.Run.IssueNumber)))
}

// Changed counts what Change gives.
func (r *Recorded) Changed(ctx context.Context) ([]git.ChangedFile, error) {
	return r.Source.Changed(ctx, r.Run.BaseCommit, r.Ref(), path.Dir(phases.Folder(r.Run.IssueNumber)))
}

// Ref names what has the commits of the run: its branch or, where that is gone, the kept record.
func (r *Recorded) Ref() string {
	if r.Gone {
		return KeptRef(r.Run.IssueNumber)
	}
	return r.Run.BranchName
}

// Saved gives the record of a run as this machine has saved it last; nil if there is none.
func Saved(env environ.Env, src *git.Source, id string) *metadata.Run {
	root, err := HomeFolder(env, src, id)
	if err != nil {
		return nil
	}
	return savedRun(root, id)
}

// SavedTask is Saved for a task of a part that no process is at work on.
func SavedTask(env environ.Env, src *git.Source, id, part string) *metadata.Run {
	root, err := HomeFolder(env, src, id+"."+part)
	if err != nil || folders.Holder(root) != 0 {
		return nil
	}
	return savedRun(root, id)
}

// Worker names this machine in the leases of runs of a repository, always in the same way.
func Worker(env environ.Env, src *git.Source) (string, error) {
	file, err := HomeFolder(env, src, ".worker") // which is no id
	if err == nil {
		err = os.MkdirAll(filepath.Dir(file), 0o700)
	}
	if err != nil {
		return "", err
	}
	id, none := os.ReadFile(file)
	if none != nil {
		id = []byte(uuid.NewString())
		err = os.WriteFile(file, id, 0o600)
	}
	host, _ := os.Hostname() // for people
	return fmt.Sprintf("reprise work on %s (%.8s)", text.Flat(host), id), err
}

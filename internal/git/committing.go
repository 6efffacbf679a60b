package git

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Commit makes one commit on the tip, moves the branch to it here, at the remote and in the user's repository, and
// returns its hash. What is not staged stays uncommitted. If the remote's branch went on without touching the state
// folder or a path of this run, the commit is made again on top of that, the tree follows, and the hash is the new one's.
//
// An error with an empty hash left branch and tree as they were. One with a hash comes after the commit was made: a
// *PushError (the next commit pushes it), a *Moved (it stays here; see Options.TakeOther), or a tree not written to.
func (r *Repo) Commit(ctx context.Context, c Commit) (id string, err error) {
	if c.Shelve && r.shelf != "" {
		return r.tip, nil
	}
	defer func() {
		if id == "" {
			wrap(&err, "commit")
		}
	}()
	rev, err := r.plan(ctx, c)
	if err == nil && r.besides(c) {
		return r.tip, r.commitAside(ctx, c, rev)
	}
	record := r.Record()
	if err == nil && c.Shelve {
		record, err = r.keep(ctx, record)
	}
	if err == nil {
		err = r.leadOn(ctx, &rev)
	}
	if err == nil {
		err = r.keepLarge(ctx, c.Stage.changes())
	}
	if err == nil {
		err = r.release(rev.ops)
	}
	if err == nil {
		rev, err = r.withStatement(ctx, rev, r.tip)
	}
	if err != nil {
		return "", err
	}
	if id, err = r.makeCommit(ctx, r.ref, rev, r.tip); err != nil {
		return "", errors.Join(err, r.sweep())
	}
	r.tip, r.localTip, r.isNew = id, id, false
	if r.shelf = ""; c.Shelve {
		r.shelf = record
	}
	if err = errors.Join(r.readTip(ctx), r.writeState(ctx, c, rev.ops)); err != nil {
		err = fmt.Errorf("commit %s was made, but: %w", short(id), err)
	}
	if r.opt.DryRun {
		return id, err
	}
	if r.remote != nil {
		r.unpushed = append(r.unpushed, rev)
	}
	err = errors.Join(err, r.publish(ctx)) // it is there all the same
	return r.tip, err
}

// blobsOf are the objects that ops set and that are not sent with them.
func blobsOf(ops []op) (ids []string) {
	for _, o := range ops {
		if o.kind == 'M' && !o.inline {
			ids = append(ids, o.id)
		}
	}
	return ids
}

func (r *Repo) besides(c Commit) bool { return c.Aside && r.shelf != "" && r.opt.Keep != "" }

// commitAside makes a commit on the record that is kept.
func (r *Repo) commitAside(ctx context.Context, c Commit, rev revision) (err error) {
	defer wrap(&err, "commit")
	if rev, err = r.withStatement(ctx, rev, r.shelf); err != nil {
		return err
	}
	id, err := r.makeCommit(ctx, "refs/reprise/aside", rev, r.shelf)
	if err == nil {
		_, err = r.keep(ctx, id)
	}
	if err != nil {
		return err
	}
	r.shelf = id
	return errors.Join(r.readTip(ctx), r.writeState(ctx, c, rev.ops))
}

// leadOn has a revision follow the commit with the state folder, if the tip's history lacks that.
func (r *Repo) leadOn(ctx context.Context, rev *revision) error {
	if r.shelf == "" {
		return nil
	}
	if is, err := r.contains(ctx, r.tip, r.shelf); is || err != nil {
		return err
	}
	rev.first = r.shelf
	return nil
}

// plan checks everything that can be wrong with c, and gives the revision that it makes.
func (r *Repo) plan(ctx context.Context, c Commit) (revision, error) {
	if err := checkMessage(c); err != nil {
		return revision{}, err
	}
	if c.Stage != nil && c.Stage.tip != r.tip {
		return revision{}, fmt.Errorf("what is staged leads on from %s, but the tip is %s: stage it anew", short(c.Stage.tip), short(r.tip))
	}
	state, err := r.stateFiles(ctx)
	if err != nil {
		return revision{}, err
	}
	if c.Shelve {
		if r.isNew || len(state) == 0 {
			return revision{}, fmt.Errorf("there is no %s to take off the branch", r.opt.State)
		}
		return revision{message: strings.TrimRight(c.Message, "\n") + "\n" + recordNote(r.tip), time: c.Time, ops: r.takeOff()}, nil
	}
	has := state
	if r.shelf != "" && !r.besides(c) {
		has = nil
	}
	ops, err := r.stateOps(c, has, state)
	if err != nil {
		return revision{}, err
	}
	ops = deletionsFirst(append(slices.DeleteFunc(c.Stage.changes(), func(o op) bool { return Under(o.path, r.opt.State) }), ops...))
	return revision{message: c.Message, time: c.Time, ops: ops, parents: c.Parents, states: c.States}, nil
}

// Stage takes paths as they are now; what is gone will be removed from the branch. An error leaves nothing staged.
func (r *Repo) Stage(ctx context.Context, paths []string) (_ *Stage, err error) {
	defer wrap(&err, "stage the changes")
	s := &Stage{Paths: paths, tip: r.tip}
	code, err := r.sortPaths(paths)
	if err != nil {
		return nil, err
	}
	s.ops, err = r.stageCode(ctx, code)
	return s, err
}

// EachStaged gives f each path of a stage as it will be committed, and what a new pointer of Git LFS stands for,
// which is uploaded, until an error. Data is read one by one: not all of it is in memory at once.
func (r *Repo) EachStaged(ctx context.Context, s *Stage, f func(Staged) error) error {
	var blobs []op
	for _, o := range s.changes() {
		if o.kind == 'M' {
			blobs = append(blobs, o)
		} else if err := f(stagedOf(o)); err != nil {
			return err
		}
	}
	err := r.eachBlob(ctx, blobs, func(o op, data []byte) error {
		one := stagedOf(o)
		one.Data = data
		return f(one)
	})
	if err != nil {
		return err
	}
	return r.eachLarge(ctx, s.changes(), func(p pointer, data []byte) error {
		one := stagedOf(p.op)
		one.Data = data
		return f(one)
	})
}

// MoveTo makes the work tree equal to a commit, then the tip. Uncommitted work is lost, but for ignored files.
func (r *Repo) MoveTo(ctx context.Context, commit string) error {
	if err := r.standing.Still(); err != nil {
		return err
	}
	r.tip, r.isNew = commit, false
	if err := r.reset(ctx); err != nil {
		return err
	}
	return errors.Join(r.fillLarge(ctx), r.setLocal(ctx))
}

// Keep commits what is staged, but for the state folder, on a parent; branch and tree stay. "" if nothing is staged.
func (r *Repo) Keep(ctx context.Context, s *Stage, parent, message string, at time.Time) (string, error) {
	ops := slices.DeleteFunc(s.changes(), func(o op) bool { return Under(o.path, r.opt.State) })
	if len(ops) == 0 {
		return "", nil
	}
	if err := errors.Join(r.keepLarge(ctx, s.changes()), r.release(ops)); err != nil {
		return "", err
	}
	rev := revision{message: message, time: at, tree: r.tip, ops: append(r.takeOff(), ops...)}
	return r.makeCommit(ctx, besideRef, rev, parent)
}

// Commit is what goes into one commit: first what is staged, then Moves, then Files.
type Commit struct {
	Message string            // with trailers, UTF-8
	Files   map[string][]byte // files of the state folder and their content; written to the tree as well
	Stage   *Stage            // of the tip; nil: nothing
	Moves   map[string]string // files or folders of the state folder, from and to
	Gone    []string          // files and folders of the state folder, or all of it, that are removed, where they are
	Parents []string          // besides the tip: commits that are merged, or whose work is kept
	Time    time.Time         // of author and committer, recorded in UTC

	// Shelve takes the state folder off the branch, with a trailer that says so. It stays in the work tree and in the
	// commit before, which Options.Keep names and reads go to; the next commit without Shelve puts it back. It goes with
	// nothing else, and does nothing where the folder is off already.
	Shelve bool

	// Aside commits on the record that Options.Keep names, not on the branch, where the state folder is off that;
	// else as usual. It has Files alone, and comes first, here as at the remote, or not at all.
	Aside bool

	// States is where the state folder gets the statement on the run, made with the commit, and with it again; "": nowhere.
	States string
}

// Stage is what a commit takes from the work tree, as objects of git: exactly what was checked is committed,
// whatever happens to the files meanwhile. It holds until the next one, and the next commit.
type Stage struct {
	Paths []string // whose changes it has

	tip string // that it leads on from
	ops []op
}

func (s *Stage) changes() []op {
	if s == nil {
		return nil
	}
	return slices.Clone(s.ops)
}

// Staged is one path as it is about to be committed.
type Staged struct {
	Path string
	Type Type // None if it is to be removed
	Was  Type // what the tip has; None if it has nothing there
	Data []byte
}

func stagedOf(o op) Staged {
	s := Staged{Path: o.path}
	if o.mode != "" {
		s.Type = typeOfMode(o.mode)
	}
	if strings.Trim(o.was, "0") != "" {
		s.Was = typeOfMode(o.was)
	}
	return s
}

// Sizes in bytes: of the largest file of the state folder, and of the largest that can be judged.
const (
	maxState  = 64 << 20
	maxJudged = maxState
)

func checkMessage(c Commit) error {
	switch {
	case strings.TrimSpace(c.Message) == "":
		return errors.New("the message is empty")
	case strings.Contains(c.Message, "\x00"):
		return errors.New("the message holds a zero byte")
	case c.Time.IsZero():
		return errors.New("the time is missing")
	}
	return nil
}

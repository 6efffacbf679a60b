package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"time"
)

// Commit is what one commit takes along. Moves come first, then Files, then
// Paths.
type Commit struct {
	Message string            // with trailers, UTF-8
	Files   map[string][]byte // files of the state folder and their content; written to the tree as well
	Paths   []string          // changed paths of the tree; one that is gone is removed from the branch
	Moves   map[string]string // files or folders of the state folder, from and to
	Time    time.Time         // of author and committer, recorded in UTC

	// Anew says that the state folder has Files and nothing else: what the tip
	// has there is removed. It goes with neither Moves nor Paths of that folder.
	Anew bool

	// Judge, if not nil, is asked about each of Paths that is there, as it is
	// about to be committed: what it is given is the object, not the file, which
	// somebody may have changed since it was looked at. If it returns an error,
	// that is the error of Commit, and nothing is committed.
	Judge func(ctx context.Context, s Staged) error
}

// Staged is one path as it is about to be committed.
type Staged struct {
	Path string
	Type Type
	Was  Type // what the tip has; None if it has nothing there
	Data []byte
}

// Commit makes one commit on the tip, moves the branch to it here, at the
// remote and in the user's repository, and returns its hash. Paths that are not
// named stay uncommitted.
//
// When the branch at the remote went on and what came touches neither the
// state folder nor a path of this run, the commit is made again on top of that
// and the tree brought up to date; the hash is then that of the new one.
//
// An error with an empty hash left branch and tree as they were. An error with
// a hash comes after the commit was made here: a *PushError (it is pushed with
// the next commit), a *Moved (it stays here; see Adopt), or a work tree that
// could not be written to.
func (r *Repo) Commit(ctx context.Context, c Commit) (string, error) {
	rev, err := r.plan(ctx, c)
	var pointers []pointer
	if err == nil {
		pointers, err = r.staged(ctx, rev.ops)
	}
	if err == nil && c.Judge != nil {
		err = errors.Join(r.judge(ctx, c, rev.ops), r.judgeLarge(ctx, c, pointers))
	}
	if err == nil {
		err = r.keepLarge(pointers)
	}
	if err != nil {
		return "", fmt.Errorf("commit: %w", err)
	}
	id, err := r.commitRevision(ctx, rev)
	if err != nil {
		return "", fmt.Errorf("commit: %w", err)
	}
	if err := r.writeState(c); err != nil {
		return id, fmt.Errorf("commit %s was made, but: %w", short(id), err)
	}
	if r.opt.Scratch {
		return id, nil
	}
	if r.remote != nil {
		r.unpushed = append(r.unpushed, rev)
	}
	err = r.publish(ctx)
	return r.tip, err
}

// commitRevision makes the commit and takes it as the tip.
func (r *Repo) commitRevision(ctx context.Context, rev revision) (string, error) {
	id, err := r.fastImport(ctx, r.tip, []revision{rev}, false)
	if err != nil {
		// A command that was cut off may have come as far as moving the ref.
		made, e := r.readOwn()
		if e != nil || made == r.own {
			return "", errors.Join(err, e, r.sweep())
		}
		id = made
	}
	r.takeAlong(rev.ops, id)
	r.tip, r.own, r.isNew = id, id, false
	if rev.code {
		r.dirty = false
	}
	r.apply(rev.ops)
	return id, nil
}

// takeAlong brings what is known about the tip to a commit that ops lead to.
func (r *Repo) takeAlong(ops []op, commit string) {
	if r.listed.tip == r.tip {
		r.listed.apply(ops, r.opt.State, commit)
	}
	if r.differ != nil && r.differ.tip == r.tip {
		r.differ.follow(ops, commit)
	}
	if r.compared != nil && r.compared.tip == r.tip {
		r.compared.follow(ops, commit)
	}
}

// plan checks everything that can be wrong with c, and says what it comes to.
// On success the index holds the code of c; on failure it is as before.
func (r *Repo) plan(ctx context.Context, c Commit) (revision, error) {
	if err := checkMessage(c); err != nil {
		return revision{}, err
	}
	ops, err := r.stateOps(c)
	if err != nil {
		return revision{}, err
	}
	code, err := r.sortPaths(c.Paths)
	if err != nil {
		return revision{}, err
	}
	more, err := r.stage(ctx, code)
	if err != nil {
		return revision{}, err
	}
	return revision{message: c.Message, time: c.Time, ops: append(ops, more...), code: len(code.take)+len(code.drop) > 0}, nil
}

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

// stateOps is what c does to the state folder.
func (r *Repo) stateOps(c Commit) ([]op, error) {
	var ops []op
	if c.Anew {
		for _, p := range slices.Sorted(maps.Keys(r.state)) {
			ops = append(ops, op{kind: 'D', path: p})
		}
	}
	for _, from := range slices.Sorted(maps.Keys(c.Moves)) {
		to := c.Moves[from]
		if err := errors.Join(r.checkState(from), r.checkState(to)); err != nil {
			return nil, err
		}
		switch {
		case !r.hasState(from):
			return nil, fmt.Errorf("move %s to %s: the newest commit has no such file", from, to)
		case r.hasState(to):
			return nil, fmt.Errorf("move %s to %s: the newest commit has a file there already", from, to)
		case under(to, from) || under(from, to):
			return nil, fmt.Errorf("move %s to %s: one lies in the other", from, to)
		}
		ops = append(ops, op{kind: 'R', path: from, to: to})
	}
	for _, p := range slices.Sorted(maps.Keys(c.Files)) {
		if err := r.checkState(p); err != nil {
			return nil, err
		}
		ops = append(ops, op{kind: 'M', path: p, mode: "100644", inline: true, data: c.Files[p], id: r.blobID(c.Files[p])})
	}
	for _, p := range c.Paths {
		if _, given := c.Files[p]; given || !under(p, r.opt.State) {
			continue
		}
		o, err := r.statePath(p)
		if err != nil {
			return nil, err
		}
		ops = append(ops, o)
	}
	return ops, nil
}

func (r *Repo) checkState(p string) error {
	if err := checkPath(p); err != nil {
		return err
	}
	if !under(p, r.opt.State) || p == r.opt.State {
		return fmt.Errorf("%s does not lie in the state folder %s", p, r.opt.State)
	}
	return nil
}

func (r *Repo) hasState(p string) bool {
	for name := range r.state {
		if under(name, p) {
			return true
		}
	}
	return false
}

// statePath takes a file of the state folder as the tree has it.
func (r *Repo) statePath(p string) (op, error) {
	if err := r.checkState(p); err != nil {
		return op{}, err
	}
	if beyond(r.top, p) {
		return op{kind: 'D', path: p}, nil
	}
	info, err := r.top.Lstat(p)
	if errors.Is(err, fs.ErrNotExist) {
		return op{kind: 'D', path: p}, nil
	}
	if err != nil {
		return op{}, err
	}
	data, err := r.readState(p)
	if err != nil {
		return op{}, fmt.Errorf("take %s along: %w", p, err)
	}
	mode := "100644"
	if typeOf(info) == Executable {
		mode = "100755"
	}
	return op{kind: 'M', path: p, mode: mode, was: r.state[p].mode, inline: true, data: data, id: r.blobID(data)}, nil
}

// apply brings what is known about the state folder up to a commit.
func (r *Repo) apply(ops []op) {
	for _, o := range ops {
		switch {
		case !under(o.path, r.opt.State):
		case o.kind == 'M':
			r.state[o.path] = entry{o.mode, o.id}
			r.stale[o.path] = struct{}{}
		case o.kind == 'D':
			delete(r.state, o.path)
			r.stale[o.path] = struct{}{}
		case o.kind == 'R':
			r.applyMove(o.path, o.to)
		}
	}
}

func (r *Repo) applyMove(from, to string) {
	for p, e := range maps.Clone(r.state) {
		if under(p, from) {
			moved := to + strings.TrimPrefix(p, from)
			delete(r.state, p)
			r.state[moved] = e
			r.stale[p], r.stale[moved] = struct{}{}, struct{}{}
		}
	}
}

// writeState does in the tree what the commit did to the state folder.
func (r *Repo) writeState(c Commit) error {
	if c.Anew {
		if err := removeAll(r.top, r.opt.State); err != nil {
			return err
		}
	}
	for _, from := range slices.Sorted(maps.Keys(c.Moves)) {
		to := c.Moves[from]
		if beyond(r.top, from) {
			continue // gone from the tree, which shows as a change
		}
		if err := makeParents(r.top, to); err != nil {
			return err
		}
		if err := r.top.Rename(from, to); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("move %s to %s: %w", from, to, err)
		}
	}
	for _, p := range slices.Sorted(maps.Keys(c.Files)) {
		if err := writeFile(r.top, p, c.Files[p], 0o644); err != nil {
			return err
		}
	}
	return nil
}

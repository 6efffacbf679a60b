//go:build slow || e2e

package main

import (
	"cmp"
	"context"
	"crypto/sha1"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
)

// memOrigin is a branch in memory that several machines push to: it is taken
// from where a pusher saw it, or not at all.
type memOrigin struct {
	mu       sync.Mutex
	commits  map[string]*memCommit
	base     string // the commit that the branch starts from
	tip      string // "" before the first push
	accepted []string
	pushed   func(by *memMachine, c *memCommit) // called with every commit that is taken
}

type memCommit struct {
	id, parent string
	files      map[string]string
	message    string
	at         time.Time
}

func newOrigin(base string, files map[string]string) *memOrigin {
	o := &memOrigin{commits: map[string]*memCommit{}, base: base}
	o.commits[base] = &memCommit{id: base, files: files}
	return o
}

// add makes a commit, which is on no branch yet. The caller holds the lock.
func (o *memOrigin) add(parent string, files map[string]string, message string, at time.Time) *memCommit {
	c := &memCommit{parent: parent, files: files, message: message, at: at}
	sum := sha1.New()
	fmt.Fprintln(sum, parent, message, at.UnixNano())
	for _, name := range slices.Sorted(maps.Keys(files)) {
		fmt.Fprintln(sum, name, files[name])
	}
	c.id = fmt.Sprintf("%x", sum.Sum(nil))
	o.commits[c.id] = c
	return c
}

// serve answers as the forge does that has the branch.
func (o *memOrigin) serve(w http.ResponseWriter, name string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	text, ok := "", false
	if o.tip != "" {
		text, ok = o.commits[o.tip].files[name]
	}
	if !ok {
		w.WriteHeader(http.StatusNotFound)
		_, _ = w.Write([]byte(`{"message": "Not Found"}`))
		return
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"type": "file", "encoding": "base64", "size": len(text), "content": []byte(text)})
}

// contains says whether commit old is in the history of tip.
func (o *memOrigin) contains(tip, old string) bool {
	for ; tip != ""; tip = o.commits[tip].parent {
		if tip == old {
			return true
		}
	}
	return false
}

// line lists the commits from after base to tip, oldest first.
func (o *memOrigin) line(base, tip string) []*memCommit {
	var out []*memCommit
	for ; tip != "" && tip != base; tip = o.commits[tip].parent {
		out = append(out, o.commits[tip])
	}
	slices.Reverse(out)
	return out
}

// between lists the paths in which two commits differ.
func (o *memOrigin) between(a, b string) []string {
	var out []string
	x, y := o.commits[a].files, o.commits[b].files
	for name := range x {
		if v, ok := y[name]; !ok || v != x[name] {
			out = append(out, name)
		}
	}
	for name := range y {
		if _, ok := x[name]; !ok {
			out = append(out, name)
		}
	}
	return out
}

// memRepo is a workspace.Tree on such a branch: the same rules for what can be
// joined, with a work tree on disk.
type memRepo struct {
	m        *memMachine
	o        *memOrigin
	opt      git.Options
	dir      string
	tip      string
	theirs   string
	unpushed []string
	isNew    bool
}

// openMem opens the branch for a machine.
func openMem(m *memMachine, o *memOrigin, opt git.Options) (workspace.Checkout, error) {
	r := &memRepo{m: m, o: o, opt: opt, dir: filepath.Join(opt.Root, "tree")}
	if err := r.fetch(); err != nil {
		return nil, err
	}
	r.tip, r.isNew = r.theirs, r.theirs == ""
	if r.isNew {
		r.tip = o.base
	}
	if err := os.MkdirAll(r.dir, 0o755); err != nil {
		return nil, err
	}
	return r, r.Restore(context.Background())
}

func (r *memRepo) fetch() error {
	if err := r.m.enter("fetch"); err != nil {
		return err
	}
	r.o.mu.Lock()
	r.theirs = r.o.tip
	r.o.mu.Unlock()
	return r.m.leave("fetch")
}

func (r *memRepo) files() map[string]string {
	r.o.mu.Lock()
	defer r.o.mu.Unlock()
	return r.o.commits[r.tip].files
}

func (r *memRepo) Tip() string        { return r.tip }
func (r *memRepo) Record() string     { return r.tip }
func (r *memRepo) Dir() string        { return r.dir }
func (r *memRepo) New() bool          { return r.isNew }
func (r *memRepo) Leftover() string   { return "" }
func (r *memRepo) Warnings() []string { return nil }

func (r *memRepo) Unmoved() string { return "" }
func (r *memRepo) Lacks() []string { return nil }
func (r *memRepo) Close() error    { return nil }

func (r *memRepo) At(string) engine.BranchTree { return r }

func (r *memRepo) ReadFile(_ context.Context, commit, name string) ([]byte, error) {
	r.o.mu.Lock()
	defer r.o.mu.Unlock()
	text, ok := r.o.commits[commit].files[name]
	if !ok {
		return nil, &fs.PathError{Op: "read", Path: name, Err: fs.ErrNotExist}
	}
	return []byte(text), nil
}

func (r *memRepo) Recorded(context.Context, git.LogEntry) (bool, error) { return true, nil }

func (r *memRepo) SameWork(_ context.Context, one, other string) (bool, error) {
	r.o.mu.Lock()
	defer r.o.mu.Unlock()
	return !slices.ContainsFunc(r.o.between(one, other), func(name string) bool { return !strings.HasPrefix(name, r.opt.State+"/") }), nil
}

func (r *memRepo) Log(_ context.Context, from string) ([]git.LogEntry, error) {
	r.o.mu.Lock()
	defer r.o.mu.Unlock()
	var out []git.LogEntry
	for _, c := range r.o.line(from, r.tip) {
		e := git.LogEntry{Commit: c.id, Parents: []string{c.parent}}
		for line := range strings.Lines(c.message) {
			if key, value, ok := strings.Cut(strings.TrimSpace(line), ": "); ok && strings.HasPrefix(key, "Reprise-") {
				e.Trailers = append(e.Trailers, git.Trailer{Key: key, Value: value})
			}
		}
		out = append(out, e)
	}
	slices.Reverse(out)
	return out, nil
}

// onDisk is what is in the work tree.
func (r *memRepo) onDisk() (map[string]string, error) {
	out := map[string]string{}
	err := filepath.WalkDir(r.dir, func(file string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(file)
		name, _ := filepath.Rel(r.dir, file)
		out[filepath.ToSlash(name)] = string(data)
		return err
	})
	return out, err
}

func (r *memRepo) Changes(context.Context) ([]phases.Change, error) {
	now, err := r.onDisk()
	var out []phases.Change
	for _, c := range changesBetween(r.files(), now) {
		out = append(out, phaseChange(c, now))
	}
	return out, err
}

// phaseChange is a change to what is now, as the engine sees it.
func phaseChange(c git.Change, now map[string]string) phases.Change {
	return phases.Change{Path: c.Path, Kind: phases.FileKind, New: c.Was == git.None, Gone: c.Type == git.None, Size: c.Size, Holds: phases.ContentOf([]byte(now[c.Path]))}
}

func changesBetween(was, now map[string]string) []git.Change {
	var out []git.Change
	for name, text := range now {
		before, ok := was[name]
		switch {
		case !ok:
			out = append(out, git.Change{Path: name, Type: git.File, Size: int64(len(text))})
		case before != text:
			out = append(out, git.Change{Path: name, Type: git.File, Was: git.File, Size: int64(len(text))})
		}
	}
	for name := range was {
		if _, ok := now[name]; !ok {
			out = append(out, git.Change{Path: name, Was: git.File})
		}
	}
	slices.SortFunc(out, func(a, b git.Change) int { return strings.Compare(a.Path, b.Path) })
	return out
}

// memStaged is what a commit is to take of the tree.
type memStaged struct {
	r     *memRepo
	files map[string]string // of the commit
}

func (r *memRepo) Stage(_ context.Context, paths ...string) (engine.StagedTree, error) {
	files := maps.Clone(r.files())
	for _, name := range paths {
		data, err := os.ReadFile(filepath.Join(r.dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			delete(files, name)
			continue
		}
		if err != nil {
			return nil, err
		}
		files[name] = string(data)
	}
	return memStaged{r, files}, nil
}

func (s memStaged) Each(_ context.Context, f func(phases.Change, []byte) error) error {
	for _, c := range changesBetween(s.r.files(), s.files) {
		if err := f(phaseChange(c, s.files), []byte(s.files[c.Path])); err != nil {
			return err
		}
	}
	return nil
}

func (s memStaged) Read(_ context.Context, name string) ([]byte, error) {
	text, ok := s.files[name]
	if !ok {
		return nil, &fs.PathError{Op: "read", Path: name, Err: fs.ErrNotExist}
	}
	return []byte(text), nil
}

func (s memStaged) Diff(_ context.Context, from string) (string, metadata.Diff, error) {
	return s.r.diff(from, s.files)
}

func (r *memRepo) WithOthers(_ context.Context, commit, _ string) (string, error) { return commit, nil }

func (r *memRepo) WithBase(_ context.Context, commit, _, _ string) (string, error) {
	return commit, nil
}

func (r *memRepo) Diff(_ context.Context, from string) (string, metadata.Diff, error) {
	return r.diff(from, r.files())
}

func (r *memRepo) diff(from string, now map[string]string) (string, metadata.Diff, error) {
	r.o.mu.Lock()
	was := r.o.commits[from].files
	r.o.mu.Unlock()
	var text strings.Builder
	stat := metadata.Diff{}
	for _, c := range changesBetween(was, now) {
		if strings.HasPrefix(c.Path, ".reprise/") {
			continue
		}
		stat.Files, stat.Lines, stat.Added = stat.Files+1, stat.Lines+1, stat.Added+1
		fmt.Fprintf(&text, "%q %s\n%s", c.Type, c.Path, now[c.Path])
	}
	return text.String(), stat, nil
}

func (r *memRepo) Patch(ctx context.Context) ([]byte, error) {
	changes, err := r.Changes(ctx)
	return fmt.Append(nil, changes), err
}

func (r *memRepo) CopyDir(name string) string {
	return filepath.Join(filepath.Dir(r.dir), "copies", name)
}

func (r *memRepo) Copy(_ context.Context, _, name string) (func() error, error) {
	dir := r.CopyDir(name)
	return func() error { return os.RemoveAll(dir) }, os.CopyFS(dir, os.DirFS(r.dir))
}

func (r *memRepo) Paths(context.Context) ([]string, error) {
	return slices.Sorted(maps.Keys(r.files())), nil
}

func (r *memRepo) Hidden(context.Context, time.Time) ([]engine.HiddenFiles, error) { return nil, nil }

func (r *memRepo) Prepare(context.Context) error { return nil }

func (r *memRepo) Restore(_ context.Context, paths ...string) error {
	return r.restore(r.files(), func(name string) bool {
		return len(paths) == 0 || slices.ContainsFunc(paths, func(p string) bool { return name == p || strings.HasPrefix(name, p+"/") })
	})
}

func (r *memRepo) Recover(ctx context.Context, commit, exclude string) (engine.StagedTree, []string, error) {
	r.o.mu.Lock()
	files := r.o.commits[commit].files
	r.o.mu.Unlock()
	if err := r.restore(files, func(name string) bool { return !strings.HasPrefix(name, exclude+"/") }); err != nil {
		return nil, nil, err
	}
	changes, err := r.Changes(ctx)
	if err != nil {
		return nil, nil, err
	}
	var out []string
	for _, c := range changes {
		out = append(out, c.Path)
	}
	staged, err := r.Stage(ctx, out...)
	return staged, out, err
}

// restore makes the paths that fit as files has them.
func (r *memRepo) restore(files map[string]string, fits func(string) bool) error {
	now, err := r.onDisk()
	if err != nil {
		return err
	}
	for _, c := range changesBetween(files, now) {
		file := filepath.Join(r.dir, filepath.FromSlash(c.Path))
		switch {
		case !fits(c.Path):
		case c.Was == git.None:
			err = errors.Join(err, os.Remove(file))
		default:
			err = errors.Join(err, testenv.PutText(file, files[c.Path]))
		}
	}
	return err
}

// Commit makes a commit here and pushes it.
func (r *memRepo) Commit(ctx context.Context, c engine.BranchCommit) error {
	made, err := r.commit(ctx, c)
	if err != nil && made {
		return &engine.NotPushed{Err: err}
	}
	return err
}

// commit reports whether the commit was made.
func (r *memRepo) commit(ctx context.Context, c engine.BranchCommit) (bool, error) {
	files := maps.Clone(r.files())
	if s, ok := c.Staged.(memStaged); ok {
		files = maps.Clone(s.files)
	}
	if c.Take != "" {
		r.o.mu.Lock()
		code := r.o.commits[c.Take].files
		r.o.mu.Unlock()
		for _, change := range changesBetween(files, code) {
			switch body, has := code[change.Path]; {
			case strings.HasPrefix(change.Path, ".reprise/"):
			case has:
				files[change.Path] = body
				if err := testenv.PutText(filepath.Join(r.dir, change.Path), body); err != nil {
					return false, err
				}
			default:
				delete(files, change.Path)
				if err := os.Remove(filepath.Join(r.dir, change.Path)); err != nil {
					return false, err
				}
			}
		}
	}
	for from, to := range c.Moves {
		moved := false
		for name, text := range maps.Clone(files) {
			if rest, ok := strings.CutPrefix(name, from); ok && (rest == "" || rest[0] == '/') {
				delete(files, name)
				files[to+rest], moved = text, true
			}
		}
		if !moved {
			return false, fmt.Errorf("move %s to %s: the newest commit has no such file", from, to)
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(r.dir, to)), 0o755); err != nil {
			return false, err
		}
		if err := os.Rename(filepath.Join(r.dir, from), filepath.Join(r.dir, to)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return false, err
		}
	}
	for name, data := range c.Files {
		files[name] = string(data)
	}
	r.o.mu.Lock()
	made := r.o.add(r.tip, files, c.Message, c.At.UTC().Truncate(time.Second))
	r.o.mu.Unlock()
	r.tip, r.isNew, r.unpushed = made.id, false, append(r.unpushed, made.id)
	for name, data := range c.Files {
		if err := testenv.PutText(filepath.Join(r.dir, name), string(data)); err != nil {
			return true, err
		}
	}
	return true, r.push(ctx)
}

// push is what package git does: never by force, and what was refused or not
// answered is looked at before it is tried again.
func (r *memRepo) push(ctx context.Context) error {
	var last error
	for range 4 {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		err := r.pushOnce()
		if err == nil {
			r.theirs, r.unpushed = r.tip, nil
			return nil
		}
		last = &git.PushError{Branch: r.opt.Branch, Remote: "origin", Err: err}
		if err := r.fetch(); err != nil {
			return &git.PushError{Branch: r.opt.Branch, Remote: "origin", Err: err}
		}
		if done, err := r.join(); err != nil || done {
			return err
		}
	}
	return last
}

func (r *memRepo) pushOnce() error {
	if err := r.m.enter("push"); err != nil {
		return err
	}
	r.o.mu.Lock()
	taken := r.o.tip == "" || r.o.contains(r.tip, r.o.tip)
	if taken {
		for _, c := range r.o.line(cmp.Or(r.o.tip, r.o.base), r.tip) {
			r.o.accepted = append(r.o.accepted, c.id)
			r.o.pushed(r.m, c)
		}
		r.o.tip = r.tip
	}
	r.o.mu.Unlock()
	if err := r.m.leave("push"); err != nil {
		return err
	}
	if !taken {
		return errors.New("fetch first")
	}
	return nil
}

// join brings what others pushed together with what is here, as git.join does.
func (r *memRepo) join() (bool, error) {
	r.o.mu.Lock()
	defer r.o.mu.Unlock()
	switch {
	case r.theirs == r.tip:
		r.unpushed = nil
		return true, nil
	case r.theirs == "", r.o.contains(r.tip, r.theirs):
		return false, nil
	}
	moved := &git.Moved{Branch: r.opt.Branch, Local: r.tip, Other: r.theirs, Where: "origin"}
	base := r.tip
	for !r.o.contains(r.theirs, base) {
		base = r.o.commits[base].parent
	}
	came := r.o.between(base, r.theirs)
	ours := r.o.between(base, r.tip)
	if slices.ContainsFunc(came, func(p string) bool { return strings.HasPrefix(p, r.opt.State+"/") }) {
		moved.Cause, moved.Run = metadata.Because("moved_run"), true
		return false, moved
	}
	now, err := r.onDisk()
	if err != nil {
		return false, err
	}
	for _, c := range changesBetween(r.o.commits[r.tip].files, now) {
		ours = append(ours, c.Path)
	}
	if slices.ContainsFunc(came, func(p string) bool { return slices.Contains(ours, p) }) {
		moved.Cause = metadata.Because("moved_files")
		return false, moved
	}
	tip, on := r.theirs, base
	for _, c := range r.o.line(base, r.tip) {
		files := maps.Clone(r.o.commits[tip].files)
		for _, name := range r.o.between(on, c.id) {
			if text, ok := c.files[name]; ok {
				files[name] = text
			} else {
				delete(files, name)
			}
		}
		on, tip = c.id, r.o.add(tip, files, c.message, c.at).id
	}
	for _, name := range came {
		if text, ok := r.o.commits[tip].files[name]; ok {
			err = errors.Join(err, testenv.PutText(filepath.Join(r.dir, name), text))
		} else {
			err = errors.Join(err, os.Remove(filepath.Join(r.dir, name)))
		}
	}
	r.tip = tip
	if r.theirs == tip {
		r.unpushed = nil
		return true, err
	}
	return false, err
}

// FindBase finds that the base has not moved: these branches have none.
func (r *memRepo) FindBase(context.Context, string, string) (string, git.BaseState, error) {
	return r.tip, git.BaseState{}, nil
}

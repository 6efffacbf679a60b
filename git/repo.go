package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
)

// Repo is one run's branch and work tree. Its methods are not for concurrent
// use; only one Repo in all processes can be open on one root.
type Repo struct {
	opt  Options
	src  *Source
	ref  string // refs/heads/BRANCH
	dir  string // the run's own git directory
	tree string
	root *os.Root // of opt.Root
	top  *os.Root // of tree
	lock *os.File

	store *store // of objects: what is missing in a partial clone is fetched
	here  *store // the same, without asking any remote

	remote *remote // nil: nothing is fetched or pushed
	own    string  // what the own ref holds; "" before the first commit
	tip    string
	isNew  bool
	theirs string // what the remote's branch was last seen to hold; "" for no such branch
	users  string // what the user's branch was last seen to hold; "" for no such branch

	state    map[string]entry    // what tip has in the state folder
	stale    map[string]struct{} // paths of the state folder that the index does not show as in tip
	dirty    bool                // the index may hold what no commit does
	unpushed []revision          // commits of this process that the remote has not

	listed   listing           // of the tip, once it was asked for
	differ   *difference       // of the newest tip from the base, once it was asked for
	compared *comparison       // of the newest tip with another commit, once it was asked for
	lent     map[string]string // fingerprints of what Tidy has put in the place of what the tip has

	large    large
	lfs      []setting // of git-lfs, once they are known
	lacks    []string  // see Lacks
	leftover string
	warnings []string
}

// entry is a file in a commit.
type entry struct {
	mode string // as git writes it, such as 100644
	id   string // of the blob
}

// Tip returns the newest commit of the run, a full hash: for a new branch the
// commit it starts from.
func (r *Repo) Tip() string { return r.tip }

// Tree returns the absolute path of the work tree.
func (r *Repo) Tree() string { return r.tree }

// New says whether the branch existed nowhere when it was opened.
func (r *Repo) New() bool { return r.isNew }

// Leftover returns the path of a patch of what a killed process had not
// committed, or "" if there was nothing. It lies in the root and stays there.
func (r *Repo) Leftover() string { return r.leftover }

// Warnings returns what a person should know and nothing stopped for, each
// said once.
func (r *Repo) Warnings() []string { return slices.Clone(r.warnings) }

func (r *Repo) warn(format string, args ...any) { r.warnOf(fmt.Sprintf(format, args...)) }

// warnOf takes a warning, or "" for none.
func (r *Repo) warnOf(text string) {
	if text != "" && !slices.Contains(r.warnings, text) {
		r.warnings = append(r.warnings, text)
	}
}

// Close gives the root free for other processes. What is in it stays.
func (r *Repo) Close() error {
	for _, s := range []*store{r.store, r.here} {
		s.close()
	}
	for _, root := range []*os.Root{r.top, r.root} {
		if root != nil {
			root.Close()
		}
	}
	if r.lock == nil {
		return nil
	}
	lock := r.lock
	r.lock = nil
	return freeLock(lock)
}

// git runs a command on the run's own git directory. That is where it starts,
// too: what it finds by a path that is not absolute must not be an agent's.
func (r *Repo) git(ctx context.Context, args ...string) ([]byte, error) {
	return r.gitCall(ctx, call{args: args})
}

func (r *Repo) gitStdin(ctx context.Context, stdin []byte, args ...string) ([]byte, error) {
	return r.gitCall(ctx, call{args: args, stdin: reader(stdin)})
}

// gitCall adds directory and environment to c. Variables that c brings win.
func (r *Repo) gitCall(ctx context.Context, c call) ([]byte, error) {
	if len(r.src.promisors) == 0 {
		return r.offline(ctx, c)
	}
	c, err := r.placed(nil, c)
	if err != nil {
		return nil, err
	}
	return r.line(r.src.promisors[0].remote).do(ctx, c) // any command may ask for an object that is missing
}

// offline is gitCall for a command that talks to nobody: in a partial clone it
// finds only what is here.
func (r *Repo) offline(ctx context.Context, c call) ([]byte, error) {
	c, err := r.placed(r.src.env.local(), c)
	if err != nil {
		return nil, err
	}
	return c.do(ctx)
}

// placed gives c the run's own directory, and what it and env bring.
func (r *Repo) placed(env []string, c call) (call, error) {
	c.dir, c.lock, c.env = r.dir, r.lock, append(r.place(env), c.env...)
	return c, r.guard()
}

// openStores says where the objects of the run are looked up. What the user's
// repository has is asked for there, since one process then serves both.
func (r *Repo) openStores() {
	offline := func(context.Context) (call, error) { return r.placed(r.src.env.local(), call{}) }
	switch {
	case len(r.src.promisors) > 0:
		r.here = &store{place: offline}
		r.store = &store{place: func(ctx context.Context) (call, error) {
			c, err := r.placed(nil, call{})
			if err != nil {
				return c, err
			}
			return r.line(r.src.promisors[0].remote).ready(ctx, c)
		}}
		return
	case r.opt.Scratch:
		r.here = &store{place: offline}
	default:
		r.here = r.src.store
	}
	r.store = r.here
}

// lookUp gives objects by name.
func (r *Repo) lookUp(ctx context.Context, names ...string) ([]object, error) {
	if len(r.src.promisors) == 0 {
		return r.store.ask(ctx, names...)
	}
	return r.line(r.src.promisors[0].remote).ask(ctx, r.store, names)
}

// guard puts right what decides how git reads this directory: nobody else
// writes there, and if an agent that was not contained did, it gains nothing.
func (r *Repo) guard() error {
	if err := os.Remove(r.home("commondir")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return errors.Join(r.guardLFS(), putFile(r.home("config"), []byte(r.config())))
}

// place points git at the run's own directory.
func (r *Repo) place(env []string) []string {
	return append(env, "GIT_DIR="+r.dir, "GIT_WORK_TREE="+r.tree, "GIT_OBJECT_DIRECTORY="+r.objects())
}

// objects is where the objects of the run are written.
func (r *Repo) objects() string {
	if r.opt.Scratch {
		return r.home("objects")
	}
	return r.src.objects()
}

package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/folders"
)

// Options say which run to open, and where.
type Options struct {
	Source *Source
	Root   string // the run's folder, made if missing; outside the user's repository and not below any .git
	Branch string // the run's branch, such as reprise/issue-7
	Base   string // branch or full hash that a new branch starts from; "" means what is checked out
	State  string // the state folder, from the top of the repository, such as .reprise/issue-7

	// Scrap is a file whose uncommitted content is not worth a patch when it is
	// all that a killed process left behind.
	Scrap string

	Remote  string // name of the remote to push to, such as origin; "" neither fetches nor pushes
	Scratch bool   // try only: nothing of the user's repository or of the remote is written

	// Token, if not nil, returns a token for the remote, asked for before each
	// call. It is used in place of the user's own credentials.
	Token func(context.Context) (string, error)

	// Patience is how long one call to the remote may take; 0 stands for 15
	// minutes.
	Patience time.Duration

	// TakeTheirs goes on from where the branch went elsewhere, if that cannot be
	// joined with what is here, and gives up the commits that are only here.
	TakeTheirs bool

	// Fit, if not nil, is asked about the newest commit of a branch that exists,
	// before anything is moved to it; read gives a file of that commit, as
	// ReadFile does. What it returns is the error of Open.
	Fit func(read func(path string) ([]byte, error)) error

	// Locked, if not nil, is called with the work tree's path once the run's
	// folder belongs to this process, before anything in the tree is looked at.
	// What it returns, if anything, is a warning.
	Locked func(tree string) string

	Name, Email string // who commits; default: the user's configuration, else reprise
}

// Moved says that the branch went on elsewhere in a way that cannot be joined
// with what is here. Nothing was lost: Ours stays as it was.
type Moved struct {
	Branch string
	Ours   string // commit
	Theirs string // commit
	Where  string // where Theirs is: "origin", or "this repository"
	Why    string
	Run    bool // it is the run itself with which somebody went on
}

// Error names both commits.
func (e *Moved) Error() string {
	return fmt.Sprintf("branch %s moved: it is at %s in %s and at %s in this run: %s",
		e.Branch, short(e.Theirs), e.Where, short(e.Ours), e.Why)
}

func short(commit string) string { return commit[:min(12, len(commit))] }

// Open takes the run's folder for this process, finds the newest commit of the
// branch and brings the work tree to it. The newest is the furthest of what
// this folder, the user's repository and the remote have; if none of them
// contains the others, the error is a *Moved. A folder that another process
// holds is a *Locked. Commits that the remote does not have yet are pushed.
//
// What a killed process left uncommitted is kept as a patch, see Leftover. No
// ref is made before the first commit.
func Open(ctx context.Context, o Options) (*Repo, error) {
	r := &Repo{opt: o, src: o.Source, ref: "refs/heads/" + o.Branch, stale: map[string]struct{}{}}
	if err := r.check(ctx); err != nil {
		return nil, err
	}
	if err := r.makeRoot(); err != nil {
		return nil, err
	}
	lock, err := takeLock(ctx, r.opt.Root)
	if err != nil {
		return nil, err
	}
	r.lock = lock
	r.openStores()
	if o.Locked != nil {
		r.warnOf(o.Locked(r.tree))
	}
	if err := r.open(ctx); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

// makeRoot makes the run's folder, or opens it for its owner.
func (r *Repo) makeRoot() error {
	if err := os.MkdirAll(r.opt.Root, 0o700); err != nil {
		return err
	}
	info, err := os.Stat(r.opt.Root)
	if err == nil && folders.Locked(info) {
		err = os.Chmod(r.opt.Root, info.Mode()|0o700)
	}
	return err
}

func (r *Repo) open(ctx context.Context) error {
	root, err := os.OpenRoot(r.opt.Root)
	if err != nil {
		return err
	}
	r.root = root
	r.unlockRun()
	if err := r.prepare(); err != nil {
		return fmt.Errorf("prepare %s: %w", r.opt.Root, err)
	}
	top, err := os.OpenRoot(r.tree)
	if err != nil {
		return err
	}
	r.top = top
	if err := r.findTip(ctx); err != nil {
		return err
	}
	if err := r.roomForState(ctx); err != nil {
		return err
	}
	if r.opt.Fit != nil && !r.isNew {
		if err := r.opt.Fit(func(path string) ([]byte, error) { return r.ReadFile(ctx, r.tip, path) }); err != nil {
			return err
		}
	}
	if err := r.bringUp(ctx); err != nil {
		return fmt.Errorf("bring the work tree to %s: %w", short(r.tip), err)
	}
	if r.own == "" || r.opt.Scratch {
		return nil
	}
	return r.publish(ctx)
}

// check refuses options that cannot work, before anything is made.
func (r *Repo) check(ctx context.Context) error {
	o := &r.opt
	if o.Source == nil || o.Root == "" {
		return errors.New("open a run: source and root are needed")
	}
	root, err := filepath.Abs(o.Root)
	if err != nil {
		return err
	}
	if slices.Contains(strings.Split(root, string(filepath.Separator)), ".git") {
		return fmt.Errorf("%s lies in a .git folder, where many tools refuse to work: choose another", root)
	}
	if strings.ContainsAny(root, "\n\x00") {
		return fmt.Errorf("%q holds a line break: choose another folder", root)
	}
	if inside(root, o.Source.Dir) || inside(root, o.Source.CommonDir) {
		return fmt.Errorf("%s lies in the repository %s: choose a folder outside", root, o.Source.Dir)
	}
	o.Root, r.dir, r.tree = root, filepath.Join(root, "git"), filepath.Join(root, "tree")
	if err := checkPath(o.State); err != nil || strings.ContainsAny(o.State, `*?[]"\!`) {
		return fmt.Errorf("%q cannot be the state folder: %w", o.State, errors.Join(err, errors.New("name a folder without special characters")))
	}
	if err := r.checkBranch(ctx); err != nil {
		return err
	}
	if o.Remote == "" {
		return nil
	}
	if r.remote, err = o.Source.remote(ctx, o.Remote); err == nil && r.remote == nil {
		err = fmt.Errorf("there is no remote %q: git remote add %[1]s URL, or work without pushing", o.Remote)
	}
	return err
}

// plainBranch is a name that every version of git takes.
var plainBranch = regexp.MustCompile(`^[A-Za-z0-9]+([_/-][A-Za-z0-9]+)*$`)

// checkBranch asks git about any name that is not plain, since git knows the
// rules. "--branch" takes the next argument as it is, and refuses a leading dash.
func (r *Repo) checkBranch(ctx context.Context) error {
	if plainBranch.MatchString(r.opt.Branch) && r.opt.Branch != "HEAD" {
		return nil
	}
	out, err := r.src.inspect(ctx, "check-ref-format", "--branch", r.opt.Branch)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil || strings.TrimSuffix(string(out), "\n") != r.opt.Branch || r.opt.Branch == "HEAD" {
		return fmt.Errorf("%q is not a name for a branch", r.opt.Branch)
	}
	return nil
}

// inside says whether p is dir or lies in it, symbolic links aside.
func inside(p, dir string) bool {
	for ; ; p = filepath.Dir(p) {
		if real, err := filepath.EvalSymlinks(p); err == nil {
			if d, err := filepath.EvalSymlinks(dir); err == nil {
				dir = d
			}
			rel, err := filepath.Rel(dir, real)
			return err == nil && rel != ".." && !strings.HasPrefix(rel, "../")
		}
		if p == filepath.Dir(p) {
			return false
		}
	}
}

// findTip sets tip, own, users and theirs.
func (r *Repo) findTip(ctx context.Context) error {
	var err error
	if r.own, err = r.readOwn(); err != nil {
		return err
	}
	if r.users, err = r.usersBranch(ctx); err != nil {
		return err
	}
	if err := r.forgetLost(ctx); err != nil {
		return err
	}
	if r.remote != nil {
		if err := r.fetchBranch(ctx, r.src.Shallow && r.own == "" && r.users == ""); err != nil {
			return err
		}
	}
	if err := r.forgetDeleted(); err != nil {
		return err
	}
	r.tip = r.own
	if err := r.follow(ctx, r.users, "this repository"); err != nil {
		return err
	}
	if err := r.follow(ctx, r.theirs, r.opt.Remote); err != nil {
		return err
	}
	if r.tip == "" {
		r.isNew = true
		base := r.opt.Base
		if base == "" {
			base = r.src.Head
		}
		r.tip, err = r.src.resolve(ctx, base)
	}
	return err
}

// roomForState refuses a new branch whose base has a file, a link or a submodule
// where the folders above the state folder have to be: it would be lost.
func (r *Repo) roomForState(ctx context.Context) error {
	if !r.isNew {
		return nil
	}
	for _, dir := range parents(r.opt.State) {
		found, err := r.lookUp(ctx, r.tip+":"+dir)
		if err != nil {
			return err
		}
		if kind := found[0].kind; kind != "tree" && kind != "" {
			return fmt.Errorf("the repository has a file or a link of its own named %s, where the record of a run has to be: rename it first", dir)
		}
	}
	return nil
}

// readOwn reads the own ref. Only this package writes it, as a plain file.
func (r *Repo) readOwn() (string, error) {
	text, err := os.ReadFile(r.home(r.ref))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return strings.TrimSpace(string(text)), nil
}

// forgetLost drops the own ref when its commit is gone, because the user's
// repository was made anew.
func (r *Repo) forgetLost(ctx context.Context) error {
	if r.own == "" || r.own == r.users {
		return nil
	}
	here, err := r.has(ctx, r.own)
	if err != nil || here {
		return err
	}
	r.warn("commit %s, which the run had got to, is not in this repository any more, so its folder %s is made anew", short(r.own), r.opt.Root)
	return r.forget()
}

// Lost reads which commit the run of a branch in the folder root had got to, if
// that commit is not in this repository any more; else it gives "".
func (s *Source) Lost(ctx context.Context, root, branch string) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, "git", "refs", "heads", filepath.FromSlash(branch)))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	commit := strings.TrimSpace(string(text))
	if err != nil || !isHash(commit) {
		return "", err
	}
	found, err := s.store.ask(ctx, commit)
	if err != nil || found[0].kind == "commit" {
		return "", err
	}
	return commit, nil
}

// forgetDeleted drops the own ref when others could see the branch and it is
// gone from there: a person deleted it.
func (r *Repo) forgetDeleted() error {
	_, err := os.Stat(r.home("published"))
	if r.own == "" || r.users != "" || r.theirs != "" || err != nil {
		return nil
	}
	r.warn("branch %s was deleted, so the run starts anew (it had got to commit %s)", r.opt.Branch, r.own)
	return r.forget()
}

func (r *Repo) forget() error {
	r.own = ""
	return errors.Join(os.RemoveAll(r.home(r.ref)), os.RemoveAll(r.home("published")))
}

// follow moves tip to other if that is further on.
func (r *Repo) follow(ctx context.Context, other, where string) error {
	if other == "" || other == r.tip {
		return nil
	}
	if r.tip == "" {
		r.tip = other
		return nil
	}
	ahead, err := r.contains(ctx, other, r.tip)
	if err != nil {
		return err
	}
	if ahead {
		r.tip = other
		return nil
	}
	behind, err := r.contains(ctx, r.tip, other)
	if err != nil || behind {
		return err
	}
	if r.opt.TakeTheirs {
		r.warn("commit %s was given up for %s, which is on %s", r.tip, short(other), where)
		r.tip = other
		return nil
	}
	return &Moved{Branch: r.opt.Branch, Ours: r.tip, Theirs: other, Where: where, Why: "neither contains the other"}
}

// contains says whether commit old is in the history of commit tip.
func (r *Repo) contains(ctx context.Context, tip, old string) (bool, error) {
	_, err := r.git(ctx, "merge-base", "--is-ancestor", old, tip)
	if exitCode(err) == 1 {
		return false, nil
	}
	return err == nil, err
}

// usersBranch returns the commit of the run's branch in the user's repository.
// A branch that makes the name impossible there is an error.
func (r *Repo) usersBranch(ctx context.Context) (string, error) {
	args := []string{"for-each-ref", "--format=%(objectname) %(refname)", r.ref}
	for _, p := range parents(r.opt.Branch) {
		args = append(args, "refs/heads/"+p)
	}
	out, err := r.src.inspect(ctx, args...)
	if err != nil {
		return "", fmt.Errorf("look for branch %s: %w", r.opt.Branch, err)
	}
	commit := ""
	for line := range strings.Lines(string(out)) {
		id, ref, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if ref == r.ref {
			commit = id
		} else if under(ref, r.ref) || under(r.ref, ref) {
			return "", r.besides(strings.TrimPrefix(ref, "refs/heads/"), "")
		}
	}
	return commit, nil
}

// besides says that there is a branch beside which the run's cannot be: git
// keeps branches like files, and one of the two would have to be a folder.
func (r *Repo) besides(branch, where string) error {
	return fmt.Errorf("branch %s cannot be made beside branch %s%s: rename that one, or have the names of runs begin otherwise with REPRISE_BRANCH_PREFIX",
		r.opt.Branch, branch, where)
}

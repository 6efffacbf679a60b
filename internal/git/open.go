package git

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
	"time"

	"github.com/reprise-ci/reprise/internal/folders"
)

// Open takes the run's folder, finds the newest commit of the branch, brings the work tree to it, and pushes what the
// remote lacks. The newest is the furthest of this folder, the user's repository and the remote; if none contains the
// others, the error is a *Moved. A folder that another process holds is a *folders.Held. What a killed process left
// uncommitted is kept as a patch, see Leftover. No ref is made before the first commit.
func Open(ctx context.Context, o Options) (*Repo, error) {
	r := &Repo{opt: o, src: o.Source, ref: "refs/heads/" + o.Branch}
	if err := r.check(ctx); err != nil {
		return nil, err
	}
	err := os.MkdirAll(r.opt.Root, 0o700)
	if info, none := os.Stat(r.opt.Root); err == nil && none == nil && folders.Locked(info) {
		err = os.Chmod(r.opt.Root, info.Mode()|0o700)
	}
	if err != nil {
		return nil, err
	}
	held, err := folders.TakeLock(ctx, r.opt.Root)
	if err != nil {
		return nil, err
	}
	r.lock = held
	if o.Locked != nil {
		r.warnOf(o.Locked(r.treePath))
	}
	if err := r.open(ctx); err != nil {
		r.Close()
		return nil, err
	}
	return r, nil
}

func (r *Repo) open(ctx context.Context) error {
	root, err := os.OpenRoot(r.opt.Root)
	if err != nil {
		return err
	}
	r.root, r.beside = root, root
	folders.Unlock(r.root, "git") // a program can close the run's own folders though it cannot write to them
	for _, name := range []string{"homes", "tree"} {
		folders.UnlockAbove(r.root, name+"/any")
	}
	if err := errors.Join(folders.Straighten(r.treePath), r.prepare()); err != nil {
		return fmt.Errorf("prepare %s: %w", r.opt.Root, err)
	}
	top, err := os.OpenRoot(r.treePath)
	if err != nil {
		return err
	}
	r.top, r.standing = top, folders.Stands(r.opt.Root, r.treePath)
	if err := r.findTip(ctx); err != nil {
		return err
	}
	if err := r.checkStateFolder(ctx); err != nil {
		return err
	}
	if r.signs() && !r.opt.Still {
		if _, err := r.sign(ctx, time.Now(), "reprise\n", r.tip+"^{tree}"); err != nil {
			return err
		}
	}
	if r.opt.Fit != nil && !r.isNew {
		if err := r.opt.Fit(func(path string) ([]byte, error) { return r.ReadFile(ctx, r.tip, path) }); err != nil {
			return err
		}
	}
	if err := r.bringUp(ctx, r.tip); err != nil {
		return fmt.Errorf("bring the work tree to %s: %w", short(r.tip), err)
	}
	if r.localTip == "" || r.opt.DryRun || r.opt.Aside != "" {
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
	if folders.Inside(root, o.Source.Dir) || folders.Inside(root, o.Source.CommonDir) {
		return fmt.Errorf("%s lies in the repository %s: choose a folder outside", root, o.Source.Dir)
	}
	o.Root, r.dir, r.treePath = root, filepath.Join(root, "git"), filepath.Join(root, "tree")
	if err := checkPath(o.State); err != nil || strings.ContainsAny(o.State, `*?[]"\!`) {
		return fmt.Errorf("%q cannot be the state folder: %w", o.State, errors.Join(err, errors.New("name a folder without special characters")))
	}
	if err := r.checkBranch(ctx); err != nil {
		return err
	}
	if o.Remote == "" {
		return nil
	}
	if r.remote = o.Source.remotes[o.Remote]; r.remote == nil {
		return fmt.Errorf("there is no remote %q: git remote add %[1]s URL, or work without pushing", o.Remote)
	}
	return nil
}

// checkBranch asks git about the name. "--branch" takes the next argument as it is, but no dash.
func (r *Repo) checkBranch(ctx context.Context) error {
	out, err := r.src.inspect(ctx, "check-ref-format", "--branch", r.opt.Branch)
	if err != nil && !strings.Contains(stderrOf(err), "not a valid branch name") {
		return err
	}
	if err != nil || strings.TrimSuffix(string(out), "\n") != r.opt.Branch || r.opt.Branch == "HEAD" {
		return fmt.Errorf("%q is not a name for a branch", r.opt.Branch)
	}
	return nil
}

// checkStateFolder refuses a new branch that would lose what its base has in place of folders above the state folder.
func (r *Repo) checkStateFolder(ctx context.Context) error {
	if !r.isNew {
		return nil
	}
	above, err := r.reads().entries(ctx, r.tip, folders.Parents(r.opt.State))
	for _, e := range above {
		if e.Mode != "040000" {
			return fmt.Errorf("the repository has a file or a link of its own named %s, where the record of a run has to be: rename it first", e.Path)
		}
	}
	return err
}

// bringUp brings the work tree to a commit, which is the tip then. Uncommitted changes are kept as a patch first.
func (r *Repo) bringUp(ctx context.Context, commit string) (err error) {
	if err := r.learnLFS(ctx); err != nil {
		return err
	}
	clean := false
	if r.localTip == "" {
		err = r.empty()
	} else {
		r.tip = r.localTip // where the process before left the tree
		clean, err = r.matchesLocal(ctx)
	}
	r.tip = commit
	if err != nil {
		return err
	}
	if !clean || r.localTip != commit {
		if err := r.reset(ctx); err != nil {
			return r.blameLFS(ctx, err)
		}
	}
	if err := r.findLacks(ctx); err != nil {
		return r.blameLFS(ctx, err)
	}
	return r.setLocal(ctx)
}

// matchesLocal brings the index to the tip, and says whether the tree equals it. Differences are kept as a patch.
func (r *Repo) matchesLocal(ctx context.Context) (bool, error) {
	if _, err := os.Lstat(r.home("index")); errors.Is(err, fs.ErrNotExist) {
		return false, nil // nothing was checked out here yet
	}
	// It holds nothing that the commit does not, and what an agent has made of it must not count.
	if err := os.RemoveAll(r.home("index")); err != nil {
		return false, err
	}
	if err := r.findShelf(ctx); err != nil {
		return false, err
	}
	if err := r.readTip(ctx); err != nil {
		return false, err
	}
	changes, err := r.changes(ctx)
	if err != nil || len(changes) == 0 {
		return err == nil, err
	}
	if len(changes) == 1 && changes[0].Path == r.opt.Scrap {
		return false, nil
	}
	return false, r.keepLeftover(ctx)
}

// maxLeftover is the size of the largest patch of leftovers, in bytes.
const maxLeftover = 32 << 20

// keepLeftover saves what a killed process had not committed. A failure does not stop the run.
func (r *Repo) keepLeftover(ctx context.Context) error {
	patch, err := r.Patch(ctx, maxLeftover)
	if err != nil {
		r.warn("changes that an earlier run had not committed could not be kept: %v", err)
		return ctx.Err()
	}
	f, err := os.CreateTemp(r.opt.Root, "leftover-*.patch")
	if err != nil {
		return err
	}
	defer f.Close()
	if _, err := f.Write(patch); err != nil {
		return err
	}
	r.leftover = f.Name()
	return nil
}

// findLacks looks for what Lacks says, with the work tree as the tip.
func (r *Repo) findLacks(ctx context.Context) error {
	r.lacks, r.modules, r.filters = nil, nil, nil
	files, err := r.files(ctx)
	if err != nil {
		return fmt.Errorf("look for submodules: %w", err)
	}
	for _, f := range files {
		if f.Mode == submodule {
			r.modules = append(r.modules, f.Path)
		}
	}
	if len(r.modules) > 0 {
		r.lacks = append(r.lacks, fmt.Sprintf("%s in the tree of agents and checks, because submodules are not filled: what builds with them cannot pass", named(r.modules, "is empty", "are empty")))
	}
	if slices.ContainsFunc(files, func(f entry) bool { return path.Base(f.Path) == ".gitattributes" }) {
		if r.filters, err = r.reads().filters(ctx, r.tip); err != nil {
			return err
		}
		r.largeUsed = slices.Contains(r.filters, "lfs")
	}
	for _, file := range r.src.ownAttributes() {
		text, err := textOf(file)
		if err != nil {
			return fmt.Errorf("look for filters: %w", err)
		}
		r.filters = append(r.filters, filtersIn(text)...)
	}
	r.filters = slices.DeleteFunc(r.filters, func(name string) bool { return name == "lfs" })
	if len(r.filters) > 0 {
		r.lacks = append(r.lacks, "files that git converts, as attributes say, cannot be changed, since that is not run: "+strings.Join(r.filters, ", "))
	}
	if err := r.fillLarge(ctx); err != nil {
		return err
	}
	if lack := r.lackLarge(); lack != "" {
		r.lacks = append(r.lacks, lack)
	}
	return nil
}

// Options say which run to open, and where.
type Options struct {
	Source *Source
	Root   string // the run's folder, made if missing; outside the user's repository and not below any .git
	Branch string // the run's branch, such as reprise/issue-7
	Base   string // branch or full hash that a new branch starts from; "" means what is checked out
	State  string // the state folder, from the top of the repository, such as .reprise/issue-7

	// Scrap is a file whose uncommitted content is in no patch, and alone not worth one.
	Scrap string

	// Keep names the record of the run, such as issue-7, once off the branch: refs/reprise/records/issue-7 has it
	// then, at the remote and in the user's repository. With "" it is kept nowhere.
	Keep string

	Remote string // name of the remote to push to, such as origin; "" neither fetches nor pushes
	Own    string // full name of the ref of the remote that commits go to in place of the branch, here too; "": the branch
	Still  bool   // nothing is spent before a commit is made, so that the user's key is not tried before
	DryRun bool   // try only: nothing of the user's repository or of the remote is written
	Aside  string // folder for the objects of a tree beside that of the run: its branch is in Root alone, and nobody is told of it; "": it is the run's

	// Token, if not nil, gives a token before each call to the remote, in place of the user's own credentials.
	Token func(context.Context) (string, error)

	// Patience is how long one call to the remote may take; 0: 15 minutes.
	Patience time.Duration

	// TakeOther goes on from where the branch went elsewhere, if it cannot be joined, and gives up commits only here.
	TakeOther bool

	// Fit, if not nil, is asked about the newest commit of an existing branch before anything moves to it; read is
	// ReadFile of that. What it returns is the error of Open.
	Fit func(read func(path string) ([]byte, error)) error

	// Locked, if not nil, gets the work tree's path once this process has the folder, before the tree is looked at.
	// What it returns, if anything, is a warning.
	Locked func(tree string) string

	// Hold, if not nil, puts the git-lfs that converts files into a sandbox.
	Hold hold

	Name, Email string // who commits; default: the user's configuration, else reprise

	// Signing is asked before each commit, and may change until then; nil: as the user's configuration says.
	Signing *Signing
}

// Signing is who signs the commits of a run.
type Signing struct {
	// By has the forge make a commit of a tree and parents that it has, and sign it; nil: git signs as it signs the user's.
	By func(ctx context.Context, message, tree string, parents []string) (id string, err error)
	// Off adds who signs off; For is that person, with name and address, and empty: whoever commits.
	Off bool
	For string
}

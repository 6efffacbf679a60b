package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/reprise-ci/reprise/internal/folders"
)

// prepare makes the run's own git directory, or repairs the one that is there.
func (r *Repo) prepare() error {
	if err := r.unstage(); err != nil {
		return err
	}
	for _, dir := range []string{r.home("objects", "info"), r.home("refs", "heads"), r.home("info"), r.treePath} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	if err := r.sweep(); err != nil {
		return err
	}
	// What was fetched is fetched again: its objects may be gone.
	err := os.RemoveAll(r.home("refs", "reprise"))
	if errors.Is(err, syscall.ENOTEMPTY) { // a fetch that outlived its process wrote there just now
		err = os.RemoveAll(r.home("refs", "reprise"))
	}
	if err != nil {
		return err
	}
	// The state folder is kept byte for byte. Other files keep the encoding of the tree: what is looked for there, such
	// as a secret, must not come out of a conversion. And no attribute hides what changed, from a reviewer or a count.
	raw := fmt.Sprintf("* !working-tree-encoding !diff !ident %s\n\"/%s/**\" -text !eol -ident !filter\n", mergeAttributes, r.opt.State)
	files := map[string]string{
		"HEAD":            "ref: " + r.ref + "\n",
		"config":          r.config(),
		"info/attributes": raw,
	}
	if r.opt.DryRun {
		files["objects/info/alternates"] = r.src.objects() + "\n"
	}
	if r.src.Head != "" {
		// Starting points for talking with the remote about what is here already.
		files["refs/reprise/head"] = r.src.Head + "\n"
	}
	for name, text := range files {
		if err := folders.PutFile(r.home(name), []byte(text)); err != nil {
			return err
		}
	}
	return errors.Join(r.prepareShallow(), r.prepareLFS())
}

// prepareShallow copies where the user's history is cut, and keeps the cuts of what was fetched for this run.
func (r *Repo) prepareShallow() error {
	var lines []string
	for _, name := range []string{filepath.Join(r.src.CommonDir, "shallow"), r.home("shallow")} {
		text, err := textOf(name)
		if err != nil {
			return err
		}
		lines = append(lines, strings.Fields(text)...)
	}
	if len(lines) == 0 {
		return nil
	}
	slices.Sort(lines)
	return folders.PutFile(r.home("shallow"), []byte(strings.Join(slices.Compact(lines), "\n")+"\n"))
}

// textOf gives what a file holds; "" if there is none.
func textOf(name string) (string, error) {
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return string(text), err
}

func (r *Repo) config() string { return r.src.basics() + r.converting() }

// restoreConfig restores the files by which git reads this directory: an agent without a sandbox may have changed them.
func (r *Repo) restoreConfig() error { return errors.Join(r.guardLFS(), guardDir(r.dir, r.config())) }

// guardDir sees to it that git reads the given configuration in a directory and no other.
func guardDir(dir, config string) error {
	return errors.Join(os.RemoveAll(filepath.Join(dir, "commondir")), folders.PutFile(filepath.Join(dir, "config"), []byte(config)))
}

// sweep removes what a killed git command left behind. The run's lock is held, so nobody else is at work here.
func (r *Repo) sweep() error {
	return filepath.WalkDir(r.home(), func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name == r.home("objects"):
			return fs.SkipDir // many files, and no locks
		case strings.HasSuffix(name, ".lock"), strings.HasPrefix(d.Name(), "."), strings.HasPrefix(d.Name(), "fast_import_crash_"),
			strings.HasPrefix(d.Name(), "snapshot-"):
			if err := os.RemoveAll(name); err != nil {
				return err
			}
			if d.IsDir() {
				return fs.SkipDir
			}
		}
		return nil
	})
}

func (r *Repo) home(names ...string) string {
	return filepath.Join(append([]string{r.dir}, names...)...)
}

// objects is where the objects of the run are written.
func (r *Repo) objects() string {
	switch {
	case r.opt.Aside != "":
		return r.opt.Aside
	case r.opt.DryRun:
		return r.home("objects")
	}
	return r.src.objects()
}

// zero is the hash that git uses for "nothing".
const zero = "0000000000000000000000000000000000000000"

// Ref is a name and the commit that it is at, a full hash.
type Ref struct{ Name, Commit string }

// refFormat is how for-each-ref has to print refs for ParseRefs; ls-remote prints them so itself.
const refFormat = "--format=%(objectname)%09%(refname)"

// ParseRefs reads what git prints of refs, each on a line of its own that has come to its end.
func ParseRefs(out []byte) (all []Ref) {
	for line := range strings.Lines(string(out)) {
		line, whole := strings.CutSuffix(line, "\n")
		commit, name, named := strings.Cut(line, "\t")
		if whole && named && isHash(commit) {
			all = append(all, Ref{name, commit})
		}
	}
	return all
}

// refsFetched are the arguments that fetch branches of origin to where a clone has them, and all else to the same name.
func refsFetched(all []Ref) (args []string) {
	for _, r := range all {
		into := r.Name
		if name, is := strings.CutPrefix(r.Name, "refs/heads/"); is {
			into = "refs/remotes/origin/" + name
		}
		args = append(args, "+"+r.Name+":"+into)
	}
	return args
}

// checkedOut returns the user's work tree that has a ref checked out, or rebases it; "" if none. Dir is CommonDir.
func checkedOut(dir, ref string) string {
	dirs, _ := filepath.Glob(filepath.Join(EscapeGlob(dir), "worktrees", "*"))
	for _, dir := range append([]string{dir}, dirs...) {
		for _, name := range []string{"HEAD", "rebase-merge/head-name", "rebase-apply/head-name"} {
			text, err := os.ReadFile(filepath.Join(dir, name))
			if err == nil && strings.TrimSpace(strings.TrimPrefix(string(text), "ref: ")) == ref {
				return workTreeOf(dir)
			}
		}
	}
	return ""
}

// workTreeOf names a work tree by its git directory, for people.
func workTreeOf(dir string) string {
	text, err := os.ReadFile(filepath.Join(dir, "gitdir"))
	if errors.Is(err, os.ErrNotExist) {
		return filepath.Dir(dir)
	}
	return filepath.Dir(strings.TrimSpace(string(text)))
}

// checkoutBranch returns the commit of the run's branch in the user's repository. A branch in its way is an error.
func (r *Repo) checkoutBranch(ctx context.Context) (commit string, err error) {
	if r.opt.Aside != "" {
		return "", nil
	}
	names := []string{r.ref}
	for _, p := range folders.Parents(r.opt.Branch) {
		names = append(names, "refs/heads/"+p)
	}
	listed, err := r.src.Refs(ctx, names...)
	if err != nil {
		return "", err
	}
	for _, one := range listed {
		if one.Name == r.ref {
			commit = one.Commit
		} else if Under(one.Name, r.ref) || Under(r.ref, one.Name) {
			return "", r.blocked(strings.TrimPrefix(one.Name, "refs/heads/"), "")
		}
	}
	return commit, nil
}

// updateCheckout moves the user's branch along. Only the run's ref and the remote count, so a failure is a warning.
func (r *Repo) updateCheckout(ctx context.Context, tip string) {
	if r.checkoutTip == tip || r.opt.Own != "" {
		return
	}
	if where := checkedOut(r.src.CommonDir, r.ref); where != "" {
		r.warn("branch %s is checked out in %s, so it is not moved along in this repository; check out another one there, and the next start of the run moves it", r.opt.Branch, where)
		return
	}
	r.sweepBranchLock()
	if r.src.moveRef(ctx, r.ref, tip, cmp.Or(r.checkoutTip, zero)) == nil {
		r.checkoutTip = tip
	} else if ctx.Err() == nil {
		r.warn("branch %s of this repository could not be moved along: it was changed meanwhile, or is locked; the next start of the run tries again", r.opt.Branch)
	}
}

// Unmoved names the user's work tree that has the run's branch checked out at an older commit than the tip; "" if none.
func (r *Repo) Unmoved() string {
	if r.checkoutTip == r.tip {
		return ""
	}
	return checkedOut(r.src.CommonDir, r.ref)
}

// sweepBranchLock removes a killed process's lock on the user's branch. A recent one stays: somebody may be at work.
func (r *Repo) sweepBranchLock() {
	name := filepath.Join(r.src.CommonDir, r.ref+".lock")
	if info, err := os.Lstat(name); err == nil && time.Since(info.ModTime()) > 10*time.Second {
		_ = os.Remove(name) // if it stays, the update of the branch says so
	}
}

package git

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/google/renameio/v2"

	"github.com/reprise-ci/reprise/internal/folders"
)

// config is the whole configuration of the run's own git directory.
func (r *Repo) config() string { return r.src.basics() + r.converting() }

// basics are the settings of a git directory that this package makes. What the
// user's repository says about its file system is all that is taken over.
func (s *Source) basics() string {
	var b strings.Builder
	version := "0"
	if s.sha256 {
		version = "1"
	}
	fmt.Fprintf(&b, "[core]\n\trepositoryformatversion = %s\n\tbare = false\n\tlogAllRefUpdates = false\n", version)
	for _, key := range []string{"filemode", "symlinks", "ignorecase", "precomposeunicode"} {
		if v := s.get("core." + key); v == "true" || v == "false" {
			fmt.Fprintf(&b, "\t%s = %s\n", key, v)
		}
	}
	if s.sha256 {
		b.WriteString("[extensions]\n\tobjectFormat = sha256\n")
	}
	return b.String()
}

// prepare makes the run's own git directory, or puts right what is there.
func (r *Repo) prepare() error {
	for _, dir := range []string{r.home("objects", "info"), r.home("refs", "heads"), r.home("info"), r.tree} {
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
	// The state folder is kept byte for byte, whatever .gitattributes says. Other
	// files are committed in the encoding that they have in the tree: what is
	// looked for there, such as a secret, must not come out of a conversion. And
	// no attribute of the tree hides what changed, from a reviewer or a count.
	raw := fmt.Sprintf("* !working-tree-encoding !diff !merge !ident\n\"/%s/**\" -text !eol -ident !filter\n", r.opt.State)
	files := map[string]string{
		"HEAD":            "ref: " + r.ref + "\n",
		"config":          r.config(),
		"info/attributes": raw,
	}
	if r.opt.Scratch {
		files["objects/info/alternates"] = r.src.objects() + "\n"
	}
	if r.src.Head != "" {
		// Starting points for talking with the remote about what is here already.
		files["refs/reprise/head"] = r.src.Head + "\n"
	}
	for name, text := range files {
		if err := putFile(r.home(name), []byte(text)); err != nil {
			return err
		}
	}
	return errors.Join(r.prepareShallow(), r.prepareLFS())
}

// prepareShallow takes over where the user's history is cut, and keeps the cuts
// of what was fetched for this run.
func (r *Repo) prepareShallow() error {
	var lines []string
	for _, name := range []string{filepath.Join(r.src.CommonDir, "shallow"), r.home("shallow")} {
		text, err := os.ReadFile(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		lines = append(lines, strings.Fields(string(text))...)
	}
	if len(lines) == 0 {
		return nil
	}
	slices.Sort(lines)
	return putFile(r.home("shallow"), []byte(strings.Join(slices.Compact(lines), "\n")+"\n"))
}

// unlock opens the top of the work tree and the state folder, which a program
// at work there may have closed. The rest of the tree is opened where it turns
// out to be closed, since it can be large.
func (r *Repo) unlock() { folders.Unlock(r.root, "tree/"+r.opt.State) }

// unlockRun opens the run's own folders. A program can close them though it can
// write to none of them.
func (r *Repo) unlockRun() {
	folders.Unlock(r.root, "git")
	for _, name := range []string{"homes", "tree"} {
		folders.UnlockAbove(r.root, name+"/any")
	}
}

// objects is the user's object store.
func (s *Source) objects() string { return filepath.Join(s.CommonDir, "objects") }

// sweep removes what a killed git command left behind. The run's own lock is
// held, so nobody else is at work here.
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

// sweepBranchLock removes the lock that a killed process left on the run's
// branch in the user's repository. A young one may be somebody's at work.
func (r *Repo) sweepBranchLock() {
	name := filepath.Join(r.src.CommonDir, r.ref+".lock")
	if info, err := os.Lstat(name); err == nil && time.Since(info.ModTime()) > 10*time.Second {
		_ = os.Remove(name) // if it stays, the update of the branch says so
	}
}

// home joins names to the path of the run's own git directory.
func (r *Repo) home(names ...string) string {
	return filepath.Join(append([]string{r.dir}, names...)...)
}

// putFile writes a file durably and in one step, if it does not hold data
// already.
func putFile(name string, data []byte) error {
	if old, err := os.ReadFile(name); err == nil && bytes.Equal(old, data) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return renameio.WriteFile(name, data, 0o644, renameio.WithTempDir(filepath.Dir(name))) // where sweep finds it
}

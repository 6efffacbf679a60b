package git

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/reprise-ci/reprise/internal/folders"
)

// prepare makes the run's own git directory, or repairs the one that is there.
func (r *Repo) prepare() error {
	if err := r.staged.Empty(); err != nil {
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
	// The state folder is kept byte for byte, whatever .gitattributes says. Other
	// files are committed in the encoding that they have in the tree: what is
	// looked for there, such as a secret, must not come out of a conversion. And
	// no attribute of the tree hides what changed, from a reviewer or a count.
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

// prepareShallow copies where the user's history is cut, and keeps the cuts of
// what was fetched for this run.
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
	return folders.PutFile(r.home("shallow"), []byte(strings.Join(slices.Compact(lines), "\n")+"\n"))
}

// config is the whole configuration of the run's own git directory.
func (r *Repo) config() string { return r.src.basics() + r.converting() }

// restoreConfig restores the files that decide how git reads this directory. Nobody
// else should write there; if an agent without a sandbox did, that has no
// effect.
func (r *Repo) restoreConfig() error { return errors.Join(r.guardLFS(), guardDir(r.dir, r.config())) }

// guardDir sees to it that git reads the given configuration in a directory and no other.
func guardDir(dir, config string) error {
	if err := os.Remove(filepath.Join(dir, "commondir")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return folders.PutFile(filepath.Join(dir, "config"), []byte(config))
}

// unlockRun opens the run's own folders. A program can close them though it can
// write to none of them.
func (r *Repo) unlockRun() {
	folders.Unlock(r.root, "git")
	for _, name := range []string{"homes", "tree"} {
		folders.UnlockAbove(r.root, name+"/any")
	}
}

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

// home joins names to the path of the run's own git directory.
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
func (r *Repo) zero() string {
	if r.src.format.SHA256 {
		return strings.Repeat("0", 64)
	}
	return strings.Repeat("0", 40)
}

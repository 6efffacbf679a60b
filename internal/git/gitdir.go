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

// gitDir is the run's own git directory, through which alone git works on the
// run.
type gitDir struct {
	opt      Options
	src      *Source
	ref      string // refs/heads/BRANCH
	dir      string
	treePath string
	root     *os.Root // of opt.Root
	lock     *os.File

	staged quarantine

	remote *remote   // nil: nothing is fetched or pushed
	lfs    []setting // of git-lfs, once they are known

	converter string // how git starts git-lfs, without its arguments; "": not yet, or never
	warnings
}

// warnings are what a person should know although nothing stopped for it, each
// once.
type warnings struct{ texts []string }

func (w *warnings) warn(format string, args ...any) { w.warnOf(fmt.Sprintf(format, args...)) }

// warnOf takes a warning, or "" for none.
func (w *warnings) warnOf(text string) {
	if text != "" && !slices.Contains(w.texts, text) {
		w.texts = append(w.texts, text)
	}
}

// prepare makes the run's own git directory, or repairs the one that is there.
func (g *gitDir) prepare() error {
	if err := g.staged.Empty(); err != nil {
		return err
	}
	for _, dir := range []string{g.home("objects", "info"), g.home("refs", "heads"), g.home("info"), g.treePath} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	if err := g.sweep(); err != nil {
		return err
	}
	// What was fetched is fetched again: its objects may be gone.
	err := os.RemoveAll(g.home("refs", "reprise"))
	if errors.Is(err, syscall.ENOTEMPTY) { // a fetch that outlived its process wrote there just now
		err = os.RemoveAll(g.home("refs", "reprise"))
	}
	if err != nil {
		return err
	}
	// The state folder is kept byte for byte, whatever .gitattributes says. Other
	// files are committed in the encoding that they have in the tree: what is
	// looked for there, such as a secret, must not come out of a conversion. And
	// no attribute of the tree hides what changed, from a reviewer or a count.
	raw := fmt.Sprintf("* !working-tree-encoding !diff !ident %s\n\"/%s/**\" -text !eol -ident !filter\n", mergeAttributes, g.opt.State)
	files := map[string]string{
		"HEAD":            "ref: " + g.ref + "\n",
		"config":          g.config(),
		"info/attributes": raw,
	}
	if g.opt.DryRun {
		files["objects/info/alternates"] = g.src.objects() + "\n"
	}
	if g.src.Head != "" {
		// Starting points for talking with the remote about what is here already.
		files["refs/reprise/head"] = g.src.Head + "\n"
	}
	for name, text := range files {
		if err := folders.PutFile(g.home(name), []byte(text)); err != nil {
			return err
		}
	}
	return errors.Join(g.prepareShallow(), g.prepareLFS())
}

// prepareShallow copies where the user's history is cut, and keeps the cuts of
// what was fetched for this run.
func (g *gitDir) prepareShallow() error {
	var lines []string
	for _, name := range []string{filepath.Join(g.src.CommonDir, "shallow"), g.home("shallow")} {
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
	return folders.PutFile(g.home("shallow"), []byte(strings.Join(slices.Compact(lines), "\n")+"\n"))
}

// config is the whole configuration of the run's own git directory.
func (g *gitDir) config() string { return g.src.basics() + g.converting() }

// restoreConfig restores the files that decide how git reads this directory. Nobody
// else should write there; if an agent without a sandbox did, that has no
// effect.
func (g *gitDir) restoreConfig() error { return errors.Join(g.guardLFS(), guardDir(g.dir, g.config())) }

// guardDir sees to it that git reads the given configuration in a directory and no other.
func guardDir(dir, config string) error {
	if err := os.Remove(filepath.Join(dir, "commondir")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return folders.PutFile(filepath.Join(dir, "config"), []byte(config))
}

// unlockRun opens the run's own folders. A program can close them though it can
// write to none of them.
func (g *gitDir) unlockRun() {
	folders.Unlock(g.root, "git")
	for _, name := range []string{"homes", "tree"} {
		folders.UnlockAbove(g.root, name+"/any")
	}
}

// sweep removes what a killed git command left behind. The run's own lock is
// held, so nobody else is at work here.
func (g *gitDir) sweep() error {
	return filepath.WalkDir(g.home(), func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name == g.home("objects"):
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
func (g *gitDir) home(names ...string) string {
	return filepath.Join(append([]string{g.dir}, names...)...)
}

// objects is where the objects of the run are written.
func (g *gitDir) objects() string {
	switch {
	case g.opt.Aside != "":
		return g.opt.Aside
	case g.opt.DryRun:
		return g.home("objects")
	}
	return g.src.objects()
}

// zero is the hash that git uses for "nothing".
func (g *gitDir) zero() string {
	if g.src.format.SHA256 {
		return strings.Repeat("0", 64)
	}
	return strings.Repeat("0", 40)
}

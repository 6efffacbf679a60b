package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/internal/text"
)

// learnLFS reads which settings git-lfs works with.
func (g *gitDir) learnLFS(ctx context.Context) error {
	if g.src.lfs.Program == "" {
		return nil
	}
	repository, err := g.lfsConfig(ctx)
	if err != nil {
		return err
	}
	g.lfs = []setting{}
	for _, c := range append(repository, g.src.lfs.Settings...) { // what comes later wins
		if strings.HasSuffix(c.Key, "url") {
			address, secret := splitCredentials(c.Value)
			c.Value = address
			g.lfs = append(g.lfs, secret...)
		}
		g.lfs = append(g.lfs, c)
	}
	g.converter, err = g.src.lfs.Converter(g.lfs, g.src.env, g.lfsDir(), g.objects(), g.opt.Hold)
	return err
}

// lfsConfig reads the .lfsconfig of the default branch. That of the run's
// branch or tree does not count, since an agent could name another server
// there.
func (g *gitDir) lfsConfig(ctx context.Context) ([]setting, error) {
	text, err := g.src.ReadFile(ctx, cmp.Or(g.src.defaultHead, g.src.Head), ".lfsconfig")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var list []byte
	if err == nil {
		read := g.src.inspection("config", "--file", "-", "--list", "-z", "--no-includes")
		read.Stdin = stdinOf(text)
		list, err = read.Do(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("read .lfsconfig: %w", err)
	}
	return slices.DeleteFunc(parseConfig(list), func(c setting) bool { return !sharedLFS(c.Key) }), nil
}

// lfsDir joins names to the path of the git directory that git-lfs is given. It
// has no remote, no work tree and nothing checked out, so that git-lfs finds
// no .lfsconfig.
func (g *gitDir) lfsDir(names ...string) string {
	return g.home(append([]string{"lfs"}, names...)...)
}

// prepareLFS makes that directory. What files are converted to is kept in its
// folder store until it is committed, and what the user's repository has is
// found through the folder users.
func (g *gitDir) prepareLFS() error {
	if g.src.lfs.Program == "" {
		return nil
	}
	if err := g.emptyStore(); err != nil {
		return err
	}
	for _, dir := range []string{g.lfsDir("refs"), g.lfsDir("users", "objects")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	link := g.lfsDir("users", "lfs")
	if to, err := os.Readlink(link); err != nil || to != g.src.lfs.Storage {
		if err := errors.Join(os.RemoveAll(link), os.Symlink(g.src.lfs.Storage, link)); err != nil {
			return err
		}
	}
	return g.guardLFS()
}

// emptyStore makes the folder store anew.
func (g *gitDir) emptyStore() error {
	return errors.Join(os.RemoveAll(g.lfsDir("store")), os.MkdirAll(g.lfsDir("store"), 0o755))
}

// guardLFS is guard for that directory. Where the user's repository keeps its
// files is said in its configuration, not in variables: a remote that is a folder
// must not take it for its own.
func (g *gitDir) guardLFS() error {
	if g.src.lfs.Program == "" {
		return nil
	}
	if err := os.Remove(g.lfsDir("commondir")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return errors.Join(
		folders.PutFile(g.lfsDir("HEAD"), []byte("ref: refs/heads/none\n")),
		folders.PutFile(g.lfsDir("config"), []byte(g.src.basics()+"[core]\n\tbare = true\n\thooksPath = /dev/null\n[lfs]\n\tstorage = "+quoted(g.src.lfs.Storage)+"\n")),
		folders.PutFile(g.lfsDir("objects", "info", "alternates"), []byte(g.objects()+"\n"+g.lfsDir("users", "objects")+"\n")),
	)
}

// converting is the part of the run's configuration that has git convert files
// with git-lfs, once its settings are known.
func (g *gitDir) converting() string {
	if g.converter == "" {
		return ""
	}
	process := g.converter + " filter-process"
	if g.src.lfs.Skips {
		process += " --skip"
	}
	return "[filter \"lfs\"]\n\tprocess = " + quoted(process) + "\n\trequired = true\n"
}

// unconverted are the arguments by which git takes files as they are.
func unconverted() []string {
	return []string{"-c", "filter.lfs.process=", "-c", "filter.lfs.required=false"}
}

// blameLFS names git-lfs in an error if files could not be converted because it
// does not work: git itself says only that the filter has ended.
func (g *gitDir) blameLFS(ctx context.Context, err error) error {
	if g.converter == "" || ctx.Err() != nil {
		return err
	}
	held := call{How: []string{"-c", "alias.lfs-version=!" + g.converter + " version"}, Args: []string{"lfs-version"}}
	_, broken := g.offline(ctx, held)
	if broken == nil {
		return err
	}
	if g.opt.Hold != nil && g.src.lfs.Works(ctx, g.src.env, g.src.Dir) {
		return &text.CauseError{Err: err, Why: text.CauseOf("git_lfs_held", "{program} does not work in the sandbox ({broken}): install it where programs of the system are, or start without a sandbox (--sandbox off): {error}", "program", g.src.lfs.Program, "broken", broken, "error", err)}
	}
	return &text.CauseError{Err: err, Why: text.CauseOf("git_lfs_broken", "{program} does not work ({broken}): install it again, or run git lfs uninstall to do without it: {error}", "program", g.src.lfs.Program, "broken", broken, "error", err)}
}

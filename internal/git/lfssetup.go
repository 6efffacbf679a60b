package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/internal/text"
)

// lfsSetup is how the user has set up Git LFS.
type lfsSetup struct {
	Program  string    // Path of git-lfs; "": it is not there, or not to be used
	Storage  string    // the user's folder of what Git LFS keeps
	Skips    bool      // the user has pointers left as they are
	Settings []setting // as they were when the Source was found
}

// findLFS looks for git-lfs, which works for the checkout dir. Of what the configuration names
// only whether it names something counts: what is run is git-lfs itself.
func findLFS(ctx context.Context, c configuration, env environ, dir, commonDir string) lfsSetup {
	found := lfsSetup{Storage: cmp.Or(c.Get("lfs.storage"), "lfs"), Skips: skipsContent(c, env), Settings: aboutLFS(c)}
	if !filepath.IsAbs(found.Storage) {
		found.Storage = filepath.Join(commonDir, found.Storage)
	}
	if c.Get("filter.lfs.process") == "" && c.Get("filter.lfs.clean") == "" {
		return found
	}
	if first := inPath("git-lfs", env); first != "" {
		found.Program = cmp.Or(behindShim(ctx, first, env, dir), first)
	}
	return found
}

func inPath(name string, env environ) string {
	for _, dir := range filepath.SplitList(env.Path()) {
		if program, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return program
		}
	}
	return ""
}

// behindShim gives the program that a shim of asdf or mise starts in dir, or "" for what is none.
// The shim itself would look for the version to start in the home of the user and in the
// checkout, of which a sandbox shows nothing.
func behindShim(ctx context.Context, shim string, env environ, dir string) string {
	folder := filepath.Dir(shim)
	if filepath.Base(folder) != "shims" {
		return ""
	}
	manager, err := filepath.EvalSymlinks(shim)
	if err != nil || filepath.Base(manager) != "mise" {
		manager = cmp.Or(inPath("asdf", env), filepath.Join(filepath.Dir(folder), "bin", "asdf"))
	}
	which := exec.CommandContext(ctx, manager, "which", "git-lfs")
	which.Dir, which.Env = dir, env
	out, _ := which.Output() // nothing where it knows of none
	program := strings.TrimSpace(string(out))
	if _, err := exec.LookPath(program); err != nil || !filepath.IsAbs(program) {
		return ""
	}
	return program
}

// First is an environment in which git finds this git-lfs before all others.
func (s lfsSetup) First(env environ) environ {
	if s.Program == "" || s.Program == inPath("git-lfs", env) {
		return env
	}
	return append(environ{"PATH=" + filepath.Dir(s.Program)}, env...)
}

// Works says whether it starts as the user starts it, outside of any sandbox.
func (s lfsSetup) Works(ctx context.Context, env environ, dir string) bool {
	version := exec.CommandContext(ctx, s.Program, "version")
	version.Dir, version.Env = dir, env
	return version.Run() == nil
}

// skipsContent says whether the user has pointers left as they are.
func skipsContent(c configuration, env environ) bool {
	skip := strings.Contains(c.Get("filter.lfs.process")+c.Get("filter.lfs.smudge"), "--skip")
	for _, pair := range env.Pick("GIT_LFS_SKIP_SMUDGE") {
		_, value, _ := strings.Cut(pair, "=")
		skip = skip || !slices.Contains([]string{"", "0", "false", "no", "off"}, strings.ToLower(value))
	}
	return skip
}

// aboutLFS are the settings of Git LFS in a configuration.
func aboutLFS(all configuration) []setting {
	var out []setting
	for _, c := range all {
		if strings.HasPrefix(c.Key, "lfs.") && c.Key != "lfs.storage" ||
			strings.HasPrefix(c.Key, "remote.") && (strings.HasSuffix(c.Key, ".lfsurl") || strings.HasSuffix(c.Key, ".lfspushurl")) {
			out = append(out, c)
		}
	}
	return out
}

// sharedLFS are the settings that git-lfs takes from .lfsconfig, which is a file of
// the repository. None of them names a program.
func sharedLFS(key string) bool {
	return slices.Contains([]string{"lfs.url", "lfs.pushurl", "lfs.fetchinclude", "lfs.fetchexclude", "lfs.gitprotocol"}, key) ||
		strings.HasPrefix(key, "lfs.") && strings.HasSuffix(key, ".access") ||
		strings.HasPrefix(key, "remote.") && strings.HasSuffix(key, ".lfsurl")
}

// Hold makes of a program with its environment one that reaches no network, writes only
// below the folder write, and reads besides that only programs and the folders read, some
// of which may come to be later.
type Hold func(argv, env, read []string, write string) (heldArgv, heldEnv []string, err error)

// Converter gives the command by which git starts git-lfs to convert files, without its
// arguments. It starts in dir, a git directory of ours, whose folder store it writes to,
// with an environment of its own, and without an address to fetch from: what is not here
// stays a pointer. Objects are those of the run. Of the settings those about converting
// count. With hold it is held.
func (s lfsSetup) Converter(settings []setting, env environ, dir, objects string, hold Hold) (string, error) {
	store := filepath.Join(dir, "store")
	mine := []setting{{Key: "lfs.storage", Value: store}}
	for _, c := range settings {
		if strings.HasPrefix(c.Key, "lfs.extension.") || c.Key == "lfs.fetchinclude" || c.Key == "lfs.fetchexclude" {
			mine = append(mine, c)
		}
	}
	argv := []string{s.Program}
	vars := slices.Concat(env.Pick("HOME", "TMPDIR"),
		[]string{"PATH=" + env.Path(), "LC_ALL=C", "GIT_DIR=" + dir, "GIT_TERMINAL_PROMPT=0", "GIT_LFS_SKIP_DOWNLOAD_ERRORS=1"},
		settingsEnviron(mine))
	if hold != nil {
		var err error
		read := append(stores(objects), dir, s.Storage)
		if argv, vars, err = hold(argv, vars, read, store); err != nil {
			return "", err
		}
	}
	command := "cd " + shellWord(dir) + " && exec"
	for _, word := range slices.Concat([]string{"env", "-i"}, vars, argv) {
		command += " " + shellWord(word)
	}
	return command, nil
}

// stores are a folder of git objects and those that it borrows from, and the folders of
// Git LFS that git-lfs looks for beside them.
func stores(objects string) []string {
	dirs := []string{objects}
	for i := 0; i < len(dirs) && i < 20; i++ { // they may borrow in a circle
		list, _ := os.ReadFile(filepath.Join(dirs[i], "info", "alternates")) // most have none
		for line := range strings.Lines(string(list)) {
			if line = strings.TrimSpace(line); !filepath.IsAbs(line) {
				line = filepath.Join(dirs[i], line)
			}
			dirs = append(dirs, line)
		}
	}
	for _, dir := range slices.Clone(dirs) {
		dirs = append(dirs, filepath.Join(filepath.Dir(dir), "lfs"))
	}
	return dirs
}

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

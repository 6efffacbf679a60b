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
)

// LFS returns the path of the program git-lfs, if it is in PATH and the user's
// configuration has it convert files, as git lfs install sets it up; else "".
func (s *Source) LFS() string { return s.lfs }

// findLFS looks for git-lfs. Of what the configuration names only whether it
// names something counts: what is run is git-lfs itself.
func (s *Source) findLFS() {
	if s.get("filter.lfs.process") == "" && s.get("filter.lfs.clean") == "" {
		return
	}
	for _, dir := range filepath.SplitList(s.env.path()) {
		if program, err := exec.LookPath(filepath.Join(dir, "git-lfs")); err == nil {
			s.lfs = program
			return
		}
	}
}

// storage is the user's folder of what Git LFS keeps.
func (s *Source) storage() string {
	dir := cmp.Or(s.get("lfs.storage"), "lfs")
	if filepath.IsAbs(dir) {
		return dir
	}
	return filepath.Join(s.CommonDir, dir)
}

// skipsContent says whether the user has pointers left as they are.
func (s *Source) skipsContent() bool {
	skip := strings.Contains(s.get("filter.lfs.process")+s.get("filter.lfs.smudge"), "--skip")
	for _, pair := range s.env.pick("GIT_LFS_SKIP_SMUDGE") {
		_, value, _ := strings.Cut(pair, "=")
		skip = skip || !slices.Contains([]string{"", "0", "false", "no", "off"}, strings.ToLower(value))
	}
	return skip
}

// shared are the settings that git-lfs takes from .lfsconfig, which is a file of
// the repository. None of them names a program.
func shared(key string) bool {
	return slices.Contains([]string{"lfs.url", "lfs.pushurl", "lfs.fetchinclude", "lfs.fetchexclude", "lfs.gitprotocol"}, key) ||
		strings.HasPrefix(key, "lfs.") && strings.HasSuffix(key, ".access") ||
		strings.HasPrefix(key, "remote.") && strings.HasSuffix(key, ".lfsurl")
}

// aboutLFS are the user's settings of Git LFS, as they were when the Source was
// found.
func (s *Source) aboutLFS() []setting {
	var out []setting
	for _, c := range s.config {
		if strings.HasPrefix(c.key, "lfs.") && c.key != "lfs.storage" ||
			strings.HasPrefix(c.key, "remote.") && (strings.HasSuffix(c.key, ".lfsurl") || strings.HasSuffix(c.key, ".lfspushurl")) {
			out = append(out, c)
		}
	}
	return out
}

// lfsConfig reads the .lfsconfig that counts: that of the default branch, never
// one of the run's branch or tree, where an agent could name another server.
func (s *Source) lfsConfig(ctx context.Context) ([]setting, error) {
	text, err := s.ReadFile(ctx, cmp.Or(s.defaultHead, s.Head), ".lfsconfig")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var list []byte
	if err == nil {
		read := s.inspection("config", "--file", "-", "--list", "-z", "--no-includes")
		read.stdin = reader(text)
		list, err = read.do(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("read .lfsconfig: %w", err)
	}
	return slices.DeleteFunc(parseConfig(list), func(c setting) bool { return !shared(c.key) }), nil
}

// learnLFS reads which settings git-lfs works with.
func (r *Repo) learnLFS(ctx context.Context) error {
	if r.src.lfs == "" {
		return nil
	}
	repository, err := r.src.lfsConfig(ctx)
	if err != nil {
		return err
	}
	r.lfs = []setting{}
	for _, c := range append(repository, r.src.aboutLFS()...) { // what comes later wins
		if strings.HasSuffix(c.key, "url") {
			address, secret := splitCredentials(c.value)
			c.value = address
			r.lfs = append(r.lfs, secret...)
		}
		r.lfs = append(r.lfs, c)
	}
	return nil
}

// lfsDir joins names to the path of the git directory that git-lfs is given. It
// has no remote, no work tree and nothing checked out, so that git-lfs finds
// no .lfsconfig.
func (r *Repo) lfsDir(names ...string) string {
	return r.home(append([]string{"lfs"}, names...)...)
}

// prepareLFS makes that directory. What files are converted to is kept in its
// folder store until it is committed, and what the user's repository has is
// found through the folder users.
func (r *Repo) prepareLFS() error {
	if r.src.lfs == "" {
		return nil
	}
	if err := os.RemoveAll(r.lfsDir("store")); err != nil {
		return err
	}
	for _, dir := range []string{r.lfsDir("refs"), r.lfsDir("users", "objects")} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	link := r.lfsDir("users", "lfs")
	if to, err := os.Readlink(link); err != nil || to != r.src.storage() {
		if err := errors.Join(os.RemoveAll(link), os.Symlink(r.src.storage(), link)); err != nil {
			return err
		}
	}
	return r.guardLFS()
}

// guardLFS is guard for that directory. Where the user's repository keeps its
// files is said in its configuration, not in variables: a remote that is a folder
// must not take it for its own.
func (r *Repo) guardLFS() error {
	if r.src.lfs == "" {
		return nil
	}
	if err := os.Remove(r.lfsDir("commondir")); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return errors.Join(
		putFile(r.lfsDir("HEAD"), []byte("ref: refs/heads/none\n")),
		putFile(r.lfsDir("config"), []byte(r.src.basics()+"[core]\n\tbare = true\n\thooksPath = /dev/null\n[lfs]\n\tstorage = "+configQuoted(r.src.storage())+"\n")),
		putFile(r.lfsDir("objects", "info", "alternates"), []byte(r.objects()+"\n"+r.lfsDir("users", "objects")+"\n")),
	)
}

// converting is the part of the run's configuration that has git convert files
// with git-lfs. The program starts in a folder of ours, with an environment of
// its own and without an address to fetch from: what is not here stays a pointer.
func (r *Repo) converting() string {
	if r.src.lfs == "" {
		return ""
	}
	settings := []setting{{"lfs.storage", r.lfsDir("store")}}
	for _, c := range slices.Concat(r.lfs, r.src.aboutLFS()) {
		if strings.HasPrefix(c.key, "lfs.extension.") || c.key == "lfs.fetchinclude" || c.key == "lfs.fetchexclude" {
			settings = append(settings, c)
		}
	}
	words := slices.Concat([]string{"env", "-i"}, r.src.env.pick("HOME", "TMPDIR"),
		[]string{"PATH=" + r.src.env.path(), "LC_ALL=C", "GIT_DIR=" + r.lfsDir(), "GIT_TERMINAL_PROMPT=0", "GIT_LFS_SKIP_DOWNLOAD_ERRORS=1"},
		ofConfig(settings), []string{r.src.lfs, "filter-process"})
	if r.src.skipsContent() {
		words = append(words, "--skip")
	}
	command := "cd " + shellQuoted(r.lfsDir()) + " && exec"
	for _, word := range words {
		command += " " + shellQuoted(word)
	}
	return "[filter \"lfs\"]\n\tprocess = " + configQuoted(command) + "\n\trequired = true\n"
}

// unconverted are the arguments by which git takes files as they are.
func unconverted() []string {
	return []string{"-c", "filter.lfs.process=", "-c", "filter.lfs.required=false"}
}

// blameLFS says so if files could not be converted because git-lfs does not work:
// git itself only finds that it has gone.
func (r *Repo) blameLFS(ctx context.Context, err error) error {
	if r.src.lfs == "" || ctx.Err() != nil {
		return err
	}
	if _, broken := r.offline(ctx, call{args: []string{"lfs", "version"}}); broken != nil {
		return fmt.Errorf("%s does not work (%w): install it again, or run git lfs uninstall to do without it: %w", r.src.lfs, broken, err)
	}
	return err
}

// inObjects is where a folder of Git LFS has an object.
func inObjects(storage, oid string) string {
	return filepath.Join(storage, "objects", oid[:2], oid[2:4], oid)
}

// shellQuoted makes one word of a shell's command line.
func shellQuoted(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// configQuoted is a value in a configuration file of git.
func configQuoted(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

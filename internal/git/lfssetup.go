package git

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/prompts"
)

// lfsSetup is how the user has set up Git LFS.
type lfsSetup struct {
	Program  string    // Path of git-lfs; "": it is not there, or not to be used
	Storage  string    // the user's folder of what Git LFS keeps
	Skips    bool      // the user has pointers left as they are
	Settings []setting // as they were when the Source was found
}

// findLFS looks for git-lfs, which alone is run: of the programs in the configuration only counts whether there are any.
func findLFS(all configuration, env environ, commonDir string) lfsSetup {
	filter := all.Get("filter.lfs.process") + all.Get("filter.lfs.clean")
	found := lfsSetup{Storage: cmp.Or(all.Get("lfs.storage"), "lfs"), Skips: strings.Contains(filter+all.Get("filter.lfs.smudge"), "--skip")}
	if !filepath.IsAbs(found.Storage) {
		found.Storage = filepath.Join(commonDir, found.Storage)
	}
	for _, pair := range env.pick("GIT_LFS_SKIP_SMUDGE") {
		_, value, _ := strings.Cut(strings.ToLower(pair), "=")
		found.Skips = found.Skips || !slices.Contains([]string{"", "0", "false", "no", "off"}, value)
	}
	for _, c := range all {
		if strings.HasPrefix(c.Key, "lfs.") && c.Key != "lfs.storage" ||
			strings.HasPrefix(c.Key, "remote.") && (strings.HasSuffix(c.Key, ".lfsurl") || strings.HasSuffix(c.Key, ".lfspushurl")) {
			found.Settings = append(found.Settings, c)
		}
	}
	if program, err := exec.LookPath("git-lfs"); filter != "" && err == nil {
		found.Program = program
	}
	return found
}

// sharedLFS are the settings that git-lfs takes from the repository's .lfsconfig. None of them names a program.
func sharedLFS(key string) bool {
	return slices.Contains([]string{"lfs.url", "lfs.pushurl", "lfs.fetchinclude", "lfs.fetchexclude", "lfs.gitprotocol"}, key) ||
		strings.HasPrefix(key, "lfs.") && strings.HasSuffix(key, ".access") ||
		strings.HasPrefix(key, "remote.") && strings.HasSuffix(key, ".lfsurl")
}

// encodingOf is what a file is converted from and to that has another encoding in the tree than in commits.
const encodingOf = "working-tree-encoding="

// filters names those that .gitattributes of a commit gives files to, such as lfs, and the encodings, as they stand there.
func (r reader) filters(ctx context.Context, commit string) (names []string, err error) {
	out, err := r.git(ctx, "grep", "-h", "--fixed-strings", "-e", "filter=", "-e", encodingOf, commit, "--", ":(top,glob)**/.gitattributes")
	if err != nil && exitCode(err) != 1 {
		return nil, fmt.Errorf("look for Git LFS: %w", err)
	}
	return filtersIn(string(out)), nil
}

// ownAttributes are the files, if they are there, in which a user gives attributes to files of this and all repositories;
// the last is core.attributesFile.
func (s *Source) ownAttributes() []string {
	dirs := [2]string{}
	for i, name := range []string{"HOME", "XDG_CONFIG_HOME"} {
		for _, pair := range s.env.pick(name) {
			_, dirs[i], _ = strings.Cut(pair, "=")
		}
	}
	global := filepath.Join(cmp.Or(dirs[1], filepath.Join(dirs[0], ".config")), "git", "attributes")
	for _, c := range s.config {
		if c.Key == "core.attributesfile" && c.Value != os.DevNull { // which is ours
			global = c.Value
		}
	}
	if below, ok := strings.CutPrefix(global, "~/"); ok {
		global = filepath.Join(dirs[0], below)
	}
	return []string{filepath.Join(s.CommonDir, "info", "attributes"), global}
}

// filtersIn names the filters and encodings in a text of attributes.
func filtersIn(text string) (names []string) {
	for line := range strings.Lines(text) {
		for _, word := range strings.Fields(line) {
			name, ok := strings.CutPrefix(word, "filter=")
			if (ok || strings.HasPrefix(word, encodingOf)) && word != encodingOf+"UTF-8" && !strings.HasPrefix(line, "#") && !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	return names
}

// hold makes of a program with its environment one that reaches no network, writes only below write, and reads
// besides that only programs and the folders read, some of which may come to be later.
type hold func(argv, env, read []string, write string) (heldArgv, heldEnv []string, err error)

// learnLFS reads the settings of git-lfs about converting, and finds the command by which git starts it: in a git
// directory and environment of its own, and without an address, so that what is not here stays a pointer.
func (r *Repo) learnLFS(ctx context.Context) error {
	if r.src.lfs.Program == "" {
		return nil
	}
	repository, err := r.lfsConfig(ctx)
	if err != nil {
		return err
	}
	store := r.lfsDir("store")
	r.lfs = []setting{}
	converting := []setting{{Key: "lfs.storage", Value: store}}
	for _, c := range append(repository, r.src.lfs.Settings...) { // what comes later wins
		if strings.HasSuffix(c.Key, "url") {
			address, secret := splitCredentials(c.Value)
			c.Value = address
			r.lfs = append(r.lfs, secret...)
		}
		r.lfs = append(r.lfs, c)
		if strings.HasPrefix(c.Key, "lfs.extension.") || c.Key == "lfs.fetchinclude" || c.Key == "lfs.fetchexclude" {
			converting = append(converting, c)
		}
	}
	argv, env := []string{r.src.lfs.Program}, slices.Concat(r.src.env.pick("HOME", "TMPDIR"),
		[]string{"PATH=" + r.src.env.Path(), "LC_ALL=C", "GIT_DIR=" + r.lfsDir(), "GIT_TERMINAL_PROMPT=0", "GIT_LFS_SKIP_DOWNLOAD_ERRORS=1"},
		settingsEnviron(converting))
	if r.opt.Hold != nil {
		read := []string{r.objects(), r.src.objects(), r.lfsDir(), r.src.lfs.Storage}
		if argv, env, err = r.opt.Hold(argv, env, read, store); err != nil {
			return err
		}
	}
	r.held = argv[0] != r.src.lfs.Program
	r.converter = "cd " + text.QuoteShell(r.lfsDir()) + " && exec"
	for _, word := range slices.Concat([]string{"env", "-i"}, env, argv) {
		r.converter += " " + text.QuoteShell(word)
	}
	return nil
}

// lfsConfig reads .lfsconfig of the default branch: on the run's branch or tree an agent could name another server.
func (r *Repo) lfsConfig(ctx context.Context) ([]setting, error) {
	text, err := r.src.ReadFile(ctx, cmp.Or(r.src.defaultHead, r.src.Head), ".lfsconfig")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var list []byte
	if err == nil {
		read := r.src.inspection("config", "--file", "-", "--list", "-z", "--no-includes")
		read.Stdin = string(text)
		list, err = read.do(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("read .lfsconfig: %w", err)
	}
	return slices.DeleteFunc(parseConfig(list), func(c setting) bool { return !sharedLFS(c.Key) }), nil
}

// lfsDir is the git directory of git-lfs: without remote, work tree and checkout, so that it finds no .lfsconfig.
func (r *Repo) lfsDir(names ...string) string {
	return r.home(append([]string{"lfs"}, names...)...)
}

// prepareLFS makes that directory. Its store keeps what files are converted to until it is committed; through
// users it finds what the user's repository has.
func (r *Repo) prepareLFS() error {
	if r.src.lfs.Program == "" {
		return nil
	}
	users := r.lfsDir("users")
	return errors.Join(r.emptyStore(), os.MkdirAll(r.lfsDir("refs"), 0o755), os.RemoveAll(users),
		os.MkdirAll(filepath.Join(users, "objects"), 0o755), os.Symlink(r.src.lfs.Storage, filepath.Join(users, "lfs")), r.guardLFS())
}

func (r *Repo) emptyStore() error {
	return errors.Join(os.RemoveAll(r.lfsDir("store")), os.MkdirAll(r.lfsDir("store"), 0o755))
}

// guardLFS is guardDir for that directory. The user's storage is named in its configuration, not in variables: a
// remote that is a folder must not take it for its own.
func (r *Repo) guardLFS() error {
	if r.src.lfs.Program == "" {
		return nil
	}
	return errors.Join(
		guardDir(r.lfsDir(), r.src.basics()+"[core]\n\tbare = true\n\thooksPath = /dev/null\n[lfs]\n\tstorage = "+quoted(r.src.lfs.Storage)+"\n"),
		folders.PutFile(r.lfsDir("HEAD"), []byte("ref: refs/heads/none\n")),
		folders.PutFile(r.lfsDir("objects", "info", "alternates"), []byte(r.objects()+"\n"+r.lfsDir("users", "objects")+"\n")),
	)
}

// converting is the configuration that has git convert files with git-lfs, once its settings are known.
func (r *Repo) converting() string {
	if r.converter == "" {
		return ""
	}
	process := r.converter + " filter-process" + text.If(r.src.lfs.Skips, " --skip")
	return "[filter \"lfs\"]\n\tprocess = " + quoted(process) + "\n\trequired = true\n"
}

// unconverted are the arguments by which git takes files as they are.
func unconverted() []string {
	return []string{"-c", "filter.lfs.process=", "-c", "filter.lfs.required=false"}
}

// blameLFS names git-lfs in an error if it does not work: git says only that the filter has ended.
func (r *Repo) blameLFS(ctx context.Context, err error) error {
	if r.converter == "" || ctx.Err() != nil {
		return err
	}
	held := call{How: []string{"-c", "alias.lfs-version=!" + r.converter + " version"}, Args: []string{"lfs-version"}}
	_, broken := r.offline(ctx, held)
	if broken == nil {
		return err
	}
	why := metadata.Because("git_lfs_broken", "program", r.src.lfs.Program, "broken", broken, "error", err)
	if r.held {
		why = metadata.Because("git_lfs_held", "program", r.src.lfs.Program, "broken", broken, "error", err)
	}
	return &prompts.Error{Err: err, Reason: why}
}

// pointer is what is committed in place of a file that Git LFS keeps.
type pointer struct {
	op          // where it is, and as which blob
	oid  string // SHA-256 of the file
	size int64  // of the file, in bytes
}

// maxPointer is more than any pointer of Git LFS has, in bytes.
const maxPointer = 1024

var pointerForm = text.Pattern(`(?s)\Aversion https://git-lfs\.github\.com/spec/v1\n(?:.*\n)?oid sha256:([0-9a-f]{64})\nsize ([0-9]{1,18})\n`)

// parsePointer reads a pointer, if that is what text is.
func parsePointer(text []byte) (pointer, bool) {
	m := pointerForm().FindSubmatch(text)
	if m == nil || len(text) > maxPointer {
		return pointer{}, false
	}
	size, err := strconv.ParseInt(string(m[2]), 10, 64)
	return pointer{oid: string(m[1]), size: size}, err == nil
}

// largeFile is where a folder of Git LFS has an object.
func largeFile(storage, oid string) string {
	return filepath.Join(storage, "objects", oid[:2], oid[2:4], oid)
}

func (p pointer) in(storage string) bool {
	info, err := os.Lstat(largeFile(storage, p.oid))
	return err == nil && info.Mode().IsRegular() && info.Size() == p.size
}

// read gives what the pointer stands for from a folder of git-lfs. Something else there, or a link, is an error.
func (p pointer) read(storage string) ([]byte, error) {
	if p.size > maxJudged {
		return nil, fmt.Errorf("%s has %d bytes, at most %d can be looked through", p.path, p.size, maxJudged)
	}
	root, err := os.OpenRoot(storage)
	if err != nil {
		return nil, err
	}
	defer root.Close() // opened for reading
	f, _, err := folders.Open(root, filepath.ToSlash(largeFile(".", p.oid)))
	if err != nil {
		return nil, err
	}
	defer f.Close() // likewise
	data, err := io.ReadAll(io.LimitReader(f, p.size+1))
	if err == nil && fmt.Sprintf("%x", sha256.Sum256(data)) != p.oid {
		err = fmt.Errorf("git-lfs has stored something else for %s than its pointer says: check the disk and the program, with git lfs fsck and git lfs version", p.path)
	}
	return data, err
}

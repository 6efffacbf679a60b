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
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/reprise-ci/reprise/internal/text"
)

// Source is the user's repository as it was found. Its methods only read. It holds no credentials a caller can see.
type Source struct {
	Dir           string // top of the work tree, absolute
	CommonDir     string // git directory that all its work trees share, absolute
	Head          string // commit that is checked out
	Branch        string // "" when HEAD is detached
	DefaultBranch string // as the remote says, else main or master if there is one, else ""
	RemoteURL     string // of origin, without credentials; "" without an origin
	GitHub        string // owner/name from RemoteURL, whatever the host; "" if it has not that form
	Shallow       bool
	UserName      string // as git names an author; "" if it is said nowhere
	UserEmail     string // likewise

	env         environ
	known       *recalled // see once
	config      configuration
	remoteHead  string             // full name of the branch that origin names as its own; "" if it is not known
	defaultHead string             // commit of DefaultBranch
	remotes     map[string]*remote // by their names
	origin      *remote
	promisors   []*remote // those that send what a partial clone has left out, whenever a command needs it; none: the repository has all its objects
	lfs         lfsSetup
}

// Trusted is the commit that the default branch is at or, if that is not known, what is checked out.
func (s *Source) Trusted() string { return cmp.Or(s.defaultHead, s.Head) }

// At gives the repository as it was when the default branch was at a commit.
func (s *Source) At(commit string) *Source {
	then := *s
	then.DefaultBranch, then.defaultHead = commit, commit
	return &then
}

// NotARepository says that a folder cannot be worked on as a git repository.
type NotARepository struct {
	Dir string
	Why string // what is wrong and what to do about it
	Err error
}

// Error says which folder, why, and what to do.
func (e *NotARepository) Error() string { return fmt.Sprintf("%s: %s", e.Dir, e.Why) }

// Unwrap returns what git said.
func (e *NotARepository) Unwrap() error { return e.Err }

// NoCommits says that there is nothing yet that a branch could start from.
type NoCommits struct{ Dir string }

// Error says what to do.
func (e *NoCommits) Error() string {
	return fmt.Sprintf("%s: what is checked out has no commit yet: commit something first, "+
		"for example git commit --allow-empty -m start", e.Dir)
}

// Find reads the repository of dir or a folder above it. The error may be a *NotARepository or *NoCommits. Call it
// before any agent runs: what the user's configuration says about the network is read here, and never again.
func Find(ctx context.Context, dir string) (*Source, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, &NotARepository{Dir: "the current folder", Why: "is gone: go to another one", Err: err}
	}
	if strings.ContainsAny(dir, "\r\n") || !utf8.ValidString(dir) {
		return nil, &NotARepository{Dir: strconv.Quote(dir), Why: "has a line break in its path, or what is no UTF-8, which not every program can read: rename that folder"}
	}
	if info, err := os.Stat(dir); err != nil {
		return nil, &NotARepository{Dir: dir, Why: "no such folder", Err: err}
	} else if !info.IsDir() {
		return nil, &NotARepository{Dir: dir, Why: "is not a folder"}
	}
	s := &Source{Dir: dir, env: takeEnviron(), known: &recalled{}}
	if err := s.locate(ctx); err != nil {
		return nil, err
	}
	if err := s.readConfig(ctx); err != nil {
		return nil, err
	}
	s.lfs = findLFS(s.config, s.env, s.CommonDir)
	if err := s.findDefault(ctx); err != nil {
		return nil, err
	}
	if err := s.findRemotes(ctx); err != nil {
		return nil, err
	}
	if s.origin = s.remotes["origin"]; s.origin != nil {
		s.RemoteURL, s.GitHub = s.origin.push, ownerAndName(s.origin.push)
	}
	s.findPromisors()
	return s, nil
}

// originHead is where git keeps which branch a clone began with.
const originHead = "refs/remotes/origin/HEAD"

// LFS returns the path of git-lfs, if it is in PATH and the user's configuration has it convert files; else "".
func (s *Source) LFS() string { return s.lfs.Program }

// trusting is the command by which a user has git read a folder of somebody else's.
func trusting(dir string) string {
	return "git config --global --add safe.directory " + text.QuoteShell(dir)
}

// locate asks git where the repository is: it prints a line per question, up to the first it cannot answer.
func (s *Source) locate(ctx context.Context) error {
	out, err := s.discovery("rev-parse", "--path-format=absolute",
		"--is-bare-repository", "--git-common-dir", "--is-shallow-repository", "--show-object-format",
		"--show-toplevel", "HEAD^{commit}", "--symbolic-full-name", "HEAD", originHead).do(ctx)
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	said := stderrOf(err)
	unknown := strings.Contains(said, "unknown revision") // else git did not answer what is missing
	_, absent := os.Lstat(filepath.Join(s.Dir, ".git"))
	switch {
	case err == nil && len(lines) == 8:
		s.remoteHead = lines[7]
	case len(lines) >= 7 && unknown: // there is no such branch of a remote
	case ctx.Err() != nil:
		return ctx.Err()
	case strings.Contains(said, "dubious ownership"):
		return &NotARepository{Dir: s.Dir, Err: err, Why: "belongs to another user, so git does not read it: " + trusting(s.Dir)}
	case strings.Contains(said, "safe.bareRepository"), strings.Contains(said, "must be run in a work tree"):
		return &NotARepository{Dir: s.Dir, Err: err, Why: "is a bare repository, or the inside of .git: name a folder where its files are checked out"}
	case len(lines) >= 5 && unknown:
		return &NoCommits{Dir: lines[4]}
	case strings.Contains(said, "not a git repository") && absent == nil:
		return &NotARepository{Dir: s.Dir, Err: err, Why: "has a .git that is no repository, or whose files this user may not read: remove it, or give it to this user"}
	case strings.Contains(said, "not a git repository"):
		return &NotARepository{Dir: s.Dir, Err: err, Why: "is not in a git repository: name one with --repo, or make one with git init"}
	default:
		return fmt.Errorf("git cannot read %s: %w", s.Dir, cmp.Or(err, fmt.Errorf("git rev-parse answered %q", out)))
	}
	s.CommonDir, s.Dir, s.Head = lines[1], lines[4], lines[5]
	if lines[3] != "sha1" {
		return &NotARepository{Dir: s.Dir, Why: "names its objects by " + lines[3] + ", which GitHub and reprise do not know: name a repository that was made with git init --object-format=sha1"}
	}
	s.Shallow = lines[2] == "true"
	s.Branch, _ = strings.CutPrefix(lines[6], "refs/heads/")
	if lines[6] == "HEAD" {
		s.Branch = ""
	}
	return nil
}

func (s *Source) readConfig(ctx context.Context) error {
	out, err := s.discovery("config", "--list", "-z", "--includes").do(ctx)
	if err != nil {
		return fmt.Errorf("read the configuration of %s: %w", s.Dir, err)
	}
	s.config = parseConfig(out)
	s.UserName, s.UserEmail = s.config.author(s.env, "NAME"), s.config.author(s.env, "EMAIL")
	return nil
}

func (s *Source) findDefault(ctx context.Context) error {
	names, ref := []string{"main", "master"}, ""
	if name, ok := strings.CutPrefix(s.remoteHead, "refs/remotes/origin/"); ok && s.remoteHead != originHead {
		names, ref = []string{name}, s.remoteHead
	}
	for _, name := range names {
		commit, err := s.resolve(ctx, cmp.Or(ref, name))
		if err == nil {
			s.DefaultBranch, s.defaultHead = name, commit
			return nil
		}
		if !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("look for the default branch of %s: %w", s.Dir, err)
		}
	}
	return nil
}

// addressLine is how git lists an address of a remote.
var addressLine = text.Pattern(`(?m)^([^\t\n]+)\t(.*) \((fetch|push)\)`)

// findRemotes reads the remotes. Rewriting rules (url.*.insteadOf) of the user are applied now and never again.
func (s *Source) findRemotes(ctx context.Context) error {
	s.remotes = map[string]*remote{}
	if !slices.ContainsFunc(s.config, func(c setting) bool { return strings.HasPrefix(c.Key, "remote.") }) {
		return nil
	}
	out, err := s.discovery("remote", "-v").do(ctx)
	if err != nil {
		return fmt.Errorf("find the addresses of remotes: %w", err)
	}
	for _, line := range addressLine().FindAllStringSubmatch(string(out), -1) {
		r := cmp.Or(s.remotes[line[1]], &remote{name: line[1], settings: s.config.Network()})
		s.remotes[r.name] = r
		to := map[string]*string{"fetch": &r.fetch, "push": &r.push}[line[3]]
		if *to != "" {
			continue // the first counts
		}
		plain, secret := splitCredentials(line[2])
		*to, r.settings = absolute(s.Dir, plain), append(r.settings, secret...)
	}
	return nil
}

// discovery is a command of git in the user's folder, with the user's own configuration.
func (s *Source) discovery(args ...string) call {
	return call{Dir: s.Dir, Env: s.env.discovery(), Args: args}
}

// inspect runs git on the user's git directory: only commands that look at refs and objects, or move the run's own
// branch, since these run nothing that a configuration file can name.
func (s *Source) inspect(ctx context.Context, args ...string) ([]byte, error) {
	return s.inspection(args...).do(ctx)
}

// offline is how objects are read that are here.
func (s *Source) offline() reader {
	return s.once(func(ctx context.Context, c call) ([]byte, error) {
		at := s.inspection()
		c.Dir, c.Env = at.Dir, at.Env
		return c.do(ctx)
	})
}

func (s *Source) inspection(args ...string) call {
	return call{Dir: s.CommonDir, Env: append(s.env.local(), "GIT_DIR="+s.CommonDir), Args: args}
}

// basics are the settings of a git directory made here. Of the user's, only those on the file system are copied.
func (s *Source) basics() string {
	var b strings.Builder
	fmt.Fprintf(&b, "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tlogAllRefUpdates = false\n\tignorecase = %t\n", s.config.ignoresCase(s.CommonDir))
	for _, key := range []string{"filemode", "symlinks", "precomposeunicode"} {
		if v := s.config.Get("core." + key); v == "true" || v == "false" {
			fmt.Fprintf(&b, "\t%s = %s\n", key, v)
		}
	}
	return b.String()
}

func (s *Source) objects() string { return filepath.Join(s.CommonDir, "objects") }

// moveRef moves a ref from one commit, from none as zeros, or from whatever it is at as "",
// to another. Git is not told to end: it might leave its lock.
func (s *Source) moveRef(ctx context.Context, ref, to, from string) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	c := s.inspection()
	if c.Args = []string{"update-ref", "-m", "reprise", ref, to}; from != "" {
		c.Args = append(c.Args, from)
	}
	var err error
	for range 2 { // what was in its way may be gone
		if _, err = c.do(context.WithoutCancel(ctx)); err == nil {
			return nil
		}
		if now, _ := s.inspect(ctx, "rev-parse", "--verify", "--quiet", ref); strings.TrimSpace(string(now)) == to { // only its answer was lost
			return nil
		}
	}
	return err
}

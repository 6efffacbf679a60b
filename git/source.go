package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Source is the user's repository as it was when it was found. Its methods
// only read. It holds no credentials that a caller can see.
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
	store       *store // offline
	config      []setting
	remoteHead  string // full name of the branch that origin names as its own; "" if it is not known
	defaultHead string // commit of DefaultBranch
	origin      *remote
	promisors   []promisor // none: the repository has all its objects
	sha256      bool
	lfs         string // path of git-lfs; "": it is not there, or not to be used
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

// Find reads the repository that dir, or a folder above it, is the work tree
// of. Errors are *NotARepository and *NoCommits where that is the matter. Call
// it before any agent runs: what the user's configuration says about the
// network is read here, and never again.
func Find(ctx context.Context, dir string) (*Source, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	if info, err := os.Stat(dir); err != nil {
		return nil, &NotARepository{Dir: dir, Why: "no such folder", Err: err}
	} else if !info.IsDir() {
		return nil, &NotARepository{Dir: dir, Why: "is not a folder"}
	}
	s := &Source{Dir: dir, env: takeEnviron()}
	s.store = &store{place: func(context.Context) (call, error) { return s.inspection(), nil }}
	if err := s.locate(ctx); err != nil {
		return nil, err
	}
	if err := s.readConfig(ctx); err != nil {
		return nil, err
	}
	s.findLFS()
	if err := s.findDefault(ctx); err != nil {
		return nil, err
	}
	origin, err := s.remote(ctx, "origin")
	if err != nil {
		return nil, err
	}
	if s.origin = origin; origin != nil {
		s.RemoteURL, s.GitHub = origin.push, ownerAndName(origin.push)
	}
	if err := s.findPromisors(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// originHead is where git keeps which branch a clone began with.
const originHead = "refs/remotes/origin/HEAD"

// locate asks where the repository is. Git prints one line per question, and
// stops at the first it cannot answer.
func (s *Source) locate(ctx context.Context) error {
	out, err := s.discover(ctx, "rev-parse", "--path-format=absolute",
		"--is-bare-repository", "--git-common-dir", "--is-shallow-repository", "--show-object-format",
		"--show-toplevel", "HEAD^{commit}", "--symbolic-full-name", "HEAD", originHead)
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	said := stderrOf(err)
	switch {
	case err == nil && len(lines) == 8:
		s.remoteHead = lines[7]
	case len(lines) >= 7: // there is no such branch of a remote
	case ctx.Err() != nil:
		return ctx.Err()
	case strings.Contains(said, "dubious ownership"):
		return &NotARepository{Dir: s.Dir, Err: err, Why: "belongs to another user, so git does not read it: " +
			"git config --global --add safe.directory " + s.Dir}
	case strings.Contains(said, "safe.bareRepository"), strings.Contains(said, "must be run in a work tree"):
		return &NotARepository{Dir: s.Dir, Err: err, Why: "is a bare repository, or the inside of .git: name a folder where its files are checked out"}
	case len(lines) >= 5:
		return &NoCommits{Dir: lines[4]}
	case strings.Contains(said, "not a git repository"):
		return &NotARepository{Dir: s.Dir, Err: err, Why: "is not in a git repository: name one, or make one with git init"}
	default:
		return &NotARepository{Dir: s.Dir, Err: err, Why: fmt.Sprintf("git cannot read it: %v", err)}
	}
	s.CommonDir, s.Dir, s.Head = lines[1], lines[4], lines[5]
	s.Shallow, s.sha256 = lines[2] == "true", lines[3] == "sha256"
	s.Branch, _ = strings.CutPrefix(lines[6], "refs/heads/")
	if lines[6] == "HEAD" {
		s.Branch = ""
	}
	return nil
}

func (s *Source) readConfig(ctx context.Context) error {
	out, err := s.discover(ctx, "config", "--list", "-z", "--includes")
	if err != nil {
		return fmt.Errorf("read the configuration of %s: %w", s.Dir, err)
	}
	s.config = parseConfig(out)
	s.UserName, s.UserEmail = s.who("NAME"), s.who("EMAIL")
	return nil
}

// parseConfig reads what git config lists with -z.
func parseConfig(list []byte) (out []setting) {
	for entry := range strings.SplitSeq(string(list), "\x00") {
		// An entry without a line break is a key without a value, which means true.
		key, value, ok := strings.Cut(entry, "\n")
		if !ok {
			value = "true"
		}
		if key != "" {
			out = append(out, setting{key, value})
		}
	}
	return out
}

// who gives the name or the address of the user as git finds it for an author.
func (s *Source) who(part string) string {
	for _, pair := range s.env.pick("GIT_AUTHOR_" + part) {
		if _, value, _ := strings.Cut(pair, "="); value != "" {
			return value
		}
	}
	key := strings.ToLower(part)
	return cmp.Or(s.get("author."+key), s.get("user."+key))
}

// get returns the value of a setting that counts: the last.
func (s *Source) get(key string) string {
	for i := len(s.config) - 1; i >= 0; i-- {
		if s.config[i].key == key {
			return s.config[i].value
		}
	}
	return ""
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

// discover runs git in the user's folder, with the user's own configuration.
func (s *Source) discover(ctx context.Context, args ...string) ([]byte, error) {
	return call{dir: s.Dir, env: s.env.discovery(), args: args}.do(ctx)
}

// inspect runs git on the user's git directory. It may only run commands that
// look at refs and objects, or move the run's own branch: none of them runs
// anything that a configuration file can name.
func (s *Source) inspect(ctx context.Context, args ...string) ([]byte, error) {
	return s.inspection(args...).do(ctx)
}

func (s *Source) inspection(args ...string) call {
	return call{dir: s.CommonDir, env: append(s.env.local(), "GIT_DIR="+s.CommonDir), args: args}
}

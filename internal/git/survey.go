package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// Survey is what origin has of many branches now: its Source has them as branches of origin, and all objects, but no
// branches, of the user's repository. Nothing of it is in that repository.
type Survey struct {
	*Source
	line  line
	tried map[string]bool // commits that origin was asked for
}

// surveyWithin is how long origin has for an answer.
const surveyWithin = time.Minute

// NewSurvey fetches the newest commits of origin's refs that begin as within says and that choose picks. The token, if
// not nil, replaces the user's credentials. It lies in dir, emptied first, which no agent in a sandbox may write to.
// The result has to be closed.
func NewSurvey(ctx context.Context, s *Source, dir string, token func(context.Context) (string, error), within []string, choose func([]Ref) []Ref) (*Survey, error) {
	if s.origin == nil {
		return nil, errors.New("there is no origin")
	}
	if err := os.RemoveAll(dir); err != nil {
		return nil, err
	}
	v := &Survey{&Source{}, line{src: s, remote: s.origin, token: token, patience: surveyWithin}, map[string]bool{}}
	*v.Source = *s
	v.CommonDir, v.promisors = dir, nil // what is missing is not fetched one by one
	if err := s.apartIn(dir); err != nil {
		return nil, err
	}
	list := []string{"ls-remote", "--refs", "--end-of-options", v.origin.fetch}
	for _, begins := range within {
		list = append(list, begins+"*")
	}
	out, err := v.talk(ctx, list...)
	if chosen := choose(ParseRefs(out)); err == nil && len(chosen) > 0 {
		err = v.fetch(ctx, refsFetched(chosen)...)
	}
	if err != nil {
		v.Close()
		return nil, fmt.Errorf("fetch branches of origin: %w", err)
	}
	return v, nil
}

// Need fetches those commits that are not here, each alone. One that origin does not give is not asked for again.
func (v *Survey) Need(ctx context.Context, commits ...string) error {
	within, stop := context.WithTimeout(ctx, surveyWithin)
	defer stop()
	for _, commit := range commits {
		if !isHash(commit) || v.tried[commit] {
			continue
		}
		v.tried[commit] = true
		if found, err := v.offline().objects(within, commit); err != nil || found[0].Kind == "" {
			_ = v.fetch(within, "+"+commit+":refs/reprise/needed/"+commit) // a record of others may name any
		}
	}
	return ctx.Err()
}

// fetch asks origin to leave files out that are larger than any record.
func (v *Survey) fetch(ctx context.Context, what ...string) error {
	_, err := v.talk(ctx, append(append(FetchArgs(), "--depth=1", "--filter=blob:limit=64m", "--end-of-options", v.origin.fetch), what...)...)
	return err
}

// talk reads no configuration that something else has written, and leaves none by which
// git would ask origin for the files that were left out: they are not here.
func (v *Survey) talk(ctx context.Context, args ...string) (out []byte, err error) {
	if err = guardDir(v.CommonDir, v.basics()); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, guardDir(v.CommonDir, v.basics())) }()
	return v.line.do(ctx, call{Dir: v.CommonDir, Env: []string{"GIT_DIR=" + v.CommonDir}, Args: args, Limit: 4 << 20})
}

// Close removes what was fetched.
func (v *Survey) Close() {
	_ = os.RemoveAll(v.CommonDir) // what is left, the next survey removes
}

// Only chooses the refs of those names.
func Only(names ...string) func([]Ref) []Ref {
	return func(all []Ref) []Ref {
		return slices.DeleteFunc(all, func(r Ref) bool { return !slices.Contains(names, r.Name) })
	}
}

// Peek surveys a branch of origin, and the record that is kept by a name, see Options.Keep, with the user's credentials.
// Errors wrap fs.ErrNotExist if there is no origin or branch.
func (s *Source) Peek(ctx context.Context, branch, kept string) (*Survey, error) {
	if s.origin == nil {
		return nil, fmt.Errorf("branch %s: there is no origin to look at: %w", branch, fs.ErrNotExist)
	}
	dir, err := os.MkdirTemp("", "reprise-git-")
	if err != nil {
		return nil, err
	}
	names := []string{"refs/heads/" + branch, KeptRefs + kept}
	v, err := NewSurvey(ctx, s, dir, nil, names, Only(names...))
	if err == nil {
		_, err = v.resolve(ctx, "refs/remotes/origin/"+branch)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("fetch %s from origin: %w", branch, err), os.RemoveAll(dir))
	}
	return v, nil
}

// findPromisors reads which remotes the user's repository relies on for objects.
func (s *Source) findPromisors() {
	var names []string
	for _, c := range s.config {
		if c.Key == "extensions.partialclone" {
			names = append(names, c.Value)
		}
		rest, isRemote := strings.CutPrefix(c.Key, "remote.")
		name, promises := strings.CutSuffix(rest, ".promisor")
		if isRemote && promises && slices.Contains([]string{"true", "yes", "on", "1"}, strings.ToLower(c.Value)) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if r := s.remotes[name]; r != nil {
			r.filter = s.config.Get("remote." + name + ".partialclonefilter")
			s.promisors = append(s.promisors, r)
		}
	}
}

// Partial returns what a partial clone left out, such as "blob:none"; "" for a clone that is whole.
func (s *Source) Partial() string {
	if len(s.promisors) == 0 {
		return ""
	}
	if filter := s.promisors[0].filter; filter != "" {
		return filter
	}
	return "some objects"
}

// promises are the settings by which git fetches objects that are missing.
func (s *Source) promises() (out []setting) {
	for _, p := range s.promisors {
		out = append(out, setting{Key: "remote." + p.name + ".url", Value: p.fetch}, setting{Key: "remote." + p.name + ".promisor", Value: "true"})
		if p.filter != "" {
			out = append(out, setting{Key: "remote." + p.name + ".partialclonefilter", Value: p.filter})
		}
	}
	return out
}

// reads gives objects by hash. A partial clone fetches missing ones into the user's repository, as its git would.
func (s *Source) reads() reader {
	if len(s.promisors) == 0 {
		return s.offline()
	}
	return s.once(func(ctx context.Context, c call) ([]byte, error) {
		dir, remove, err := s.apart()
		if err != nil {
			return nil, err
		}
		defer remove()
		c.Dir, c.Env = dir, []string{"GIT_DIR=" + dir, "GIT_OBJECT_DIRECTORY=" + s.objects()}
		return line{src: s, remote: s.promisors[0]}.do(ctx, c)
	})
}

// apart makes a git directory for a while that knows only where the user's history is cut and what is checked out:
// what runs there reads no configuration of the user's repository.
func (s *Source) apart() (dir string, remove func(), err error) {
	if dir, err = os.MkdirTemp("", "reprise-git-"); err != nil {
		return "", nil, err
	}
	remove = func() { _ = os.RemoveAll(dir) } // a temporary folder; the system removes what is left
	if err = s.apartIn(dir); err != nil {
		remove()
	}
	return dir, remove, err
}

func (s *Source) apartIn(dir string) error {
	files := map[string]string{
		"HEAD": "ref: refs/heads/none\n", "config": s.basics(), "refs/reprise/head": s.Head + "\n",
		"objects/info/alternates": s.objects() + "\n", "info/attributes": "* " + mergeAttributes + "\n",
	}
	cuts, err := textOf(filepath.Join(s.CommonDir, "shallow"))
	if cuts != "" {
		files["shallow"] = cuts
	}
	for name, text := range files {
		name = filepath.Join(dir, name)
		err = errors.Join(err, os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644))
	}
	return err
}

// Behind says how a branch stands to another one that it left at from, both as in ReadFile. Nothing is left behind.
func (s *Source) Behind(ctx context.Context, ref, base, from string) (BaseState, error) {
	tip, err := s.resolve(ctx, ref)
	other, none := s.resolve(ctx, base)
	if err = errors.Join(err, none); err != nil {
		return BaseState{}, err
	}
	dir, remove, err := s.apart()
	if err != nil {
		return BaseState{}, err
	}
	defer remove()
	return compareWithBase(ctx, func(ctx context.Context, c call) ([]byte, error) {
		c.Dir, c.Env = dir, append(s.env.local(), "GIT_DIR="+dir)
		return c.do(ctx)
	}, tip, other, from)
}

package git

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// promisor is a remote that sends the objects that a partial clone has left
// out, whenever a command needs them.
type promisor struct {
	*remote
	filter string // by which objects were left out, such as blob:none
}

// findPromisors reads which remotes the user's repository relies on for objects.
func (s *Source) findPromisors(ctx context.Context) error {
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
		r, err := s.remote(ctx, name)
		if err != nil {
			return err
		}
		if r != nil {
			s.promisors = append(s.promisors, promisor{r, s.config.Get("remote." + name + ".partialclonefilter")})
		}
	}
	return nil
}

// Partial returns what was left out of a partial clone, as git was told it, such
// as "blob:none". It is "" for a clone that is whole.
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
func (s *Source) promises() []setting {
	var out []setting
	for _, p := range s.promisors {
		out = append(out, setting{Key: "remote." + p.name + ".url", Value: p.fetch}, setting{Key: "remote." + p.name + ".promisor", Value: "true"})
		if p.filter != "" {
			out = append(out, setting{Key: "remote." + p.name + ".partialclonefilter", Value: p.filter})
		}
	}
	return out
}

// reads is how objects are read, which are given by their hash. In a partial clone those
// that are missing are fetched into the user's repository, as the user's own git would.
func (s *Source) reads() reader {
	if len(s.promisors) == 0 {
		return s.offline()
	}
	return func(ctx context.Context, c call) ([]byte, error) {
		dir, remove, err := s.apart()
		if err != nil {
			return nil, err
		}
		defer remove()
		c.Dir, c.Env = dir, []string{"GIT_DIR=" + dir, "GIT_OBJECT_DIRECTORY=" + s.objects()}
		return line{src: s, remote: s.promisors[0].remote}.do(ctx, c)
	}
}

// apart makes a git directory for a while, with nothing in it but where the
// user's history is cut and what is checked out. What runs there reads no
// configuration of the user's repository.
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
	cuts, err := os.ReadFile(filepath.Join(s.CommonDir, "shallow"))
	if err == nil {
		files["shallow"] = string(cuts)
	} else if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	for name, text := range files {
		name = filepath.Join(dir, name)
		err = errors.Join(err, os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644))
	}
	return err
}

// Behind says how a branch stands to another one, which it began at the commit from; both
// are given as in ReadFile. Nothing is checked out or left behind.
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
		c.Dir, c.Env = dir, append(s.env.Local(), "GIT_DIR="+dir)
		return c.Do(ctx)
	}, tip, other, from)
}

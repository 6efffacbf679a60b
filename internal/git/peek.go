package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Peek is a branch of origin that was fetched to be looked at.
type Peek struct {
	src    *Source
	dir    string
	commit string
	kept   string // see Source.Peek
	record string // the commit that has the record; "" until it was needed
	store  *store
	remove func()
}

// Peek fetches the newest commit of a branch of origin, with the user's own
// credentials, and leaves no trace of it in the user's repository. The error
// wraps fs.ErrNotExist if there is no origin or no such branch. The result has
// to be closed. What the branch does not have is looked for in the record of the
// run that is kept by that name, see Options.Keep.
func (s *Source) Peek(ctx context.Context, branch, kept string) (*Peek, error) {
	if s.origin == nil {
		return nil, fmt.Errorf("branch %s: there is no origin to look at: %w", branch, fs.ErrNotExist)
	}
	dir, remove, err := s.apart()
	if err != nil {
		return nil, err
	}
	p := &Peek{src: s, dir: dir, kept: kept, remove: remove}
	p.store = &store{Place: func(context.Context) (call, error) {
		return call{Dir: dir, Env: append(s.env.Local(), "GIT_DIR="+dir)}, nil
	}}
	if p.commit, err = p.fetch(ctx, "refs/heads/"+branch); err != nil {
		remove()
		return nil, fmt.Errorf("fetch %s from origin: %w", branch, err)
	}
	return p, nil
}

func (p *Peek) fetch(ctx context.Context, ref string) (string, error) {
	const into = "refs/reprise/remote"
	args := append(FetchArgs(), "--depth=1", "--end-of-options", p.src.origin.fetch, "+"+ref+":"+into)
	_, err := line{src: p.src, remote: p.src.origin}.do(ctx, call{Dir: p.dir, Env: []string{"GIT_DIR=" + p.dir}, Args: args})
	if strings.Contains(stderrOf(err), "couldn't find remote ref") {
		return "", fs.ErrNotExist
	}
	if err != nil {
		return "", err
	}
	commit, err := os.ReadFile(filepath.Join(p.dir, into))
	return strings.TrimSpace(string(commit)), err
}

// ReadFile returns the file at path, from the top of the repository, as it is on
// the branch or in the record that is kept. The error wraps fs.ErrNotExist when
// there is no such file.
func (p *Peek) ReadFile(ctx context.Context, path string) ([]byte, error) {
	data, err := readFileOf(ctx, p.store.Ask, []string{p.commit}, "origin", path)
	if !errors.Is(err, fs.ErrNotExist) {
		return data, err
	}
	if p.record == "" {
		var none error
		if p.record, none = p.fetch(ctx, KeptRefs+p.kept); errors.Is(none, fs.ErrNotExist) {
			p.record = p.commit
			if here, err := p.src.resolve(ctx, KeptRefs+p.kept); err == nil { // a branch that was pushed by hand
				p.record = here
			}
		} else if none != nil {
			return nil, none
		}
	}
	return readFileOf(ctx, p.store.Ask, []string{p.record}, "origin", path)
}

// Close removes what was fetched.
func (p *Peek) Close() {
	p.store.Close()
	p.remove()
}

// apart makes a git directory for a while, with nothing in it but where the
// user's history is cut and what is checked out. What runs there reads no
// configuration of the user's repository.
func (s *Source) apart() (dir string, remove func(), err error) {
	if dir, err = os.MkdirTemp("", "reprise-git-"); err != nil {
		return "", nil, err
	}
	remove, err = s.apartIn(dir) // a temporary folder; the system removes what is left
	return dir, remove, err
}

func (s *Source) apartIn(dir string) (remove func(), err error) {
	remove = func() { _ = os.RemoveAll(dir) }
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
	if err != nil {
		remove()
	}
	return remove, err
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
	return compareWithBase(ctx, func(ctx context.Context, args ...string) ([]byte, error) {
		return call{Dir: dir, Env: append(s.env.Local(), "GIT_DIR="+dir), Args: args}.Do(ctx)
	}, tip, other, from)
}

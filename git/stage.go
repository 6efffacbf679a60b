package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
)

// code is a list of paths outside the state folder, sorted by what the index
// has to do with them.
type code struct {
	take []string // files and links that are there, or are simply gone
	drop []string // gone in a way that git would mistake: a folder or a link is in the way
}

// sortPaths refuses what is not committed: other repositories, pipes, devices.
func (r *Repo) sortPaths(paths []string) (code, error) {
	var c code
	for _, p := range paths {
		if err := checkPath(p); err != nil {
			return code{}, err
		}
		if under(p, r.opt.State) {
			continue
		}
		info, err := r.top.Lstat(p)
		switch {
		case beyond(r.top, p):
			c.drop = append(c.drop, p)
		case errors.Is(err, fs.ErrNotExist):
			c.take = append(c.take, p)
		case err != nil:
			return code{}, err
		case info.IsDir():
			if t, _ := r.look(p); t == Repository {
				return code{}, fmt.Errorf("%s is a repository of its own (a submodule, or made by git init): reprise does not commit it", p)
			}
			c.drop = append(c.drop, p)
		case typeOf(info) == Other:
			return code{}, fmt.Errorf("%s is a pipe, a socket or a device: it cannot be committed", p)
		default:
			c.take = append(c.take, p)
		}
	}
	return c, nil
}

// stage puts the paths into the index and returns how it then differs from the
// tip. Git hashes the files, so that built-in conversions such as line ends are
// done, and that of Git LFS; no configuration names another driver.
func (r *Repo) stage(ctx context.Context, c code) ([]op, error) {
	if len(c.take)+len(c.drop) == 0 {
		return nil, nil
	}
	ops, err := r.stageAll(ctx, c)
	if err == nil {
		r.dirty = true // until the commit is made
		return ops, nil
	}
	r.dirty = true
	if e := r.syncIndex(context.WithoutCancel(ctx)); e != nil {
		return nil, errors.Join(err, e)
	}
	return nil, err
}

func (r *Repo) stageAll(ctx context.Context, c code) ([]op, error) {
	if r.dirty {
		if err := r.syncIndex(ctx); err != nil {
			return nil, err
		}
	}
	if err := r.updateIndex(ctx, nil, nil, c); err != nil {
		return nil, err
	}
	out, err := r.git(ctx, "diff-index", "--cached", "--raw", "-z", "--no-renames", "--no-abbrev",
		"--ignore-submodules=none", r.tip, "--", ".", ":(top,exclude,literal)"+r.opt.State)
	if err != nil {
		return nil, err
	}
	return parseRaw(records(out))
}

// updateIndex puts paths into the index, which env may name; how are arguments
// for git.
func (r *Repo) updateIndex(ctx context.Context, env, how []string, c code) error {
	for _, u := range []struct {
		paths []string
		args  []string
	}{
		{c.drop, []string{"update-index", "--force-remove", "-z", "--stdin"}},
		{c.take, []string{"update-index", "--add", "--remove", "--replace", "-z", "--stdin"}},
	} {
		if len(u.paths) == 0 {
			continue
		}
		list := strings.NewReader(strings.Join(u.paths, "\x00") + "\x00")
		if _, err := r.gitCall(ctx, call{how: how, args: u.args, env: env, stdin: list}); err != nil {
			return err
		}
	}
	return nil
}

// parseRaw reads git's raw difference: ":oldmode newmode oldid newid X", path.
// Deletions come first, since a file may take the name of a folder that goes.
func parseRaw(fields []string) ([]op, error) {
	var gone, set []op
	for len(fields) >= 2 {
		f := strings.Fields(strings.TrimPrefix(fields[0], ":"))
		if len(f) != 5 {
			return nil, fmt.Errorf("git diff answered %q", fields[0])
		}
		if f[4] == "D" {
			gone = append(gone, op{kind: 'D', path: fields[1]})
		} else {
			set = append(set, op{kind: 'M', path: fields[1], mode: f[1], was: f[0], id: f[3]})
		}
		fields = fields[2:]
	}
	return append(gone, set...), nil
}

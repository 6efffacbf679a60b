package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// line is a way to talk with a remote.
type line struct {
	src      *Source
	remote   *remote
	token    func(context.Context) (string, error) // nil: the user's own credentials
	patience time.Duration                         // 0: the usual
	more     []setting                             // for this call
}

// do runs a command that may talk with the remote. Variables that c brings win.
func (l line) do(ctx context.Context, c call) ([]byte, error) {
	c, err := l.ready(ctx, c)
	if err != nil {
		return nil, err
	}
	var out []byte
	err = l.await(ctx, func(calm context.Context) error {
		var err error
		out, err = c.do(calm)
		return err
	})
	return out, err
}

// ask asks a store whose git may talk with the remote.
func (l line) ask(ctx context.Context, from *store, names []string) (objects []object, err error) {
	err = l.await(ctx, func(calm context.Context) error {
		objects, err = from.ask(calm, names...)
		return err
	})
	return objects, err
}

// ready gives c the environment for talking with the remote.
func (l line) ready(ctx context.Context, c call) (call, error) {
	settings, secrets := l.remote.settings, secretsIn(l.remote.settings)
	if l.token != nil {
		token, err := l.token(ctx)
		if err != nil {
			return call{}, fmt.Errorf("get a token for %s: %w", l.remote.name, err)
		}
		if settings, err = l.remote.withToken(token); err != nil {
			return call{}, err
		}
		secrets = append(secretsIn(settings), token)
	}
	settings, secrets = slices.Concat(settings, l.src.promises(), l.more), append(secrets, secretsIn(l.more)...)
	c.env, c.secrets = slices.Concat(l.src.env.network(settings), l.src.batchMode(), c.env), secrets
	return c, nil
}

// await does what talks with the remote as long as there is patience.
func (l line) await(ctx context.Context, talk func(context.Context) error) error {
	within := cmp.Or(l.patience, patience)
	calm, stop := context.WithTimeout(ctx, within)
	defer stop()
	err := talk(calm)
	if err != nil && calm.Err() != nil && ctx.Err() == nil {
		return fmt.Errorf("%s %w, which is %v: see whether it can be reached, and start again", l.remote.name, errNoAnswer, within)
	}
	return err
}

// line returns the way to talk with a remote for this run.
func (r *Repo) line(to *remote) line {
	return line{src: r.src, remote: to, token: r.opt.Token, patience: r.opt.Patience}
}

// talk runs a command that reaches the remote.
func (r *Repo) talk(ctx context.Context, args ...string) ([]byte, error) {
	if err := r.guard(); err != nil {
		return nil, err
	}
	return r.line(r.remote).do(ctx, call{dir: r.dir, env: r.place(nil), args: args})
}

// patience is how long a call to the remote may take, large transfers and the
// remote's own checks included.
const patience = 15 * time.Minute

// errNoAnswer says that a remote which was reached did not come to an end.
var errNoAnswer = errors.New("has not answered in time")

// secretsIn lists the header values in settings, whole and by word.
func secretsIn(settings []setting) []string {
	var out []string
	for _, s := range settings {
		if strings.HasSuffix(s.key, ".extraheader") && s.value != "" {
			f := strings.Fields(s.value)
			out = append(out, s.value, f[len(f)-1])
		}
	}
	return out
}

// fetchArgs begin every fetch that is told exactly what to fetch.
func fetchArgs() []string {
	return []string{"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--no-recurse-submodules"}
}

// fetchBranch learns what the remote's branch holds. With bounded, only commits
// that the default branch has not are fetched: in a shallow clone git would
// otherwise fetch all the history below them.
func (r *Repo) fetchBranch(ctx context.Context, bounded bool) error {
	const into = "refs/reprise/remote"
	rest := []string{"--end-of-options", r.remote.fetch, "+" + r.ref + ":" + into}
	limits := [][]string{nil}
	if bounded {
		limits = [][]string{{"--depth=1"}}
		if r.src.DefaultBranch != "" {
			limits = [][]string{{"--shallow-exclude=refs/heads/" + r.src.DefaultBranch}, {"--depth=1"}}
		}
	}
	var err error
	for _, limit := range limits {
		_, err = r.talk(ctx, slices.Concat(fetchArgs(), limit, rest)...)
		if err == nil {
			var text []byte
			text, err = os.ReadFile(r.home(into))
			r.theirs = strings.TrimSpace(string(text))
			return err
		}
		if strings.Contains(stderrOf(err), "couldn't find remote ref") {
			r.theirs = ""
			return nil
		}
	}
	return fmt.Errorf("fetch %s from %s: %w", r.opt.Branch, r.opt.Remote, err)
}

// need makes sure that a commit is here. In a shallow clone an older commit of
// the run may not be; it is fetched alone.
func (r *Repo) need(ctx context.Context, commit string) error {
	if !isHash(commit) {
		return fmt.Errorf("%q is not the full hash of a commit", commit)
	}
	if !r.src.Shallow || r.remote == nil {
		return nil
	}
	here, err := r.has(ctx, commit)
	if err != nil || here {
		return err
	}
	args := append(fetchArgs(), "--depth=1", "--end-of-options", r.remote.fetch, "+"+commit+":refs/reprise/needed/"+commit)
	if _, err = r.talk(ctx, args...); err != nil {
		return fmt.Errorf("fetch commit %s, which this shallow clone does not have: %w", short(commit), err)
	}
	return nil
}

// has says whether a commit is here, without asking any remote for it.
func (r *Repo) has(ctx context.Context, commit string) (bool, error) {
	found, err := r.here.ask(ctx, commit)
	return err == nil && found[0].kind == "commit", err
}

package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"
)

// talk runs a command that reaches the remote.
func (r *Repo) talk(ctx context.Context, args ...string) ([]byte, error) {
	if err := r.guard(); err != nil {
		return nil, err
	}
	settings, secrets := r.remote.settings, secretsIn(r.remote.settings)
	if r.opt.Token != nil {
		token, err := r.opt.Token(ctx)
		if err != nil {
			return nil, fmt.Errorf("get a token for %s: %w", r.opt.Remote, err)
		}
		if settings, err = r.remote.withToken(token); err != nil {
			return nil, err
		}
		secrets = append(secretsIn(settings), token)
	}
	env := append(r.src.env.network(settings), r.src.batchMode()...)
	within := cmp.Or(r.opt.Patience, patience)
	calm, stop := context.WithTimeout(ctx, within)
	defer stop()
	out, err := call{dir: r.dir, env: r.place(env), args: args, secrets: secrets}.do(calm)
	if err != nil && calm.Err() != nil && ctx.Err() == nil {
		return out, fmt.Errorf("%s %w, which is %v: see whether it can be reached, and start again", r.opt.Remote, errNoAnswer, within)
	}
	return out, err
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

// fetchBranch learns what the remote's branch holds. With bounded, only commits
// that the default branch has not are fetched: in a shallow clone git would
// otherwise fetch all the history below them.
func (r *Repo) fetchBranch(ctx context.Context, bounded bool) error {
	const into = "refs/reprise/remote"
	args := []string{"fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--no-recurse-submodules"}
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
		_, err = r.talk(ctx, append(append(append([]string{}, args...), limit...), rest...)...)
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
	out, err := r.gitStdin(ctx, []byte(commit+"\n"), "cat-file", "--batch-check=%(objecttype)")
	if err != nil || string(out) == "commit\n" {
		return err
	}
	_, err = r.talk(ctx, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance", "--no-recurse-submodules",
		"--depth=1", "--end-of-options", r.remote.fetch, "+"+commit+":refs/reprise/needed/"+commit)
	if err != nil {
		return fmt.Errorf("fetch commit %s, which this shallow clone does not have: %w", short(commit), err)
	}
	return nil
}

package git

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// PushError says that the remote did not take the branch. The commit stays and
// is pushed with the next one.
type PushError struct {
	Branch string
	Remote string // name of the remote
	Rule   string // what the remote printed, or "" if it said nothing
	Err    error
}

// Error gives the remote's own words.
func (e *PushError) Error() string {
	text := fmt.Sprintf("push %s to %s: %v", e.Branch, e.Remote, e.Err)
	if e.Rule != "" {
		text += ": " + e.Rule
	}
	return text
}

// Unwrap returns what git said.
func (e *PushError) Unwrap() error { return e.Err }

// pushTries bounds how often a push is tried when others push as well.
const pushTries = 8

// publish brings the tip to the remote and to the user's branch.
func (r *Repo) publish(ctx context.Context) error {
	if r.remote != nil && r.theirs != r.tip {
		if err := r.push(ctx); err != nil {
			r.updateUsers(ctx)
			return err
		}
	}
	r.updateUsers(ctx)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if r.users == "" && r.theirs == "" {
		return nil
	}
	return r.markPublished()
}

// push never forces: the remote takes the branch only if nothing came between.
func (r *Repo) push(ctx context.Context) error {
	var last error
	for try := range pushTries {
		if err := pause(ctx, try); err != nil {
			return err
		}
		refusal, err := r.pushOnce(ctx)
		if err == nil {
			r.theirs, r.unpushed = r.tip, nil
			return nil
		}
		last = &PushError{Branch: r.opt.Branch, Remote: r.opt.Remote, Rule: refusal, Err: err}
		if ctx.Err() != nil || refusal != "" {
			return last
		}
		// Either somebody was first, or the answer was lost on its way.
		if err := r.fetchBranch(ctx, false); err != nil {
			return last
		}
		done, err := r.join(ctx)
		if err != nil {
			return err
		}
		if done {
			r.unpushed = nil
			return nil
		}
	}
	return last
}

// pause waits a little longer with each try, by chance.
func pause(ctx context.Context, try int) error {
	if try == 0 {
		return ctx.Err()
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Duration(rand.IntN(60*try)) * time.Millisecond):
		return nil
	}
}

// pushOnce pushes the tip. A refusal that trying again does not change comes
// back as the remote's words.
func (r *Repo) pushOnce(ctx context.Context) (refusal string, err error) {
	out, err := r.talk(ctx, "push", "--porcelain", "--no-verify", "--no-follow-tags", "--no-recurse-submodules", "--no-signed",
		"--end-of-options", r.remote.push, r.tip+":"+r.ref)
	if err == nil {
		return "", nil
	}
	for line := range strings.Lines(string(out)) {
		_, why, found := strings.Cut(line, "[remote rejected]")
		if !found || raced(why) {
			continue
		}
		said := remoteLines(stderrOf(err))
		return strings.TrimSpace(strings.Join(append(said, strings.TrimSpace(why)), " ")), err
	}
	return "", err
}

// raced says whether the remote refused because somebody else was at the same
// branch at the same moment.
func raced(why string) bool {
	for _, text := range []string{"cannot lock ref", "failed to lock", "failed to update ref", "incorrect old value",
		"fetch first", "non-fast-forward", "stale info"} {
		if strings.Contains(why, text) {
			return true
		}
	}
	return false
}

// remoteLines returns what the remote printed for people.
func remoteLines(stderr string) []string {
	var said []string
	for line := range strings.Lines(stderr) {
		if text, ok := strings.CutPrefix(line, "remote:"); ok && strings.TrimSpace(text) != "" {
			said = append(said, strings.TrimSpace(text))
		}
	}
	return said
}

// talk runs a command that reaches the remote.
func (r *Repo) talk(ctx context.Context, args ...string) ([]byte, error) {
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
	return call{dir: r.tree, env: r.place(r.src.env.network(settings)), args: args, secrets: secrets}.do(ctx)
}

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

// updateUsers moves the user's branch of the run along. It is a courtesy: the
// own ref and the remote are what counts, so that a failure is a warning.
func (r *Repo) updateUsers(ctx context.Context) {
	if r.users == r.tip {
		return
	}
	if where := r.checkedOut(); where != "" {
		r.warn("branch %s is checked out in %s and was not moved there: see the newest commits with git log %s", r.opt.Branch, where, short(r.tip))
		return
	}
	old := r.users
	if old == "" {
		old = r.zero()
	}
	r.sweepBranchLock()
	if _, err := r.src.inspect(ctx, nil, "update-ref", "-m", "reprise", r.ref, r.tip, old); err != nil {
		if ctx.Err() == nil {
			r.warn("branch %s of this repository was not moved to %s: %v", r.opt.Branch, short(r.tip), err)
		}
		return
	}
	r.users = r.tip
}

// checkedOut returns the work tree of the user that has the run's branch
// checked out, or is rebasing it; "" if none.
func (r *Repo) checkedOut() string {
	dirs, _ := filepath.Glob(filepath.Join(escapeGlob(r.src.CommonDir), "worktrees", "*"))
	for _, dir := range append([]string{r.src.CommonDir}, dirs...) {
		for _, name := range []string{"HEAD", "rebase-merge/head-name", "rebase-apply/head-name"} {
			text, err := os.ReadFile(filepath.Join(dir, name))
			if err == nil && strings.TrimSpace(strings.TrimPrefix(string(text), "ref: ")) == r.ref {
				return workTreeOf(dir)
			}
		}
	}
	return ""
}

func escapeGlob(p string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(p)
}

// workTreeOf names a work tree by its git directory, for people.
func workTreeOf(dir string) string {
	text, err := os.ReadFile(filepath.Join(dir, "gitdir"))
	if errors.Is(err, os.ErrNotExist) {
		return filepath.Dir(dir)
	}
	return filepath.Dir(strings.TrimSpace(string(text)))
}

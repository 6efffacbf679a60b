package git

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
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

// pushTries bounds how often a push is tried when others push as well,
// unclearTries bounds it when the remote says nothing about the branch.
const (
	pushTries    = 8
	unclearTries = 3
)

// publish brings the tip to the remote and, at the same time, to the user's
// branch, which does not wait for the remote to agree.
func (r *Repo) publish(ctx context.Context) error {
	var err error
	if r.remote != nil && r.theirs != r.tip {
		tip, note := r.tip, make(chan string, 1)
		go func() { note <- r.updateUsers(ctx, tip) }()
		err = r.push(ctx)
		r.warnOf(<-note)
	}
	r.warnOf(r.updateUsers(ctx, r.tip)) // again, if what others pushed moved the tip
	if err != nil {
		return err
	}
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
	unclear := 0
	for try := range pushTries {
		if err := pause(ctx, try); err != nil {
			return err
		}
		answer, err := r.pushOnce(ctx)
		if err == nil {
			r.theirs, r.unpushed = r.tip, nil
			return nil
		}
		last = &PushError{Branch: r.opt.Branch, Remote: r.opt.Remote, Rule: answer.rule, Err: err}
		if answer.unclear {
			unclear++
		}
		if ctx.Err() != nil || answer.final || unclear == unclearTries {
			return last
		}
		// Either somebody was first, or the answer was lost on its way.
		if e := r.fetchBranch(ctx, false); e != nil {
			return &PushError{Branch: r.opt.Branch, Remote: r.opt.Remote, Rule: answer.rule, Err: errors.Join(err, e)}
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

// pause waits up to twice as long with each try, by chance: what holds the
// branch may be the git of a killed process that has yet to end.
func pause(ctx context.Context, try int) error {
	if try == 0 {
		return ctx.Err()
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(time.Duration(rand.IntN(30<<try)) * time.Millisecond):
		return nil
	}
}

// answer is what a remote that did not take a push said.
type answer struct {
	rule    string // in its own words
	final   bool   // it will say the same again, or took too long to be asked again
	unclear bool   // nothing about the branch
}

// pushOnce pushes the tip, and before it what Git LFS keeps of it.
func (r *Repo) pushOnce(ctx context.Context) (answer, error) {
	if err := r.upload(ctx); err != nil {
		return answer{unclear: true, final: errors.Is(err, errNoAnswer)}, err
	}
	out, err := r.talk(ctx, "push", "--porcelain", "--no-verify", "--no-follow-tags", "--no-recurse-submodules", "--no-signed",
		"--end-of-options", r.remote.push, r.tip+":"+r.ref)
	if err == nil {
		return answer{}, nil
	}
	if other := inTheWay.FindStringSubmatch(stderrOf(err)); other != nil {
		return answer{final: true}, r.besides(other[1], " on "+r.opt.Remote)
	}
	said := remoteLines(stderrOf(err))
	a := answer{unclear: true, final: errors.Is(err, errNoAnswer)}
	for line := range strings.Lines(string(out)) {
		if !strings.HasPrefix(line, "!") {
			continue
		}
		a.unclear = false
		if _, why, found := strings.Cut(line, "[remote rejected]"); found && !raced(why) {
			a.final = true
			said = append(said, strings.TrimSpace(why))
		}
	}
	a.rule = strings.Join(said, " ")
	return a, err
}

// inTheWay is how git names a branch that keeps another from being made.
var inTheWay = regexp.MustCompile(`'refs/heads/([^']+)' exists; cannot create`)

// raced says whether the remote refused because somebody else was at the same
// branch at the same moment.
func raced(why string) bool {
	for _, text := range []string{
		"cannot lock ref", "failed to lock", "failed to update ref", "incorrect old value",
		"fetch first", "non-fast-forward", "stale info",
	} {
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

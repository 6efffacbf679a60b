package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/prompts"
)

// PushError says that the remote did not take the branch. The commit stays and is pushed with the next one.
type PushError struct {
	Branch string
	Remote string // name of the remote
	Rule   string // what the remote printed, or "" if it said nothing
	Err    error
	final  bool // it would say the same again, or took too long to be asked again

	// Withdraw takes branch and tree back to what the remote has, where it refuses the one commit that it lacks and would do
	// so again. What it returns brings the commit back. Nil: the next commit may push it.
	Withdraw func(ctx context.Context) (again func(context.Context) error, err error)
}

// mostRule is how much of a remote's words an error quotes, in terminal cells.
const mostRule = 1000

// Error gives the remote's own words, or their beginning.
func (e *PushError) Error() string { return e.Why().In(prompts.Words("en")) }

// Why says what could not be pushed, what git said, and the rule of the remote that is against it.
func (e *PushError) Why() metadata.Reason {
	if e.Rule == "" {
		return metadata.Because("git_not_pushed", "branch", e.Branch, "remote", e.Remote, "why", prompts.Why(e.Err))
	}
	return metadata.Because("git_push_refused", "branch", e.Branch, "remote", e.Remote, "why", prompts.Why(e.Err), "rule", metadata.Said(text.Cut(text.Flat(e.Rule), mostRule)))
}

// Unwrap returns what git said.
func (e *PushError) Unwrap() error { return e.Err }

// pushTries bounds how often a push is tried: others may push as well, or the answer is lost.
const pushTries = 8

// publish brings the tip to the user's branch, whatever the remote says, and to the remote.
func (r *Repo) publish(ctx context.Context) (err error) {
	r.updateCheckout(ctx, r.tip)
	if r.remote != nil && r.remoteTip != r.tip {
		err = r.push(ctx)
		r.updateCheckout(ctx, r.tip) // again, if what others pushed moved the tip
	}
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if r.checkoutTip == "" && r.remoteTip == "" {
		return nil
	}
	return folders.PutFile(r.home("published"), []byte("yes\n")) // if it is gone later, a person deleted it
}

// push never forces the branch, and Options.Own only where nobody else has pushed since it was looked at: the remote takes
// the branch only if nothing came between, and one that somebody has deleted is not made again.
func (r *Repo) push(ctx context.Context) error {
	var last *PushError
	for try := range pushTries {
		if err := pause(ctx, try); err != nil {
			return err
		}
		if last = r.pushOnce(ctx); last == nil {
			r.remoteTip, r.ownTip, r.unpushed = r.tip, r.tip, nil
			return nil
		}
		if last.final && last.Rule != "" && len(r.unpushed) == 1 && r.remoteTip != "" {
			last.Withdraw = r.withdraw
		}
		if ctx.Err() != nil || last.final {
			return last
		}
		// Either somebody was faster, or the answer was lost.
		if r.opt.Own != "" {
			there, err := r.ownThere(ctx)
			if err == nil && there != r.ownTip && there != r.tip {
				err = fmt.Errorf("%s was changed there meanwhile: another task does this part, or the parts were joined", r.opt.Own)
			}
			if r.ownTip = there; err != nil {
				return r.notPushed("", err)
			}
			continue
		}
		had := r.remoteTip
		if err := r.fetchBranch(ctx, false); err != nil {
			return r.notPushed(last.Rule, errors.Join(last.Err, err))
		}
		if had != "" && r.remoteTip == "" {
			r.remoteTip = had // so that nothing makes it again
			return r.notPushed("", &prompts.Error{Reason: metadata.Because("git_branch_deleted")})
		}
		if leads, err := r.contains(ctx, r.remoteTip, cmp.Or(had, r.remoteTip)); err != nil || !leads { // no other job does that
			return errors.Join(err, r.moved(r.remoteTip, r.opt.Remote, metadata.Because("moved_rewritten")))
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

// ownThere gives the commit at Options.Own of the remote; "" if there is none.
func (r *Repo) ownThere(ctx context.Context) (string, error) {
	out, err := r.Exchange(ctx, []string{"ls-remote", "--refs"}, r.opt.Own)
	commit, _, _ := strings.Cut(string(out), "\t")
	return commit, err
}

func (r *Repo) notPushed(rule string, err error) *PushError {
	return &PushError{Branch: r.opt.Branch, Remote: r.opt.Remote, Rule: rule, Err: err, final: errors.Is(err, errNoAnswer)}
}

// withdraw takes back the one commit that the remote has refused; see PushError.
func (r *Repo) withdraw(ctx context.Context) (again func(context.Context) error, err error) {
	tip, unpushed := r.tip, r.unpushed
	to := func(ctx context.Context, commit string, unpushed []revision) error {
		r.unpushed = unpushed
		err := r.MoveTo(ctx, commit)
		r.updateCheckout(ctx, commit)
		return err
	}
	return func(ctx context.Context) error { return to(ctx, tip, unpushed) }, to(ctx, r.remoteTip, nil)
}

// keep has Options.Keep name a commit with the state folder, and gives what it names then. One named by now that the
// commit does not lead on from is of somebody who went on with the run, or of an earlier run and stays in its history.
func (r *Repo) keep(ctx context.Context, id string) (string, error) {
	if r.opt.Keep == "" || r.opt.DryRun {
		return id, nil
	}
	if r.remote == nil {
		return id, r.noteKept(ctx, id)
	}
	if refused := r.send(ctx, id+":"+r.keepRef()); refused != nil {
		r.keptKnown = false
		now, err := r.keptRecord(ctx)
		switch {
		case err == nil && now == id: // the answer was lost
		case err == nil && r.shelf == "" && now != "":
			id, err = r.joinRecords(ctx, id, now, id, "that of one before it")
			if err == nil {
				err = r.send(ctx, id+":"+r.keepRef())
			}
			if err != nil {
				return "", err
			}
		case err == nil && r.shelf != "" && now != r.shelf:
			return "", r.moved(now, r.opt.Remote, metadata.Because("moved_run"))
		default:
			return "", refused
		}
	}
	return id, r.noteKept(ctx, id)
}

// keepTip is keep for the newest record, with the tip in its history, and the tip's files beside the state folder.
func (r *Repo) keepTip(ctx context.Context) (kept string, err error) {
	if r.shelf == "" || r.opt.Keep == "" || r.opt.DryRun {
		return r.keep(ctx, r.Record())
	}
	if is, err := r.contains(ctx, r.shelf, r.tip); is || err != nil {
		return r.shelf, err
	}
	whole, err := r.whole(ctx)
	if err == nil {
		kept, err = r.joinRecords(ctx, r.shelf, r.tip, whole, "its branch")
	}
	if err == nil {
		kept, err = r.keep(ctx, kept)
	}
	if err == nil {
		r.shelf = kept
	}
	return kept, err
}

// joinRecords commits the files of one commit on a record, with another commit as the second parent.
func (r *Repo) joinRecords(ctx context.Context, record, other, files, what string) (string, error) {
	message := "reprise: the record of a run, and " + what + "\n\n" + recordNote(record)
	return r.makeCommit(ctx, made, revision{message: message, time: time.Now(), tree: files, parents: []string{other}}, record)
}

func (r *Repo) noteKept(ctx context.Context, kept string) error {
	r.kept, r.keptKnown = kept, true
	return r.src.moveRef(ctx, r.keepRef(), kept, "")
}

// send pushes one ref. Flags are of git push. An error is a *PushError.
func (r *Repo) send(ctx context.Context, what string, flags ...string) error {
	_, err := r.Exchange(ctx, append(append(PushArgs(), "--quiet"), flags...), what)
	if err != nil {
		_, ref, _ := strings.Cut(what, ":")
		err = &PushError{Branch: ref, Remote: r.opt.Remote, Rule: strings.Join(remoteLines(stderrOf(err)), " "), Err: err}
	}
	return err
}

// pause waits a random time, up to twice as long each try: a killed process's git may still hold the branch.
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

// pushOnce pushes the tip, and before it what Git LFS keeps of it.
func (r *Repo) pushOnce(ctx context.Context) *PushError {
	flags, what, err := r.pushRefs(ctx)
	if err == nil {
		err = r.uploadLarge(ctx)
	}
	if err != nil {
		return r.notPushed("", err)
	}
	out, err := r.Exchange(ctx, flags, what...)
	if err == nil {
		return nil
	}
	if other := inTheWay().FindStringSubmatch(stderrOf(err)); other != nil {
		said := r.notPushed("", r.blocked(other[1], " on "+r.opt.Remote))
		said.final = true
		return said
	}
	said := r.notPushed(strings.Join(remoteLines(stderrOf(err)), " "), err)
	for line := range strings.Lines(string(out)) {
		if _, why, found := strings.Cut(line, "[remote rejected]"); found && strings.HasPrefix(line, "!") && !raced(why) {
			said.Rule = strings.TrimSpace(said.Rule + " " + strings.TrimSpace(why))
			said.final = !inTrouble().MatchString(said.Rule)
		}
	}
	return said
}

// pushRefs are how the tip is pushed, and to which refs. Where it puts the state folder back, the kept record moves at the
// same moment: else somebody could go on beside the branch, and nobody would see that.
func (r *Repo) pushRefs(ctx context.Context) (flags, what []string, err error) {
	to, was := r.ref, r.remoteTip // in the history of the tip: the lease is for a branch that somebody has deleted
	if r.opt.Own != "" {
		to, was = r.opt.Own, r.ownTip
	}
	flags, what = append(PushArgs(), "--porcelain"), []string{r.tip + ":" + to}
	if was != "" || r.opt.Own != "" {
		flags = append(flags, "--force-with-lease="+to+":"+was)
	}
	if r.opt.Own != "" || was == "" || r.opt.Keep == "" || r.shelf != "" {
		return flags, what, nil
	}
	kept, err := r.shelfOf(ctx, was)
	if kept != "" && kept != was {
		flags, what = append(flags, "--atomic"), append(what, r.tip+":"+r.keepRef())
	}
	return flags, what, err
}

// inTrouble are words of a remote that may take the same push a moment later.
var inTrouble = text.Pattern(`(?i)internal (server )?error|try again|timed? ?out|temporar|unavailable`)

// inTheWay is how git names a branch that keeps another from being made.
var inTheWay = text.Pattern(`'refs/heads/([^']+)' exists; cannot create`)

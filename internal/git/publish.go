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

// upstream is where the branch is published: the remote, and the user's
// repository.
type upstream struct {
	*tree
	large    *largeFiles
	unpushed []revision // commits of this process that the remote has not
}

// publish brings the tip to the remote and, at the same time, to the user's
// branch, which does not wait for the remote to agree.
func (u *upstream) publish(ctx context.Context) error {
	var err error
	if u.remote != nil && u.remoteTip != u.tip {
		tip, note := u.tip, make(chan string, 1)
		go func() { note <- u.updateCheckout(ctx, tip) }()
		err = u.push(ctx)
		u.warnOf(<-note)
	}
	u.warnOf(u.updateCheckout(ctx, u.tip)) // again, if what others pushed moved the tip
	if err != nil {
		return err
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if u.checkoutTip == "" && u.remoteTip == "" {
		return nil
	}
	return u.markPublished()
}

// push never forces: the remote takes the branch only if nothing came between.
func (u *upstream) push(ctx context.Context) error {
	var last error
	unclear := 0
	for try := range pushTries {
		if err := pause(ctx, try); err != nil {
			return err
		}
		answer, err := u.pushOnce(ctx)
		if err == nil {
			u.remoteTip, u.unpushed = u.tip, nil
			return nil
		}
		last = &PushError{Branch: u.opt.Branch, Remote: u.opt.Remote, Rule: answer.rule, Err: err}
		if answer.unclear {
			unclear++
		}
		if ctx.Err() != nil || answer.final || unclear == unclearTries {
			return last
		}
		// Either somebody was faster, or the answer was lost.
		if e := u.fetchBranch(ctx, false); e != nil {
			return &PushError{Branch: u.opt.Branch, Remote: u.opt.Remote, Rule: answer.rule, Err: errors.Join(err, e)}
		}
		done, err := u.join(ctx)
		if err != nil {
			return err
		}
		if done {
			u.unpushed = nil
			return nil
		}
	}
	return last
}

// keepRecord has Options.Keep name the newest commit with the state folder, and gives
// what it names then. Where it names one of another branch, that stays in its history.
func (u *upstream) keepRecord(ctx context.Context) (kept string, err error) {
	kept = u.Record()
	if u.opt.Keep == "" || u.opt.DryRun {
		return kept, nil
	}
	if u.remote != nil {
		if kept, err = u.pushRecord(ctx, kept); err != nil {
			return "", fmt.Errorf("keep the record at %s of %s: %w", u.keepRef(), u.opt.Remote, err)
		}
	}
	return kept, u.noteKept(ctx, kept)
}

// keepTip is keepRecord, and has the tip in the history of what Options.Keep names, and its
// files beside the state folder.
func (u *upstream) keepTip(ctx context.Context, at time.Time) (kept string, err error) {
	if u.shelf == "" || u.opt.Keep == "" || u.opt.DryRun {
		return u.keepRecord(ctx)
	}
	if is, err := u.contains(ctx, u.shelf, u.tip); is || err != nil {
		return u.shelf, err
	}
	found, err := u.lookUp(ctx, u.shelf+":"+u.opt.State)
	if err != nil {
		return "", err
	}
	put := []op{{kind: 'M', path: u.opt.State, mode: "040000", id: found[0].ID}}
	whole, err := u.build(ctx, "refs/reprise/squash", u.tip, []revision{{message: "state", time: at, ops: put}}, true)
	if err == nil {
		kept, err = u.joinRecords(ctx, u.shelf, u.tip, whole, "its branch")
	}
	if err == nil {
		err = u.keepAt(ctx, kept)
	}
	if err == nil {
		u.shelf = kept
	}
	return kept, err
}

// joinRecords makes a commit with the files of one commit that goes on from a record, and has
// another commit in its history, too.
func (u *upstream) joinRecords(ctx context.Context, record, other, files, what string) (string, error) {
	out, err := u.git(ctx, "-c", "user.name=reprise", "-c", "user.email=reprise@users.noreply.github.com",
		"commit-tree", "-p", record, "-p", other, "-m", "reprise: the record of a run, and "+what+"\n\n"+recordNote(record), files+"^{tree}")
	return strings.TrimSpace(string(out)), err
}

// noteKept notes here where the record is kept.
func (u *upstream) noteKept(ctx context.Context, kept string) error {
	u.kept = &kept
	return u.src.moveRef(ctx, u.keepRef(), kept, "")
}

// keepAt has Options.Keep name a commit that leads on from the one that it names. If
// it names another one by now, somebody else has gone on with the run.
func (u *upstream) keepAt(ctx context.Context, id string) error {
	if u.opt.DryRun {
		return nil
	}
	if u.remote == nil {
		return u.noteKept(ctx, id)
	}
	_, refused := u.talk(ctx, append(PushArgs(), "--quiet", "--end-of-options", u.remote.push, id+":"+u.keepRef())...)
	if refused != nil {
		u.kept = nil
		switch kept, err := u.keptRecord(ctx); {
		case err == nil && kept == id: // the answer was lost
		case err == nil && kept != u.shelf:
			return u.overtaken(kept)
		default:
			return &PushError{Branch: u.keepRef(), Remote: u.opt.Remote, Rule: strings.Join(remoteLines(stderrOf(refused)), " "), Err: refused}
		}
	}
	return u.noteKept(ctx, id)
}

func (u *upstream) pushRecord(ctx context.Context, kept string) (string, error) {
	push := func() error {
		_, err := u.talk(ctx, append(PushArgs(), "--quiet", "--end-of-options", u.remote.push, kept+":"+u.keepRef())...)
		return err
	}
	refused := push()
	if refused == nil {
		return kept, nil
	}
	const into = "refs/reprise/record"
	if _, err := u.talk(ctx, append(FetchArgs(), "--end-of-options", u.remote.fetch, "+"+u.keepRef()+":"+into)...); err != nil {
		return "", errors.Join(refused, err)
	}
	joined, err := u.joinRecords(ctx, kept, into, kept, "that of one before it")
	if err != nil {
		return "", err
	}
	kept = joined
	return kept, push()
}

// squash makes the branch one commit on base, without the state folder. It is the
// only push that takes a branch back: the remote agrees only if nobody has pushed
// since, and the record that is kept leads to all that was there.
func (u *upstream) squash(ctx context.Context, c Commit, base, kept string) error {
	rev := revision{message: strings.TrimRight(c.Message, "\n") + "\n" + recordNote(kept), time: c.Time, tree: u.tip}
	if u.shelf == "" {
		rev.ops = u.takeOff()
	}
	id, err := u.build(ctx, "refs/reprise/squash", base, []revision{rev}, true)
	if err == nil && u.remote != nil {
		_, err = u.talk(ctx, append(PushArgs(), "--quiet", "--force-with-lease="+u.ref+":"+u.tip, "--end-of-options", u.remote.push, id+":"+u.ref)...)
	}
	if err != nil {
		return err
	}
	if u.remote != nil {
		u.remoteTip, u.unpushed = id, nil
	}
	u.shelf, u.tip = kept, id
	u.markShelved()
	u.warnOf(u.updateCheckout(ctx, id))
	return u.setLocal(ctx)
}

// pause waits for a random time, up to twice as long with each try: the branch
// may be held by the git of a killed process that is about to end.
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
func (u *upstream) pushOnce(ctx context.Context) (answer, error) {
	refs, err := u.refs(ctx)
	if err != nil {
		return answer{final: true}, err
	}
	if err := u.large.upload(ctx); err != nil {
		return answer{unclear: true, final: errors.Is(err, errNoAnswer)}, err
	}
	out, err := u.talk(ctx, append(append(PushArgs(), "--porcelain"), refs...)...)
	if err == nil {
		return answer{}, nil
	}
	if other := inTheWay.FindStringSubmatch(stderrOf(err)); other != nil {
		return answer{final: true}, u.besides(other[1], " on "+u.opt.Remote)
	}
	rule, final, unclear := refusal(out, stderrOf(err))
	return answer{rule, final || errors.Is(err, errNoAnswer), unclear}, err
}

// refs end the arguments of a push of the tip: where to, and what it sets. Where it puts the state folder back, the
// record that is kept goes on to it at the same moment: else somebody could have gone
// on beside the branch, and nobody would see that.
func (u *upstream) refs(ctx context.Context) ([]string, error) {
	to := []string{"--end-of-options", u.remote.push, u.tip + ":" + u.ref}
	if u.opt.Own != "" {
		to[2] = "+" + u.tip + ":" + u.opt.Own
	}
	if u.opt.Own != "" || u.remoteTip == "" || u.opt.Keep == "" || u.shelf != "" {
		return to, nil
	}
	kept, err := u.shelfOf(ctx, u.remoteTip)
	if kept != "" && kept != u.remoteTip {
		to = append([]string{"--atomic"}, append(to, u.tip+":"+u.keepRef())...)
	}
	return to, err
}

// inTheWay is how git names a branch that keeps another from being made.
var inTheWay = regexp.MustCompile(`'refs/heads/([^']+)' exists; cannot create`)

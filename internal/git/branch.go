package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/prompts"
)

// Tip returns the newest commit of the run, a full hash: for a new branch the commit it starts from.
func (r *Repo) Tip() string { return r.tip }

// New says whether the branch existed nowhere when it was opened.
func (r *Repo) New() bool { return r.isNew }

// findTip sets tip, localTip, checkoutTip and remoteTip.
func (r *Repo) findTip(ctx context.Context) (err error) {
	if r.localTip, err = r.readLocal(); err != nil {
		return err
	}
	if r.checkoutTip, err = r.checkoutBranch(ctx); err != nil {
		return err
	}
	if err := r.forgetLost(ctx); err != nil {
		return err
	}
	if r.opt.Own != "" {
		r.localTip, r.checkoutTip = "", "" // it begins where the remote's branch is
		if r.ownTip, err = r.ownThere(ctx); err != nil {
			return err
		}
	}
	if r.remote != nil {
		if err := r.fetchBranch(ctx, r.src.Shallow && r.localTip == "" && r.checkoutTip == ""); err != nil {
			return err
		}
	}
	if err := r.forgetDeleted(); err != nil {
		return err
	}
	r.tip = r.localTip
	if err := r.follow(ctx, r.checkoutTip, "this repository"); err != nil {
		return err
	}
	if err := r.follow(ctx, r.remoteTip, r.opt.Remote); err != nil {
		return err
	}
	if r.tip == "" {
		r.isNew = true
		base := cmp.Or(r.opt.Base, r.src.Head)
		if r.tip = base; r.opt.Aside == "" { // else it may be in Aside alone
			if r.tip, err = r.src.resolve(ctx, base); errors.Is(err, fs.ErrNotExist) && r.remote != nil { // a checkout of one branch lacks it
				if tip, failed := r.fetchBase(ctx, base); !noSuchRef(failed) {
					r.tip, err = tip, failed
				}
			}
		}
	}
	return err
}

// readLocal reads the run's ref. Only this package writes it, as a plain file.
func (r *Repo) readLocal() (string, error) {
	text, err := textOf(r.home(r.ref))
	return strings.TrimSpace(text), err
}

// setLocal moves the run's ref to the tip. A run without a commit leaves no ref.
func (r *Repo) setLocal(ctx context.Context) error {
	if r.isNew || r.localTip == r.tip {
		return nil
	}
	if _, err := r.git(ctx, "update-ref", r.ref, r.tip); err != nil {
		return err
	}
	r.localTip = r.tip
	return nil
}

// forgetLost drops the run's ref when its commit is gone: the user's repository was made anew.
func (r *Repo) forgetLost(ctx context.Context) error {
	if r.localTip == "" || r.localTip == r.checkoutTip {
		return nil
	}
	here, err := r.has(ctx, r.localTip)
	if err != nil || here {
		return err
	}
	r.warn("commit %s, which the run had got to, is not in this repository any more, so its folder %s is made anew", short(r.localTip), r.opt.Root)
	return r.forget()
}

// forgetDeleted drops the run's ref if a published branch is gone: a person has deleted it.
func (r *Repo) forgetDeleted() error {
	_, err := os.Stat(r.home("published"))
	if r.localTip == "" || r.checkoutTip != "" || r.remoteTip != "" || err != nil {
		return nil
	}
	r.warn("branch %s was deleted, so the run starts anew (it had got to commit %s)", r.opt.Branch, r.localTip)
	return r.forget()
}

func (r *Repo) forget() error {
	r.localTip = ""
	return errors.Join(os.RemoveAll(r.home(r.ref)), os.RemoveAll(r.home("published")))
}

// follow moves tip to other if that is further on.
func (r *Repo) follow(ctx context.Context, other, where string) error {
	if other == "" || other == r.tip {
		return nil
	}
	ahead, err := r.leads(ctx, other, r.tip)
	behind := false
	if !ahead && err == nil {
		kept, wrong := r.shelfOf(ctx, other)
		behind, err = r.containsAll(ctx, r.tip, other, kept)
		err = errors.Join(err, wrong)
	}
	if !ahead && !behind && err == nil && other == r.checkoutTip && other != r.remoteTip { // it was checked out when it was made one commit
		behind, err = r.leads(ctx, r.tip, other)
	}
	switch {
	case err != nil || behind:
		return err
	case !ahead && !r.opt.TakeOther:
		return r.moved(other, where, metadata.Because("moved_apart"))
	case !ahead:
		r.warn("commit %s was given up for %s, which is on %s", r.tip, short(other), where)
	}
	r.tip = other
	return nil
}

// leads reports whether a commit, or its record where that was taken off it, has an older one in its history; "" is in each.
func (r *Repo) leads(ctx context.Context, commit, older string) (bool, error) {
	if is, err := r.containsAll(ctx, commit, older); is || err != nil {
		return is, err
	}
	kept, err := r.shelfOf(ctx, commit)
	if kept == "" || err != nil {
		return false, err
	}
	return r.contains(ctx, kept, older)
}

// containsAll reports whether a commit has some older ones in its history; "" is none.
func (r *Repo) containsAll(ctx context.Context, tip string, older ...string) (bool, error) {
	for _, one := range older {
		if one == "" || one == tip {
			continue
		}
		if is, err := r.contains(ctx, tip, one); !is || err != nil {
			return false, err
		}
	}
	return true, nil
}

// fetchBranch learns what the remote's branch holds; bounded, it fetches only what the default branch lacks,
// since a shallow clone would get all the history below.
func (r *Repo) fetchBranch(ctx context.Context, bounded bool) error {
	const into = "refs/reprise/remote"
	r.keptKnown = false
	limits := [][]string{nil}
	if bounded {
		limits = [][]string{{"--depth=1"}}
		if r.src.DefaultBranch != "" {
			limits = [][]string{{"--shallow-exclude=refs/heads/" + r.src.DefaultBranch}, {"--depth=1"}}
		}
	}
	var err error
	for _, limit := range limits {
		r.remoteTip, err = r.fetchRef(ctx, r.ref, into, limit...)
		if err == nil && bounded {
			err = r.refetch(ctx, into)
		}
		if err == nil || noSuchRef(err) {
			return nil
		}
	}
	return fmt.Errorf("fetch %s from %s: %w", r.opt.Branch, r.opt.Remote, err)
}

// blocked says that branch excludes the run's: git keeps branches like files, and one would have to be a folder.
func (r *Repo) blocked(branch, where string) error {
	return &prompts.Error{Reason: metadata.Because("git_beside",
		"branch", r.opt.Branch, "other", branch+where)}
}

// FindBase gives the newest commit of a branch that is not the run's, at the remote or else here, and how the tip
// stands to it; from is a commit that both have. A shallow clone fetches only what the tip lacks.
func (r *Repo) FindBase(ctx context.Context, branch, from string) (commit string, state BaseState, err error) {
	if commit, err = r.fetchBase(ctx, branch); err == nil {
		state, err = compareWithBase(ctx, r.reads(), r.tip, commit, from)
	}
	return commit, state, err
}

// Updates reports whether a commit only merges one of the base, as the button of a pull request does. Base is the
// newest commit of the base, known one that both have.
func (r *Repo) Updates(ctx context.Context, c LogEntry, base, known string) (bool, error) {
	if len(c.Parents) != 2 {
		return false, nil
	}
	if is, err := r.contains(ctx, base, c.Parents[1]); !is || err != nil {
		return false, err
	}
	one, err := mergeOf(ctx, r.reads(), c.Parents[0], c.Parents[1], known)
	if err != nil || len(one.Conflicts) > 0 {
		return false, err
	}
	return r.SameWork(ctx, one.Commit, c.Commit)
}

func (r *Repo) fetchBase(ctx context.Context, branch string) (string, error) {
	if r.remote == nil {
		return r.src.resolve(ctx, "refs/heads/"+branch)
	}
	var flags []string
	switch {
	case r.src.Shallow && r.remoteTip == "":
		flags = []string{"--depth=1"}
	case r.src.Shallow:
		flags = []string{"--shallow-exclude=" + r.ref}
	}
	commit, err := r.fetchRef(ctx, "refs/heads/"+branch, "refs/reprise/target", flags...)
	if r.src.Shallow && strings.Contains(stderrOf(err), "no commits selected") {
		commit, err = r.fetchRef(ctx, "refs/heads/"+branch, "refs/reprise/target") // the branch of the run has it, and so it is here
	}
	if err != nil {
		err = fmt.Errorf("fetch %s from %s: %w", branch, r.opt.Remote, err)
	}
	return commit, err
}

// join unites this run and the remote after a push that failed, and says whether the remote now has the tip.
func (r *Repo) join(ctx context.Context) (bool, error) {
	if r.remoteTip == r.tip {
		return true, nil // the push had arrived
	}
	if r.remoteTip == "" {
		return false, nil
	}
	if kept, err := r.shelfOf(ctx, r.remoteTip); err != nil {
		return false, err
	} else if kept != r.remoteTip && r.shelf == "" {
		if is, err := r.containsAll(ctx, r.tip, kept); err != nil {
			return false, err
		} else if !is {
			return false, r.moved(kept, r.opt.Remote, metadata.Because("moved_run"))
		}
	}
	if behind, err := r.contains(ctx, r.tip, r.remoteTip); err != nil || behind {
		return false, err
	}
	return r.replay(ctx)
}

// replay makes this process's commits again on top of the remote's, and says whether the remote had them all.
func (r *Repo) replay(ctx context.Context) (bool, error) {
	base, err := r.reads().base(ctx, r.tip, r.remoteTip)
	if err == nil && base == "" {
		return false, r.moved(r.remoteTip, r.opt.Remote, metadata.Because("moved_unrelated"))
	}
	if err != nil {
		return false, err
	}
	revs := r.unpushed
	if base == r.tip {
		revs = nil
	}
	count, err := r.git(ctx, "rev-list", "--first-parent", "--count", r.remoteTip+".."+r.tip)
	if err != nil {
		return false, err
	}
	if string(count) != fmt.Sprintf("%d\n", len(revs)) {
		return false, r.moved(r.remoteTip, r.opt.Remote, metadata.Because("moved_unpushed"))
	}
	ours, err := r.between(ctx, base, r.tip)
	if err == nil {
		err = r.mayTake(ctx, base, ours)
	}
	if err != nil {
		return false, err
	}
	id := r.remoteTip
	for _, rev := range revs {
		if err == nil {
			rev, err = r.withStatement(ctx, rev, id)
		}
		if err == nil {
			id, err = r.makeCommit(ctx, made, rev, id)
		}
	}
	if err == nil {
		err = r.move(ctx, id)
	}
	return len(revs) == 0, err
}

// mayTake refuses remote commits that touch the state folder, a path this run changed, or an uncommitted change.
func (r *Repo) mayTake(ctx context.Context, base string, ours []string) error {
	came, err := r.between(ctx, base, r.remoteTip)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(came, func(p string) bool { return Under(p, r.opt.State) }) {
		return r.moved(r.remoteTip, r.opt.Remote, metadata.Because("moved_run"))
	}
	changes, err := r.changes(ctx)
	if err != nil {
		return err
	}
	for _, c := range changes {
		ours = append(ours, c.Path)
	}
	if overlap(ours, came) {
		return r.moved(r.remoteTip, r.opt.Remote, metadata.Because("moved_files"))
	}
	return nil
}

func (r *Repo) moved(other, where string, why metadata.Reason) error {
	return &Moved{Branch: r.opt.Branch, Local: r.tip, Other: other, Where: where, Cause: why, Run: why.Code() == "moved_run"}
}

// move takes commit as the tip and the tree along. Uncommitted changes stay; the caller knows they are not in the way.
func (r *Repo) move(ctx context.Context, commit string) error {
	r.unlock()                                           // git writes nothing into a closed folder
	_, _ = r.git(ctx, "update-index", "-q", "--refresh") // the statement is another one; read-tree says what is wrong
	from, err := r.whole(ctx)
	was := r.tip
	r.tip = commit
	err = errors.Join(err, r.findShelf(ctx))
	to, wrong := r.whole(ctx)
	if err = errors.Join(err, wrong); err == nil {
		_, err = r.git(ctx, "read-tree", "-m", "-u", from, to)
	}
	if err != nil {
		r.tip = was
		return fmt.Errorf("bring the work tree to %s: %w", short(commit), err)
	}
	if err := r.setLocal(ctx); err != nil {
		return err
	}
	return r.fillLarge(ctx)
}

// Moved says that the branch went on elsewhere and cannot be joined with what is here. Nothing was lost: Local stays.
type Moved struct {
	Branch string
	Local  string // commit
	Other  string // commit
	Where  string // where Other is: "origin", or "this repository"
	Cause  metadata.Reason
	Run    bool // it is the run itself with which somebody went on
}

// Error names both commits.
func (e *Moved) Error() string { return e.Why().In(prompts.Words("en")) }

// Why names both commits, and says what keeps them apart.
func (e *Moved) Why() metadata.Reason {
	if e.Where == "this repository" {
		return metadata.Because("git_moved_here", "branch", e.Branch, "other", short(e.Other), "local", short(e.Local), "why", e.Cause)
	}
	return metadata.Because("git_moved", "branch", e.Branch, "other", short(e.Other), "where", e.Where, "local", short(e.Local), "why", e.Cause)
}

func short(commit string) string { return commit[:min(12, len(commit))] }

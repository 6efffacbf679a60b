package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/internal/text"
)

// runBranch is the run's branch: which commit is its tip, and what this folder, the
// user's repository and the remote have of it.
type runBranch struct {
	*gitDir
	localTip    string // what the ref of this run's folder holds; "" before the first commit
	tip         string
	isNew       bool
	shelf       string  // the commit that has the state folder, if the tip has none; "" otherwise
	kept        *string // see keptRecord; nil: not asked for yet
	remoteTip   string  // what the remote's branch was last seen to hold; "" for no such branch
	checkoutTip string  // what the user's branch was last seen to hold; "" for no such branch
}

// Tip returns the newest commit of the run, a full hash: for a new branch the
// commit it starts from.
func (br *runBranch) Tip() string { return br.tip }

// New says whether the branch existed nowhere when it was opened.
func (br *runBranch) New() bool { return br.isNew }

// findTip sets tip, localTip, checkoutTip and remoteTip.
func (br *runBranch) findTip(ctx context.Context) error {
	var err error
	if br.localTip, err = br.readLocal(); err != nil {
		return err
	}
	if br.checkoutTip, err = br.checkoutBranch(ctx); err != nil {
		return err
	}
	if err := br.forgetLost(ctx); err != nil {
		return err
	}
	if br.remote != nil {
		if err := br.fetchBranch(ctx, br.src.Shallow && br.localTip == "" && br.checkoutTip == ""); err != nil {
			return err
		}
	}
	if err := br.forgetDeleted(); err != nil {
		return err
	}
	br.tip = br.localTip
	if err := br.follow(ctx, br.checkoutTip, "this repository"); err != nil {
		return err
	}
	if err := br.follow(ctx, br.remoteTip, br.opt.Remote); err != nil {
		return err
	}
	if br.tip == "" {
		br.isNew = true
		base := br.opt.Base
		if base == "" {
			base = br.src.Head
		}
		if br.tip = base; br.opt.Aside == "" { // else it may be in Aside alone
			br.tip, err = br.src.resolve(ctx, base)
		}
	}
	return err
}

// readLocal reads the run's ref. Only this package writes it, as a plain file.
func (br *runBranch) readLocal() (string, error) {
	text, err := os.ReadFile(br.home(br.ref))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	return strings.TrimSpace(string(text)), nil
}

// setLocal moves the run's ref to the tip. A new branch gets none before its first
// commit, so that a run that does nothing leaves nothing.
func (br *runBranch) setLocal(ctx context.Context) error {
	if br.isNew || br.localTip == br.tip {
		return nil
	}
	if _, err := br.git(ctx, "update-ref", br.ref, br.tip); err != nil {
		return err
	}
	br.localTip = br.tip
	return nil
}

// forgetLost drops the run's ref when its commit is gone, because the user's
// repository was made anew.
func (br *runBranch) forgetLost(ctx context.Context) error {
	if br.localTip == "" || br.localTip == br.checkoutTip {
		return nil
	}
	here, err := br.has(ctx, br.localTip)
	if err != nil || here {
		return err
	}
	br.warn("commit %s, which the run had got to, is not in this repository any more, so its folder %s is made anew", short(br.localTip), br.opt.Root)
	return br.forget()
}

// forgetDeleted drops the run's ref if the branch was published and is gone
// there: then a person has deleted it.
func (br *runBranch) forgetDeleted() error {
	_, err := os.Stat(br.home("published"))
	if br.localTip == "" || br.checkoutTip != "" || br.remoteTip != "" || err != nil {
		return nil
	}
	br.warn("branch %s was deleted, so the run starts anew (it had got to commit %s)", br.opt.Branch, br.localTip)
	return br.forget()
}

func (br *runBranch) forget() error {
	br.localTip = ""
	return errors.Join(os.RemoveAll(br.home(br.ref)), os.RemoveAll(br.home("published")))
}

// follow moves tip to other if that is further on.
func (br *runBranch) follow(ctx context.Context, other, where string) error {
	if other == "" || other == br.tip {
		return nil
	}
	if br.tip == "" {
		br.tip = other
		return nil
	}
	ahead, err := br.contains(ctx, other, br.tip)
	if err != nil {
		return err
	}
	if ahead {
		br.tip = other
		return nil
	}
	kept, err := br.shelfOf(ctx, other)
	if err != nil {
		return err
	}
	behind, err := br.containsAll(ctx, br.tip, other, kept)
	if err != nil || behind {
		return err
	}
	squashed := false
	if kept != "" && kept != other {
		squashed, err = br.contains(ctx, kept, br.tip)
	}
	if err != nil {
		return err
	}
	if squashed {
		br.tip = other
		return nil
	}
	if other == br.checkoutTip && other != br.remoteTip { // it was checked out when it was made one commit
		if kept, err = br.shelfOf(ctx, br.tip); err == nil && kept != "" {
			behind, err = br.contains(ctx, kept, other)
		}
		if err != nil || behind {
			return err
		}
	}
	if br.opt.TakeOther {
		br.warn("commit %s was given up for %s, which is on %s", br.tip, short(other), where)
		br.tip = other
		return nil
	}
	return &Moved{Branch: br.opt.Branch, Local: br.tip, Other: other, Where: where, Why: text.CauseOf("moved_apart", "neither contains the other")}
}

// containsAll reports whether a commit has some older ones in its history; "" is none.
func (br *runBranch) containsAll(ctx context.Context, tip string, older ...string) (bool, error) {
	for _, one := range older {
		if one == "" || one == tip {
			continue
		}
		if is, err := br.contains(ctx, tip, one); !is || err != nil {
			return false, err
		}
	}
	return true, nil
}

// fetchBranch learns what the remote's branch holds. With bounded, only commits
// that the default branch has not are fetched: in a shallow clone git would
// otherwise fetch all the history below them.
func (br *runBranch) fetchBranch(ctx context.Context, bounded bool) error {
	const into = "refs/reprise/remote"
	br.kept = nil
	rest := []string{"--end-of-options", br.remote.fetch, "+" + br.ref + ":" + into}
	limits := [][]string{nil}
	if bounded {
		limits = [][]string{{"--depth=1"}}
		if br.src.DefaultBranch != "" {
			limits = [][]string{{"--shallow-exclude=refs/heads/" + br.src.DefaultBranch}, {"--depth=1"}}
		}
	}
	var err error
	for _, limit := range limits {
		_, err = br.talk(ctx, slices.Concat(FetchArgs(), limit, rest)...)
		if err == nil && bounded {
			err = br.refetch(ctx, rest)
		}
		if err == nil {
			var text []byte
			text, err = os.ReadFile(br.home(into))
			br.remoteTip = strings.TrimSpace(string(text))
			return err
		}
		if strings.Contains(stderrOf(err), "couldn't find remote ref") {
			br.remoteTip = ""
			return nil
		}
	}
	return fmt.Errorf("fetch %s from %s: %w", br.opt.Branch, br.opt.Remote, err)
}

// besides is the error for a branch that excludes that of the run: git keeps
// branches like files, and one of the two would have to be a folder.
func (br *runBranch) besides(branch, where string) error {
	return &text.CauseError{Why: text.CauseOf("git_beside", "branch {branch} cannot be made beside branch {other}: rename that one, or give the branches of runs another prefix with REPRISE_BRANCH_PREFIX",
		"branch", br.opt.Branch, "other", branch+where)}
}

// markPublished notes that others can see the branch: if it is gone from there
// later, a person deleted it.
func (br *runBranch) markPublished() error {
	if _, err := os.Stat(br.home("published")); err == nil {
		return nil
	}
	return folders.PutFile(br.home("published"), []byte("yes\n"))
}

// FindBase gives the newest commit of a branch that is not the run's, as the remote has
// it, else this repository, and how the tip stands to it. In a shallow clone only what the
// tip lacks is fetched. From is a commit that both have.
func (br *runBranch) FindBase(ctx context.Context, branch, from string) (commit string, state BaseState, err error) {
	if commit, err = br.fetchBase(ctx, branch); err == nil {
		state, err = compareWithBase(ctx, br.reads(), br.tip, commit, from)
	}
	return commit, state, err
}

// Updates reports whether a commit does no more than merge one of the base's into the branch, as
// people do with a button of the pull request. Base is the newest commit of the base, and known
// one that both have.
func (br *runBranch) Updates(ctx context.Context, c LogEntry, base, known string) (bool, error) {
	if len(c.Parents) != 2 {
		return false, nil
	}
	if is, err := br.contains(ctx, base, c.Parents[1]); !is || err != nil {
		return false, err
	}
	r, err := mergeOf(ctx, br.reads(), c.Parents[0], c.Parents[1], known)
	if err != nil || len(r.Conflicts) > 0 {
		return false, err
	}
	return br.SameWork(ctx, r.Commit, c.Commit)
}

func (br *runBranch) fetchBase(ctx context.Context, branch string) (string, error) {
	if br.remote == nil {
		return br.src.resolve(ctx, "refs/heads/"+branch)
	}
	const into = "refs/reprise/target"
	args := FetchArgs()
	if br.src.Shallow {
		args = append(args, "--shallow-exclude="+br.ref)
	}
	_, err := br.talk(ctx, append(args, "--end-of-options", br.remote.fetch, "+refs/heads/"+branch+":"+into)...)
	if br.src.Shallow && strings.Contains(stderrOf(err), "no commits selected") {
		out, err := br.Exchange(ctx, []string{"ls-remote", "--refs"}, "refs/heads/"+branch)
		commit, _, _ := strings.Cut(string(out), "\t")
		return commit, err // the branch of the run has it, and so it is here
	}
	if err != nil {
		return "", fmt.Errorf("fetch %s from %s: %w", branch, br.opt.Remote, err)
	}
	text, err := os.ReadFile(br.home(into))
	return strings.TrimSpace(string(text)), err
}

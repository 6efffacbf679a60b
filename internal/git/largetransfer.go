package git

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/git/lfs"
)

// fetch has git-lfs fetch what a commit has and is not here into the user's
// repository, once. Without it the files stay pointers.
func (l *largeFiles) fetch(ctx context.Context, commit string) {
	from := l.remote
	if from == nil {
		from = l.src.origin
	}
	if l.opt.DryRun || l.fetched == commit || l.src.lfs.Skips {
		return
	}
	l.fetched = commit
	if from == nil {
		l.why = errors.New("there is no remote to fetch them from")
		return
	}
	_, l.why = l.ask(ctx, from, "fetch", from.name, commit)
}

// ask runs a command of git-lfs that reaches the remote.
func (l *largeFiles) ask(ctx context.Context, with *remote, args ...string) ([]byte, error) {
	if err := l.guardLFS(); err != nil {
		return nil, err
	}
	to := l.line(with)
	to.more = append([]setting{{Key: "remote." + with.name + ".url", Value: with.fetch}, {Key: "remote." + with.name + ".pushurl", Value: with.push}}, l.lfs...)
	// It finds its git directory by where it starts: it also works in that of a
	// remote which is a folder, and takes what GIT_DIR names for it.
	return to.do(ctx, call{Dir: l.lfsDir(), How: []string{"-c", "safe.bareRepository=all"}, Args: append([]string{"lfs"}, args...)})
}

// upload brings to the remote what the pointers stand for in the commits that it
// does not have yet. What is not here is left out: the remote has it, or nobody.
func (l *largeFiles) upload(ctx context.Context) error {
	if !l.inLFS() {
		return nil
	}
	objects, err := l.unsent(ctx)
	for some := range slices.Chunk(objects, 500) {
		if err == nil {
			_, err = l.ask(ctx, l.remote, append([]string{"push", "--object-id", l.remote.name}, some...)...)
		}
	}
	if err != nil {
		return fmt.Errorf("upload files of Git LFS: %w", err)
	}
	return nil
}

// unsent lists what the new commits have of Git LFS.
func (l *largeFiles) unsent(ctx context.Context) ([]string, error) {
	there, err := l.src.inspect(ctx, "for-each-ref", "--format=^%(objectname)", "refs/remotes/"+l.remote.name+"/")
	if err != nil {
		return nil, err
	}
	ask := l.tip + "\n" + string(there)
	if l.remoteTip != "" {
		ask += "^" + l.remoteTip + "\n"
	}
	out, err := l.gitStdin(ctx, []byte(ask), "rev-list", "--objects", "--no-object-names", "--ignore-missing",
		fmt.Sprintf("--filter=blob:limit=%d", lfs.MaxPointer+1), "--stdin")
	if err != nil {
		return nil, err
	}
	var ops []op
	for id := range strings.Lines(string(out)) {
		ops = append(ops, op{kind: 'M', id: strings.TrimSpace(id)})
	}
	pointers, err := l.among(ctx, ops)
	var oids []string
	for _, p := range pointers {
		if !l.missing(p) && p.Size > 0 {
			oids = append(oids, p.Oid)
		}
	}
	slices.Sort(oids)
	return slices.Compact(oids), err
}

package git

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/folders"
)

// line returns the way to talk with a remote for this run.
func (g *gitDir) line(to *remote) line {
	return line{src: g.src, remote: to, token: g.opt.Token, patience: g.opt.Patience}
}

// talk runs a command that reaches the remote.
func (g *gitDir) talk(ctx context.Context, args ...string) ([]byte, error) {
	if err := g.restoreConfig(); err != nil {
		return nil, err
	}
	return g.line(g.remote).do(ctx, call{Dir: g.dir, Env: g.place(nil), Args: args})
}

// Exchange runs a command, such as push with its flags, against the remote. The refs
// that it is about follow the address.
func (g *gitDir) Exchange(ctx context.Context, command []string, what ...string) ([]byte, error) {
	address := map[bool]string{true: g.remote.push, false: g.remote.fetch}[command[0] == "push"]
	return g.talk(ctx, append(append(command, "--end-of-options", address), what...)...)
}

// need makes sure that a commit is here. In a shallow clone an older commit of
// the run may not be; it is fetched alone.
func (g *gitDir) need(ctx context.Context, commit string) error {
	if !isHash(commit) {
		return fmt.Errorf("%q is not the full hash of a commit", commit)
	}
	if !g.src.Shallow || g.remote == nil {
		return nil
	}
	here, err := g.has(ctx, commit)
	if err != nil || here {
		return err
	}
	args := append(FetchArgs(), "--depth=1", "--end-of-options", g.remote.fetch, "+"+commit+":refs/reprise/needed/"+commit)
	if _, err = g.talk(ctx, args...); err != nil {
		return fmt.Errorf("fetch commit %s, which this shallow clone does not have: %w", short(commit), err)
	}
	return nil
}

// has says whether a commit is here, without asking any remote for it.
func (g *gitDir) has(ctx context.Context, commit string) (bool, error) {
	found, err := reader(g.offline).objects(ctx, commit)
	return err == nil && found[0].Kind == "commit", err
}

// mostBehind is how many commits back the history of a branch goes that is fetched anew.
const mostBehind = "500"

// refetch fetches what is asked for anew if its history was cut at a merge. Git does so with
// what was merged left out: it cuts off all parents of the merge, also those on the branch.
func (g *gitDir) refetch(ctx context.Context, rest []string) error {
	shallow := filepath.Join(g.src.CommonDir, "shallow")
	before, err := os.ReadFile(shallow)
	cut, none := os.ReadFile(g.home("shallow"))
	if errors.Is(none, fs.ErrNotExist) {
		return nil // the user's was cut, and this is not
	}
	if err := errors.Join(err, none); err != nil {
		return err
	}
	for _, commit := range strings.Fields(string(cut)) {
		found, err := reader(g.offline).objects(ctx, commit)
		if err != nil {
			return err
		}
		head, _, _ := strings.Cut(string(found[0].Data), "\n\n")
		if strings.Contains(string(before), commit) || strings.Count(head, "\nparent ") < 2 {
			continue
		}
		if err := folders.PutFile(g.home("shallow"), before); err != nil {
			return err
		}
		_, err = g.talk(ctx, slices.Concat(FetchArgs(), []string{"--refetch", "--depth=" + mostBehind}, rest)...)
		return err
	}
	return nil
}

package git

import (
	"context"
	"errors"
	"fmt"
	"os"
)

// mostFetched is how many bytes FetchFiles takes.
const mostFetched = 4 << 20

// FetchFiles gives the commit that the repository at an address, which may be a path from top, has at a ref, and the files
// of a folder there by their paths. It fetches that one commit as the user's own git would, and neither runs nor checks
// out anything of it. Links and submodules in the folder are refused.
func FetchFiles(ctx context.Context, top, address, ref, folder string) (commit string, files map[string][]byte, err error) {
	defer wrap(&err, "take %s of %s", ref, address)
	dir, err := os.MkdirTemp("", "reprise-fetch-")
	if err != nil {
		return "", nil, err
	}
	defer os.RemoveAll(dir)
	s := &Source{CommonDir: dir, env: takeEnviron()}
	if _, err := s.inspect(ctx, "init", "--quiet", "--bare", "--template="); err != nil {
		return "", nil, err
	}
	const into = "refs/reprise/fetched"
	fetch := s.inspection(append(FetchArgs(), "--depth=1", "--end-of-options", address, "+"+ref+":"+into)...)
	fetch.Dir, fetch.Memory = top, memory
	fetch.Env = append(s.env.discovery(), "GIT_DIR="+dir, "GIT_ALLOW_PROTOCOL=file:git:http:https:ssh")
	_, err = fetch.do(ctx)
	if failed, is := errors.AsType[*Error](err); is && ctx.Err() == nil {
		err = errors.New(failed.Last()) // no run has to do with it
	}
	if err == nil {
		commit, err = s.resolve(ctx, into)
	}
	if err != nil {
		return "", nil, err
	}
	files, err = s.filesBelow(ctx, commit, folder, mostFetched)
	for p, data := range files {
		if data == nil {
			return "", nil, fmt.Errorf("%q is a link or a submodule: nothing is taken from a folder that has one", p)
		}
	}
	return commit, files, err
}

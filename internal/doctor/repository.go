package doctor

import (
	"context"
	"fmt"
	"strings"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/git"
)

// repository looks at the repository, and where it comes from.
func repository(ctx context.Context, env environ.Env, src *git.Source) []Check {
	at := "on " + src.Branch
	if src.Branch == "" {
		at = "on no branch, at " + src.Head[:min(len(src.Head), 10)]
	}
	checks := []Check{well("repository", src.Dir+", "+at), origin(src), defaultBranch(src)}
	if src.Shallow {
		checks = append(checks, hinted("history", "it is cut off (a shallow clone); a run works with it", "git fetch --unshallow, if agents are to see the history"))
	}
	return append(checks, shapes(ctx, env, src)...)
}

// shapes says in what a run does not find the repository as its user does.
func shapes(ctx context.Context, env environ.Env, src *git.Source) []Check {
	var checks []Check
	if left := src.Partial(); left != "" {
		checks = append(checks, hinted("objects", "the clone is partial ("+left+"): what is missing is fetched when a run needs it; agents and checks cannot fetch", "git fetch --refetch --filter=blob:limit=1g, if that is too slow"))
	}
	if src.Sparse() {
		checks = append(checks, hinted("checkout", "it is sparse: a run has all files of the repository", "leave it so if there is room for them"))
	}
	modules, err := src.Submodules(ctx)
	switch {
	case err != nil:
		checks = append(checks, hinted("submodules", err.Error(), ""))
	case len(modules) > 0:
		checks = append(checks, hinted("submodules", fmt.Sprintf("%s: their folders are empty for agents and checks", strings.Join(modules, ", ")), "have checks that need them fetch them"))
	}
	return append(checks, largeFiles(ctx, env, src)...)
}

func origin(src *git.Source) Check {
	const name = "origin"
	switch {
	case src.RemoteURL == "":
		return hinted(name, "there is none: a run stays on this machine", "git remote add origin ADDRESS")
	case src.GitHub == "":
		return hinted(name, src.RemoteURL+" has no OWNER/REPO: issues are not read from there", "take issues from files, with --issue-file")
	}
	return well(name, src.RemoteURL)
}

func defaultBranch(src *git.Source) Check {
	const name = "default branch"
	if src.DefaultBranch == "" {
		return hinted(name, "it is not known; pipelines and prompts are read from what is checked out", "git remote set-head origin --auto")
	}
	return well(name, src.DefaultBranch)
}

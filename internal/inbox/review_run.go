package inbox

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/internal/issue"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// FoundRun is a run as the forge has its record.
type FoundRun struct {
	Issue int // its number
	Plan  *pipelines.Pipeline
	Run   metadata.Run
}

// RunOfPull finds the run that has a pull request, by the branch that this comes from and the record there; nil:
// there is none. Nothing that somebody wrote into the pull request counts.
func RunOfPull(ctx context.Context, gh *github.Client, env environ.Env, repository string, pull int) (*FoundRun, error) {
	owner, name, _ := strings.Cut(repository, "/")
	is, err := gh.Pull(ctx, owner, name, pull)
	if err != nil {
		return nil, err
	}
	id, ours := strings.CutPrefix(is.Head, env.Prefix())
	if !ours || !issue.Number.MatchString(id) || !strings.EqualFold(is.HeadRepository, repository) {
		return nil, nil
	}
	plan, run, err := phases.Read(id, is.Head, ReviewFiles(ctx, gh, repository, is.Head, id))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case run.PRNumber != pull && run.PRNumber != 0: // 0: it was opened a moment ago
		return nil, nil
	}
	number, err := strconv.Atoi(id)
	return &FoundRun{Issue: number, Plan: plan, Run: run}, err
}

// ReviewFiles gives how files of the run of an issue are read at the forge, where no clone is at hand: from its
// branch or, if its folder was taken off that, from where the record is kept. Repository is OWNER/NAME. A file that
// is in neither is an fs.ErrNotExist.
func ReviewFiles(ctx context.Context, gh *github.Client, repository, branch, id string) func(path string) ([]byte, error) {
	owner, name, _ := strings.Cut(repository, "/")
	kept := ""
	return func(path string) ([]byte, error) {
		if kept == "" {
			data, missing := gh.File(ctx, owner, name, branch, path)
			if !errors.Is(missing, fs.ErrNotExist) {
				return data, missing
			}
			var err error
			if kept, err = keptAt(ctx, gh, repository, id); err != nil {
				return nil, err
			}
			if kept == "" {
				return nil, missing
			}
		}
		return gh.File(ctx, owner, name, kept, path)
	}
}

// keptAt gives the commit in which the record of a run is kept; "" if it is not.
func keptAt(ctx context.Context, gh *github.Client, repository, id string) (string, error) {
	owner, name, _ := strings.Cut(repository, "/")
	var ref struct {
		Object struct {
			SHA string `json:"sha"`
		} `json:"object"`
	}
	_, err := gh.Ask(ctx, owner, name, github.Request{
		What: "find the record that is kept of issue " + id, Needs: "contents: read",
		Path: "/git/ref/" + strings.TrimPrefix(git.KeptRefs, "refs/") + phases.RecordName(id),
	}, &ref)
	if github.IsKind(err, github.NotFound) {
		return "", nil
	}
	return ref.Object.SHA, err
}

// SameWorkflows reports whether .github is the same in a commit or branch as in one of some others. A job for a
// review runs the workflow file of the pull request's own branch: one that was changed there is not to be obeyed.
func SameWorkflows(ctx context.Context, gh *github.Client, owner, name, branch string, others ...string) (bool, error) {
	mine, err := workflows(ctx, gh, owner, name, branch)
	if err != nil {
		return false, err
	}
	for _, other := range others {
		theirs, err := workflows(ctx, gh, owner, name, other)
		if err != nil {
			return false, err
		}
		if maps.Equal(mine, theirs) {
			return true, nil
		}
	}
	return false, nil
}

// workflows gives what is in .github: for each file or folder the hash of its content; nothing if it is not there.
func workflows(ctx context.Context, gh *github.Client, owner, name, ref string) (map[string]string, error) {
	var list []struct {
		Name string `json:"name"`
		SHA  string `json:"sha"`
	}
	_, err := gh.Ask(ctx, owner, name, github.Request{
		What: fmt.Sprintf("read .github on %s of %s/%s", ref, owner, name), Needs: "contents: read",
		Path: "/contents/.github?ref=" + url.QueryEscape(ref),
	}, &list)
	if github.IsKind(err, github.NotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, f := range list {
		out[f.Name] = f.SHA
	}
	return out, nil
}

// mostByBots is how many commands by programs are obeyed one after the other: two programs could go on for ever.
const mostByBots = 2

// isBot reports whether a login is that of a program: by its form, or because the workflow file says so.
func (in Inputs) isBot(login string) bool {
	return github.User{Login: login}.IsBot() || containsFold(in.Bots, login)
}

// TooManyBots reports whether a program gives a command, in a review or a comment, and the newest
// commands of the run came from programs, too.
func (in Inputs) TooManyBots(run metadata.Run, by string) bool {
	n := 0
	for _, d := range slices.Backward(run.Decisions) {
		if in.isBot(d.By) {
			n++
		} else if d.By != "" {
			break
		}
	}
	return in.isBot(by) && n >= mostByBots
}

// WhyNoMoreBots is why a command of a program is refused then.
func WhyNoMoreBots() metadata.Reason {
	return metadata.Because("bots_in_a_row", "n", mostByBots)
}

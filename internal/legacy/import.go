// Package legacy takes over runs of ai-workflow-agent, which reprise replaces.
package legacy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/issue"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// Options are the flags of import.
type Options struct {
	workspace.Options
	Branch string // that has the older run
	Record string // its metadata.json, instead of a branch
	Text   string // file with the text of the issue
	Dry    bool
	Json   bool
}

// Check refuses flags that do not go together.
func (o *Options) Check() error {
	switch {
	case o.Branch != "" && o.Record != "":
		return exit.Usagef("--from and --file each name the older run: give one of them")
	case o.Branch == "" && o.Record == "" && o.Id == "":
		return exit.Usagef("which run? Give --issue N, --from BRANCH or --file FILE")
	case o.Language != "" && !slices.Contains(metadata.Languages(), o.Language):
		return exit.Usagef("--language %q is not one of %s", o.Language, strings.Join(metadata.Languages(), ", "))
	case o.Dry && o.Push != nil && *o.Push:
		return exit.Usagef("--dry-run never pushes: leave --push out")
	case o.Id != "":
		return issue.CheckID(o.Id)
	}
	return nil
}

// Welcome refuses an older run that is not one of this repository, or that was
// taken over already.
func (old *OlderRun) Welcome(ctx context.Context, env environ.Env, src *git.Source) error {
	if there := old.Repository; there != "" && src.GitHub != "" && !strings.EqualFold(there, src.GitHub) {
		return exit.Usagef("%s is of a run of %s, and this repository is %s: go to a clone of the other", old.Name, there, src.GitHub)
	}
	id := string(old.Issue)
	branch := env.Branch(id)
	_, err := workspace.RecordReader(ctx, src, branch, id)(phases.RecordFile(id))
	switch {
	case err == nil:
		return Already(id, branch)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return nil
}

// Already is the error of importing a run for an issue that has one.
func Already(id, branch string) error {
	return exit.Usagef("there is a run for issue %s already, on branch %s: go on with it (reprise run --issue %[1]s), or rename that branch and import again", id, branch)
}

// IssueOf gives the issue with its text, which the older record lacks.
func (o Options) IssueOf(ctx context.Context, env environ.Env, src *git.Source, old *OlderRun) (issue.Issue, error) {
	is, err := issue.Issue{}, error(nil)
	if o.Text != "" {
		is, err = issue.ReadFile(o.Text, nil)
	} else if is, err = onGitHub(ctx, env, src, string(old.Issue)); err != nil {
		err = fmt.Errorf("%s has no text of the issue, and it cannot be read from GitHub: %w; give it with --issue-file FILE", old.Name, err)
	}
	is.ID, is.URL = string(old.Issue), cmp.Or(is.URL, old.IssueURL)
	return is, err
}

// onGitHub reads an issue of this repository from GitHub.
func onGitHub(ctx context.Context, env environ.Env, src *git.Source, id string) (issue.Issue, error) {
	_, where, why, err := issue.Query{Id: id, Online: true}.Find(env, src)
	switch {
	case err != nil:
		return issue.Issue{}, err
	case where == nil:
		return issue.Issue{}, exit.Usagef("%s", why)
	}
	return where.Read(ctx, env)
}

// place is where an older run was found.
type place struct {
	Name  string // of the record, as errors name it
	said  string // the same without a folder of this machine, as the new record names it
	Top   string // the run's folder, from the top of the repository
	files fs.FS  // that folder
	Base  string // branch that the new one starts from; empty: what is checked out
}

// numbered is the folder of an older run.
func numbered(id string) string { return fmt.Sprintf("%s/issue-%s", OlderFolder, id) }

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-ci/reprise/git"
	"github.com/reprise-ci/reprise/metadata"
)

// importOptions are the flags of import.
type importOptions struct {
	opening
	branch string // that has the older run
	record string // its metadata.json, instead of a branch
	text   string // file with the text of the issue
	dry    bool
	json   bool
}

func importCommand(env environment) *cobra.Command {
	var o importOptions
	var push bool
	c := &cobra.Command{
		Use:   "import [--from BRANCH | --file FILE] [--issue ID]",
		Short: "Take over a run of the older system, to go on with it here",
		Long: `Take over a run that has its record in .ai-workflow/issue-N/metadata.json, as a
run of the pipeline full on the branch reprise/issue-N. That branch starts where
the older one ends, so the work is there; the older branch stays as it is. What is
done stays done if its artifact is there, with statuses, times, verdicts, cost, the
history of rollbacks, and the comment and pull request on GitHub.

Without --from and --file, the run is looked for on ai-workflow/issue-N. The older
record has no text of the issue: it is read from GitHub, or from --issue-file.`,
		Example: `  reprise import --issue 7 --dry-run
  reprise import --from feature/issue-10 --issue-file issue.md
  reprise import --file .ai-workflow/issue-7/metadata.json`,
		RunE: func(c *cobra.Command, _ []string) error {
			if c.Flags().Changed("push") {
				o.push = &push
			}
			return runImport(c.Context(), env, o)
		},
	}
	f := c.Flags()
	repoFlag(c, &o.repo)
	issueFlag(c, &o.id)
	f.StringVar(&o.branch, "from", "", "branch that has the older run, here or on origin (default ai-workflow/issue-N)")
	f.StringVar(&o.record, "file", "", "metadata.json of the older run, with its artifacts beside it; the code is what is checked out")
	f.StringVar(&o.text, "issue-file", "", "Markdown file with the issue, as run takes it")
	f.StringVar(&o.language, "language", "", "language of artifacts and comments: en or ja (default: the older run's, else the pipeline's)")
	f.BoolVar(&push, "push", false, "push the new branch, and every later commit, to origin")
	f.BoolVar(&o.dry, "dry-run", false, "show what would be taken over, and change nothing")
	f.BoolVar(&o.json, "json", false, "print what was taken over as one JSON object")
	return c
}

// check refuses flags that do not go together.
func (o *importOptions) check() error {
	switch {
	case o.branch != "" && o.record != "":
		return usagef("--from and --file each name the older run: give one of them")
	case o.branch == "" && o.record == "" && o.id == "":
		return usagef("which run? Give --issue N, --from BRANCH or --file FILE")
	case o.language != "" && o.language != "en" && o.language != "ja":
		return usagef("--language %q is not one of en, ja", o.language)
	case o.dry && o.push != nil && *o.push:
		return usagef("--dry-run never pushes: leave --push out")
	case o.id != "":
		return checkID(o.id)
	}
	return nil
}

// runImport takes a run over and tells what became of it.
func runImport(ctx context.Context, env environment, o importOptions) (err error) {
	if err := o.check(); err != nil {
		return err
	}
	src, err := git.Find(ctx, o.repo)
	if err != nil {
		return err
	}
	old, err := o.find(ctx, env, src)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, old.close()) }()
	if err := old.welcome(ctx, env, src); err != nil {
		return err
	}
	is, err := o.issueOf(ctx, env, src, old)
	if err != nil {
		return err
	}
	o.given, o.pipeline, o.scratch = &is, "full", o.dry
	if o.base = old.base; o.language == "" {
		o.language = old.Run.Language
	}
	w, err := openWorkspace(ctx, env, o.opening)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	if !w.fresh {
		return already(is.ID, w.branch)
	}
	t, err := w.takeOver(ctx, env, old)
	if err != nil {
		return err
	}
	if !o.dry {
		e, err := w.engine(env, o.opening, quiet{})
		if err != nil {
			return err
		}
		if err := e.Begin(ctx, w.run); err != nil {
			return err
		}
	}
	w.introduce(env, o.opening)
	for _, n := range w.repo.Warnings() {
		_, _ = fmt.Fprintln(env.stderr, "reprise: "+n)
	}
	return t.tell(env, o, w)
}

// welcome refuses an older run that is not one of this repository, or that was
// taken over already.
func (old *olderRun) welcome(ctx context.Context, env environment, src *git.Source) error {
	if there := old.Run.Repository; there != "" && src.GitHub != "" && !strings.EqualFold(there, src.GitHub) {
		return usagef("%s is of a run of %s, and this repository is %s: go to a clone of the other", old.name, there, src.GitHub)
	}
	branch := env.branch(old.Run.IssueNumber)
	_, err := src.ReadFile(ctx, branch, recordFile(old.Run.IssueNumber))
	switch {
	case err == nil:
		return already(old.Run.IssueNumber, branch)
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	return nil
}

func already(id, branch string) error {
	return usagef("there is a run for issue %s already, on branch %s: go on with it (reprise run --issue %[1]s), or rename that branch and import again", id, branch)
}

// issueOf gives the issue with its text, which the older record lacks.
func (o importOptions) issueOf(ctx context.Context, env environment, src *git.Source, old *olderRun) (issue, error) {
	is, err := issue{}, error(nil)
	if o.text != "" {
		is, err = readIssue(o.text)
	} else if is, err = onGitHub(ctx, env, src, old.Run.IssueNumber); err != nil {
		err = fmt.Errorf("%s has no text of the issue, and it cannot be read from GitHub: %w; give it with --issue-file FILE", old.name, err)
	}
	is.ID, is.URL = old.Run.IssueNumber, cmp.Or(is.URL, old.Run.IssueURL)
	return is, err
}

// onGitHub reads an issue of this repository from GitHub.
func onGitHub(ctx context.Context, env environment, src *git.Source, id string) (issue, error) {
	_, where, why, err := opening{id: id, online: true}.find(env, src)
	switch {
	case err != nil:
		return issue{}, err
	case where == nil:
		return issue{}, usagef("%s", why)
	}
	return where.read(ctx, env)
}

// olderRun is a run of the older system, as it was found.
type olderRun struct {
	metadata.Imported
	name  string   // of the record, as errors name it
	said  string   // the same without a folder of this machine, as the new record names it
	top   string   // the run's folder, from the top of the repository
	files fs.FS    // that folder
	root  *os.Root // behind files; nil if they are those of a commit
	base  string   // branch that the new one starts from; empty: what is checked out
}

func (old *olderRun) close() error {
	if old.root == nil {
		return nil
	}
	return old.root.Close()
}

// numbered is the folder of an older run.
func numbered(id string) string { return fmt.Sprintf("%s/issue-%s", metadata.OlderFolder, id) }

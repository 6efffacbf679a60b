package workspace

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/issue"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// Define chooses the pipeline and the prompts for a new run, as definition.Define does.
type DefineFunc func(context.Context, *git.Source, issue.Issue, Choice) (Definition, error)

const (
	trustKnown = "trusted" // the file in a run's folder with the digests of the pipelines that this machine has worked with
	mostKnown  = 100       // of those
	mostSaid   = 12        // things that a pipeline does besides
)

// Mark notes in the folder that a run has on this machine that it is worked on with the
// pipeline of that digest.
func MarkTrusted(root, digest string) error {
	marks := marks(root)
	if slices.Contains(marks, digest) {
		return nil
	}
	marks = append(marks, digest)
	marks = marks[max(0, len(marks)-mostKnown):]
	if err := os.WriteFile(filepath.Join(root, trustKnown), []byte(strings.Join(marks, "\n")+"\n"), 0o600); err != nil {
		return fmt.Errorf("note the pipeline of the run: %w", err)
	}
	return nil
}

func marks(root string) []string {
	data, err := os.ReadFile(filepath.Join(root, trustKnown))
	if err != nil {
		return nil // then none is known, and the pipelines are compared
	}
	return strings.Fields(string(data))
}

// Check refuses to go on with a run, whose folder on this machine is root, if its pipeline
// lets programs do more than the pipelines of the default branch do, as they are now or
// were when the run began.
func CheckTrust(ctx context.Context, define DefineFunc, src *git.Source, root string, run metadata.Run, plan *pipelines.Pipeline) error {
	if slices.Contains(marks(root), run.Pipeline.Digest) {
		return nil
	}
	why, err := wider(ctx, define, src, run, plan)
	if err != nil || len(why) == 0 {
		return err
	}
	more := ""
	if n := len(why) - mostSaid; n > 0 {
		why, more = why[:mostSaid], fmt.Sprintf("\n- and %d more", n)
	}
	return exit.Usagef("this machine has not worked on the run of issue %s with the pipeline that is on %s, and whoever can push to that branch can have written it:\n- %s%s\nLook at it with `reprise explain --issue %[1]s`. To go on with it all the same: `reprise run --issue %[1]s --trust-branch`; with the pipeline as it is defined now: `reprise run --issue %[1]s --refresh`",
		run.IssueNumber, run.BranchName, strings.Join(why, "\n- "), more)
}

// wider says what the pipeline of a run lets programs do and none of the same name does
// that can be trusted.
func wider(ctx context.Context, define DefineFunc, src *git.Source, run metadata.Run, plan *pipelines.Pipeline) ([]string, error) {
	if !IsFindable(run.Pipeline.Source) || !IsFindable(plan.Source) {
		return []string{fmt.Sprintf("it comes from the file %.100q, which the default branch does not have", run.Pipeline.Source)}, nil
	}
	sources := []*git.Source{src}
	if began := asItBegan(ctx, src, run.BaseCommit); began != nil {
		sources = append(sources, began)
	}
	var trusted []*pipelines.Pipeline
	for _, s := range sources {
		d, err := define(ctx, s, issue.Issue{ID: run.IssueNumber}, Choice{Pipeline: run.Pipeline.Name, Language: run.Language})
		var mistakes pipelines.Mistakes
		var usage exit.UsageError
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.As(err, &mistakes), errors.As(err, &usage):
			continue // it has none that could be compared
		case err != nil:
			return nil, err
		}
		trusted = append(trusted, d.Plan)
	}
	if len(trusted) == 0 {
		return []string{fmt.Sprintf("the default branch has no pipeline %.100q without mistakes", run.Pipeline.Name)}, nil
	}
	return Wider(plan, trusted), nil
}

// asItBegan gives a repository in whose history of the default branch a commit is, with
// that commit for the default branch; nil where that cannot be shown.
func asItBegan(ctx context.Context, src *git.Source, base string) *git.Source {
	if src.DefaultBranch == "" || !hash().MatchString(base) {
		return nil
	}
	for _, ref := range []string{"refs/heads/", "refs/remotes/origin/"} {
		// A branch or commit that is not here shows nothing.
		if is, err := src.Contains(ctx, ref+src.DefaultBranch, base); err == nil && is {
			then := *src
			then.DefaultBranch = base
			return &then
		}
	}
	return nil
}

var hash = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`) })

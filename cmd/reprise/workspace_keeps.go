package main

import (
	"fmt"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/pipelines"
)

// sameTitle refuses an issue file whose id belongs to the run of another issue:
// that run would be taken for the one that is asked for.
func (w *workspace) sameTitle(o opening, given issue) error {
	if o.file == "" || o.reissue || slices.Equal(strings.Fields(given.Title), strings.Fields(w.run.IssueTitle)) {
		return nil
	}
	return usagef("issue %s is the run of %q, and %s is titled %q: for another issue name the file otherwise, or give a number of its own in its front matter; if it is the same, go on with --issue %[1]s, or take its new text with --refresh-issue",
		w.issue.ID, w.run.IssueTitle, o.file, given.Title)
}

// samePart refuses phases that a run which has begun would not keep to: it would
// carry out, and spend on, more or others than were asked for.
func (w *workspace) samePart(o opening) error {
	asked, has := o.part, w.plan.Part
	asked.Skip, has.Skip = slices.Sorted(slices.Values(asked.Skip)), slices.Sorted(slices.Values(has.Skip))
	if o.refresh || asked.IsZero() || reflect.DeepEqual(asked, has) {
		return nil
	}
	return usagef("the run of issue %s keeps the phases with which it began, so --from, --until, --only and --skip cannot choose others: leave them out, or add --refresh, which takes the pipeline as it is defined now", w.issue.ID)
}

// sameDefinition refuses a pipeline or a language that a run which has begun
// would not take: whoever names one expects it.
func (w *workspace) sameDefinition(o opening) error {
	if o.refresh {
		return nil
	}
	if o.pipeline != "" && o.pipeline != fullName(w.plan) && filepath.Base(o.pipeline) != path.Base(w.plan.Source) {
		return usagef("the run of issue %s keeps pipeline %s, with which it began: leave --pipeline %s out, or add --refresh, which goes on with it; what is done stays done",
			w.issue.ID, fullName(w.plan), o.pipeline)
	}
	if o.language != "" && o.language != w.run.Language {
		return usagef("the run of issue %s keeps language %s, with which it began: leave --language %s out, or add --refresh, which goes on in it", w.issue.ID, w.run.Language, o.language)
	}
	return nil
}

// fullName is the name of a plan, with its preset, as --pipeline takes it.
func fullName(plan *pipelines.Pipeline) string { return joined("/", plan.Name, plan.Preset) }

// without says what of the command line has no effect on a run that has begun.
func (w *workspace) without(o opening, given issue) []string {
	var out []string
	if o.file != "" && given.digest() != w.run.Issue.Digest {
		out = append(out, fmt.Sprintf("%s reads otherwise now; the run keeps the issue as it has it (--refresh-issue takes it anew)", o.file))
	}
	if r := w.there; o.url != "" && !strings.HasSuffix(strings.ToLower(w.run.IssueURL), strings.ToLower(fmt.Sprintf("/%s/issues/%d", r.repository(), r.number))) {
		out = append(out, fmt.Sprintf("the run of issue %s did not begin with %s; it keeps the issue it began with", w.issue.ID, o.url))
	}
	return out
}

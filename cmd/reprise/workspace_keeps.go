package main

import (
	"fmt"
	"path"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

// sameTitle refuses an issue file whose id belongs to the run of another issue:
// that run would be taken for the one that is asked for.
func (w *workspace) sameTitle(o opening, given issue) error {
	if o.file == "" || slices.Equal(strings.Fields(given.Title), strings.Fields(w.run.IssueTitle)) {
		return nil
	}
	return usagef("issue %s is the run of %q, and %s is titled %q: for another issue name the file otherwise, or give a number of its own in its front matter; if it is the same, go on with --issue %[1]s",
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

// without says what of the command line has no effect on a run that has begun.
func (w *workspace) without(o opening, given issue) []string {
	var out []string
	has := w.plan.Name
	if w.plan.Preset != "" {
		has += "/" + w.plan.Preset
	}
	if o.pipeline != "" && o.pipeline != has && filepath.Base(o.pipeline) != path.Base(w.plan.Source) {
		out = append(out, fmt.Sprintf("the run keeps pipeline %s, with which it began; --pipeline %s has no effect", has, o.pipeline))
	}
	if o.language != "" && o.language != w.run.Language {
		out = append(out, fmt.Sprintf("the run keeps language %s, with which it began; --language %s has no effect", w.run.Language, o.language))
	}
	if o.file != "" && given.digest() != w.run.Issue.Digest {
		out = append(out, fmt.Sprintf("%s reads otherwise now; the run keeps the issue as it read when it began", o.file))
	}
	if r := w.there; o.url != "" && !strings.HasSuffix(strings.ToLower(w.run.IssueURL), strings.ToLower(fmt.Sprintf("/%s/issues/%d", r.repository(), r.number))) {
		out = append(out, fmt.Sprintf("the run of issue %s did not begin with %s; it keeps the issue it began with", w.issue.ID, o.url))
	}
	return out
}

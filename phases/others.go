package phases

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
)

// OtherRun is another run of the same repository that is open. Its texts are of others, on
// one line each.
type OtherRun struct {
	ID, Title string
	Status    string   // running, waiting, interrupted or failed
	Phase     string   // that it is in
	Tasks     []string // titles of what it has found to do
	Files     []string // that it has changed, or says that it will
	Shared    []string // those of them that this run changes, too, or says that it will
}

// The most that agents and people are told of another run.
const (
	mostTasks = 8
	mostFiles = 20
	mostText  = 120
	mostShown = 5 // files of each, and runs, that people are told of in a line
)

// OtherRunOf says of another run what agents are told. Files are those that it has changed, or says that
// it will, and own are those of the run whose agents are told.
func OtherRunOf(run metadata.Run, files, own []string) OtherRun {
	short := func(s string) string { return text.Cut(text.Flat(s), mostText) }
	o := OtherRun{ID: short(run.IssueNumber), Title: short(run.IssueTitle), Status: string(run.Status), Phase: run.CurrentPhase}
	for _, t := range run.Tasks[:min(len(run.Tasks), mostTasks)] {
		o.Tasks = append(o.Tasks, short(t.Title))
	}
	slices.Sort(files)
	for _, f := range slices.Compact(files) {
		if len(o.Files) < mostFiles {
			o.Files = append(o.Files, short(f))
		}
		if slices.Contains(own, f) && len(o.Shared) < mostFiles {
			o.Shared = append(o.Shared, short(f))
		}
	}
	return o
}

// String says it in some lines, for an agent.
func (o OtherRun) String() string {
	var out strings.Builder
	fmt.Fprintf(&out, "%s: %s (%s, %s)", o.ID, o.Title, o.Status, o.Phase)
	for _, t := range o.Tasks {
		out.WriteString("\n- " + t)
	}
	if len(o.Files) > 0 {
		out.WriteString("\nfiles: " + strings.Join(o.Files, ", "))
	}
	if len(o.Shared) > 0 {
		out.WriteString("\nshared: " + strings.Join(o.Shared, ", "))
	}
	return out.String()
}

// IsOver says of a run that it is open no more.
func IsOver(run metadata.Run) bool {
	return run.Status == metadata.Completed || run.Status == metadata.Cancelled
}

// WhySameFiles says to people which of some runs change the same files; it is empty if none
// does.
func WhySameFiles(all []OtherRun) metadata.Reason {
	var said []metadata.Reason
	for _, o := range all {
		n := len(o.Shared)
		switch {
		case len(said) == mostShown:
			return metadata.All(said...)
		case n > mostShown:
			said = append(said, metadata.Because("same_files_more", "issue", o.ID, "files", o.Shared[:mostShown], "n", n-mostShown))
		case n > 0:
			said = append(said, metadata.Because("same_files", "issue", o.ID, "files", o.Shared))
		}
	}
	return metadata.All(said...)
}

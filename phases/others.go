package phases

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// OtherRun is another run of the same repository that is open. Its texts are of others, on one line each.
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

// OtherRunOf says of another run what agents are told.
func OtherRunOf(run metadata.Run, files, own []string) OtherRun {
	short := func(s string) string { return text.Cut(text.Flat(s), mostText) }
	o := OtherRun{ID: short(run.IssueNumber), Title: short(run.IssueTitle), Status: string(run.Status), Phase: AtHand(run)}
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

// WhySameFiles says to people which of some runs change the same files; it is empty if none does.
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

// PlansFiles reports whether a phase comes before the first one that changes code.
func PlansFiles(plan *pipelines.Pipeline, phase string) bool {
	for _, p := range plan.Phases {
		if p.Access == pipelines.AccessTree {
			return false
		}
		if p.Name == phase {
			return true
		}
	}
	return false
}

// PlannedFiles lists the files that a run says it will change: those that its tasks name, and
// the list "files" in what its phases have returned. It is sorted.
func PlannedFiles(run metadata.Run) []string {
	var all []string
	for _, t := range run.Tasks {
		all = append(all, t.Files...)
	}
	for _, p := range run.Phases {
		var said struct {
			Files json.RawMessage `json:"files"`
		}
		var files []string
		if json.Unmarshal(p.Report, &said) == nil && json.Unmarshal(said.Files, &files) == nil { // else it has no such list
			all = append(all, files...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// ChangedInPatch lists the files that a patch of git changes, and counts the changes that they are in.
func ChangedInPatch(patch string) (names []string, files int) {
	first, moved := 0, false // of the names of the change at hand
	for line := range strings.Lines(patch) {
		line = strings.TrimRight(line, "\r\n")
		if head, is := strings.CutPrefix(line, "diff --git "); is { // no line of a file begins so in a patch
			if first, moved = len(names), false; both(head) != "" {
				names, files = append(names, both(head)), files+1
			}
			continue
		}
		from, was := strings.CutPrefix(line, "rename from ") // nor so
		to, is := strings.CutPrefix(line, "rename to ")
		switch {
		case was && !moved: // then what the first line seems to name twice is nothing
			files += 1 - (len(names) - first)
			names, moved = append(names[:first], unquoted(from)), true
		case is && moved:
			names = append(names, unquoted(to))
		}
	}
	return names, files
}

// Place is a part of a file that has changed, with the lines around it.
type Place struct {
	File        string
	First, Last int // lines; where Last is not above 0, it is the whole file
}

// hunk matches where a part of a patch begins; no line of a file does so in one.
var hunk = text.Pattern(`(?m)^@@ -\S+ \+(\d+)(?:,(\d+))? @@`)

// ChangedPlaces gives the parts of files that a patch of git changes.
func ChangedPlaces(patch string) (all []Place) {
	for _, part := range strings.Split("\n"+patch, "\ndiff --git ")[1:] {
		names, _ := ChangedInPatch("diff --git " + part)
		hunks := hunk().FindAllStringSubmatch(part, -1)
		for _, h := range append(hunks, []string{"", "0", "0"})[:max(1, len(hunks))] { // what is no text changes as a whole
			first, _ := strconv.Atoi(h[1])
			n, _ := strconv.Atoi(cmp.Or(h[2], "1"))
			for _, file := range names {
				all = append(all, Place{file, first, first + n - 1})
			}
		}
	}
	return all
}

// both gives the name that the first line of a change has twice, or "".
func both(head string) string {
	half := len(head) / 2
	if len(head)%2 == 0 || head[half] != ' ' {
		return ""
	}
	from, was := strings.CutPrefix(unquoted(head[:half]), "a/")
	to, is := strings.CutPrefix(unquoted(head[half+1:]), "b/")
	if !was || !is || from != to {
		return ""
	}
	return to
}

// unquoted gives a name as it is; git quotes one with characters that are not printed.
func unquoted(name string) string {
	if plain, err := strconv.Unquote(name); err == nil && strings.HasPrefix(name, `"`) {
		return plain
	}
	return name
}

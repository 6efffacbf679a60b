package phases

import (
	"path"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// Folder is the folder of a run on its branch, by the id of its issue.
func Folder(issue string) string { return path.Join(".reprise", "issue-"+issue) }

// RecordFile is the path of a run's record on its branch.
func RecordFile(issue string) string { return path.Join(Folder(issue), metadata.File) }

// RecordName is the name by which the record of a run is kept when its folder is taken off its branch.
func RecordName(issue string) string { return path.Base(Folder(issue)) }

// Read reads the record of a run and its plan by a function that gives the files of a branch,
// also where there is no checkout of it. The error is an fs.ErrNotExist if there is no run.
func Read(issue, branch string, file func(path string) ([]byte, error)) (*pipelines.Pipeline, metadata.Run, error) {
	data, err := file(RecordFile(issue))
	if err != nil {
		return nil, metadata.Run{}, err
	}
	run, err := metadata.ParseOf(issue, data, branch+":"+RecordFile(issue))
	if err != nil {
		return nil, run, err
	}
	if data, err = file(path.Join(Folder(issue), PipelineFile)); err != nil {
		return nil, run, err
	}
	plan, err := pipelines.Parse(data)
	return plan, run, err
}

// PhaseFolder is the folder of a phase on the run's branch.
func PhaseFolder(run metadata.Run, p *pipelines.Phase) string {
	return path.Join(Folder(run.IssueNumber), p.Folder)
}

// ConflictFolder is where the versions of files lie in which a part conflicts with others, until that is resolved.
func ConflictFolder(run metadata.Run, p *pipelines.Phase) string {
	return path.Join(PhaseFolder(run, p), "conflict")
}

// BeforeFile is the file in that folder with the work of a part, for the case that it is done anew.
const BeforeFile = "before.diff"

// The files that reprise itself writes into the run's folder besides the record.
const (
	IssueFile      = "issue.md"        // the issue as it read when the run began
	DiscussionFile = "discussion.json" // what was said below it by then, if anything
	PipelineFile   = "pipeline.json"   // the frozen pipeline
	givenFolder    = "given"           // documents that people have written for phases
)

// GivenFile is where the document is kept that people have written for a phase.
func GivenFile(run metadata.Run, phase string) string {
	return path.Join(Folder(run.IssueNumber), givenFolder, phase+".md")
}

// The files that reprise itself writes into the folder of a phase.
const (
	ReviewFile = "review.md"          // what the newest review said
	ChecksFile = "checks.md"          // what the checks of the newest work printed
	ReasonFile = "ROLLBACK_REASON.md" // why the phase was taken back
)

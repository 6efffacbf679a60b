package workspace

import (
	"path"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// ReadRecord reads the record of a run and its plan where there is no checkout:
// from a branch, by a function that gives its files. The error is an
// fs.ErrNotExist if there is no run.
func ReadRecord(id, branch string, file func(path string) ([]byte, error)) (*pipelines.Pipeline, metadata.Run, error) {
	data, err := file(RecordFile(id))
	if err != nil {
		return nil, metadata.Run{}, err
	}
	run, err := metadata.ParseOf(id, data, branch+":"+RecordFile(id))
	if err != nil {
		return nil, run, err
	}
	if data, err = file(path.Join(phases.Folder(id), phases.PipelineFile)); err != nil {
		return nil, run, err
	}
	plan, err := pipelines.Parse(data)
	return plan, run, err
}

package source

import (
	"github.com/reprise-ci/reprise/pipelines"
)

// file is a pipeline as it was found.
type file = SourceFile

// Error is one mistake in a pipeline, or in a value that a pipeline describes.
type Error = pipelines.Mistake

// Errors are all the mistakes that were found, in the order of the files.
type Errors = pipelines.Mistakes

package source

import (
	"github.com/reprise-ci/reprise/pipelines/mistake"
	"github.com/reprise-ci/reprise/pipelines/reading"
)

// file is a pipeline as it was found.
type file = reading.File

// Error is one mistake in a pipeline, or in a value that a pipeline describes.
type Error = mistake.Error

// Errors are all the mistakes that were found, in the order of the files.
type Errors = mistake.Errors

package pipelines

import "github.com/reprise-ci/reprise/pipelines/mistake"

// Error is one mistake in a pipeline, or in a value that a pipeline describes.
type Error = mistake.Error

// Errors are all the mistakes that were found, in the order of the files.
type Errors = mistake.Errors

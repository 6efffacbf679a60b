package engine

import (
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/prompts"
)

// say puts a reason into words: for people in the language of their run, for
// programs in English.
func say(language string, r metadata.Reason) string { return r.In(prompts.Words(language)) }

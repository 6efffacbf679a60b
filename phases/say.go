package phases

import (
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/prompts"
)

// Say puts a reason into words: for people in the language of their run, for
// programs in English.
func Say(language string, r metadata.Reason) string { return r.In(prompts.Words(language)) }

package phases

import (
	"errors"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/prompts"
)

// Say puts a reason into words: for people in the language of their run, for
// programs in English.
func Say(language string, r metadata.Reason) string { return r.In(prompts.Words(language)) }

// Refusal is the error of what a run as it stands does not allow.
type Refusal struct{ Reason metadata.Reason }

// Error says in English why not.
func (e *Refusal) Error() string { return Say("en", e.Reason) }

// Why says why not.
func (e *Refusal) Why() metadata.Reason { return e.Reason }

func refuse(why metadata.Reason) error { return &Refusal{why} }

// WhyOf gives the reason that an error has, or its words.
func WhyOf(err error) metadata.Reason {
	var e interface{ Why() metadata.Reason }
	if errors.As(err, &e) {
		return e.Why()
	}
	return metadata.Said(err.Error())
}

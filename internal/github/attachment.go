package github

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
)

// AttachmentError says why an attachment was not read.
type AttachmentError struct {
	Status int   // of an answer that is none; 3xx: it leads where nothing is read
	Large  bool  // it has more bytes than were asked for
	Err    error // there was no answer
}

// Error says why.
func (e *AttachmentError) Error() string {
	switch {
	case e.Large:
		return "it is too large"
	case e.Err != nil:
		return e.Err.Error()
	}
	return fmt.Sprintf("the answer is %d %s", e.Status, http.StatusText(e.Status))
}

// Unwrap gives why there was no answer.
func (e *AttachmentError) Unwrap() error { return e.Err }

// attachmentTries is how often one is asked for.
const attachmentTries = 3

// withoutAddress leaves an address, in which there may be a key, out of an error.
func withoutAddress(err error) error {
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		return wrapped.Err
	}
	return err
}

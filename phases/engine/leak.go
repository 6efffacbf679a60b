package engine

import (
	"context"

	"github.com/reprise-ci/reprise/metadata"
)

// Finder knows what must not be seen: values that the user has, in any form in
// which they may be written, and what has the shape of a secret.
type SecretFinder interface {
	// Mask replaces both in a text for people.
	Mask(text string) string
	// MaskKnown replaces the values only: in what programs read, such as a path,
	// a text that merely looks like a secret has to stay as it is.
	MaskKnown(text string) string
	// Leaks finds both in a file that is about to be committed, and leaves out
	// what the last commit has already. An error says why the file could not be
	// looked through; it is not committed then.
	Leaks(ctx context.Context, path string, data []byte) ([]Leak, error)
}

// Leak is a secret in a file.
type Leak struct {
	Line  int    // from 1
	Name  string // of the value, or of the rule that knows the shape
	Known bool   // it is a value of the user
}

// in says what stands in a file.
func (l Leak) in(file string) metadata.Reason {
	if l.Known {
		return metadata.Because("secret_value", "file", file, "line", l.Line, "name", l.Name)
	}
	return metadata.Because("secret_shape", "file", file, "line", l.Line, "name", l.Name)
}

//go:build !linux

package folders

import (
	"errors"
	"os"
)

// Nameless says that the system has files in memory without a name.
const Nameless = false

// NamelessFile makes none.
func NamelessFile(string) (*os.File, error) { return nil, errors.ErrUnsupported }

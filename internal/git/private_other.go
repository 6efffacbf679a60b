//go:build !linux

package git

import (
	"errors"
	"os"
)

const nameless = false

func namelessFile(string) (*os.File, error) { return nil, errors.ErrUnsupported }

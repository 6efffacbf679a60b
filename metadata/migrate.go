package metadata

import (
	"fmt"
	"strconv"
)

// NewerError is the mistake in a record whose format is newer than those that this program
// knows. Nothing is wrong with such a record.
type NewerError struct{ Mistake *Mistake }

// Error gives the mistake with its place.
func (e *NewerError) Error() string { return e.Mistake.Error() }

// Unwrap returns the mistake.
func (e *NewerError) Unwrap() error { return e.Mistake }

// migrate brings data to the version that this program reads.
func migrate(data []byte, filename string) ([]byte, error) {
	version, offset, err := VersionOf(data)
	if err != nil {
		return nil, DecodingMistake(data, filename, err)
	}
	wrong := func(format string, args ...any) *Mistake {
		line, column := PositionIn(data, offset)
		return &Mistake{File: filename, Line: line, Column: column, Path: "schema", Message: fmt.Sprintf(format, args...)}
	}
	n, err := strconv.Atoi(version)
	switch {
	case version == "":
		return nil, wrong("is missing: this is not a record that reprise wrote")
	case err != nil || n < 1:
		return nil, wrong("%.20s is not the number of a version of the format", version)
	case n > Schema:
		return nil, &NewerError{wrong("the record has version %d of the format and this reprise knows %d: use a newer reprise", n, Schema)}
	}
	for ; n < Schema; n++ {
		if data, err = Migrations()[n-1](data); err != nil {
			return nil, fmt.Errorf("%s: bring version %d of the format to %d: %w", filename, n, n+1, err)
		}
	}
	return data, nil
}

package metadata

import (
	"bytes"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// migrations turn older versions of the format into newer ones: the first
// takes version 1 to version 2, and so on up to Schema. Each past version
// keeps a file in testdata.
func migrations() []func(data []byte) ([]byte, error) {
	return nil
}

// migrate brings data to the version that this program reads.
func migrate(data []byte, filename string) ([]byte, error) {
	version, offset, err := schemaOf(data)
	if err != nil {
		return nil, decodeError(data, filename, err)
	}
	refuse := func(format string, args ...any) ([]byte, error) {
		line, column := position(data, offset)
		return nil, &Error{File: filename, Line: line, Column: column, Path: "schema", Message: fmt.Sprintf(format, args...)}
	}
	n, err := strconv.Atoi(version)
	switch {
	case version == "":
		return refuse("is missing: this is not a record that reprise wrote")
	case err != nil || n < 1:
		return refuse("%.20s is not the number of a version of the format", version)
	case n > Schema:
		return refuse("the record has version %d of the format and this reprise knows %d: use a newer reprise", n, Schema)
	}
	for ; n < Schema; n++ {
		if data, err = migrations()[n-1](data); err != nil {
			return nil, fmt.Errorf("%s: bring version %d of the format to %d: %w", filename, n, n+1, err)
		}
	}
	return data, nil
}

// schemaOf finds the version a record says it has, as it is written, and where
// it says so. It reads no further than that.
func schemaOf(data []byte) (version string, offset int64, err error) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(data))
	if dec.PeekKind() != jsontext.KindBeginObject {
		_, err := dec.ReadValue()
		return "", 0, err
	}
	if _, err := dec.ReadToken(); err != nil {
		return "", 0, err
	}
	for dec.PeekKind() == jsontext.KindString {
		name, err := dec.ReadToken()
		if err != nil {
			return "", 0, err
		}
		if name.String() == "schema" {
			v, err := dec.ReadValue()
			return string(v), dec.InputOffset() - int64(len(v)), err
		}
		if err := dec.SkipValue(); err != nil {
			return "", 0, err
		}
	}
	_, err = dec.ReadToken() // the end, or what is there instead of a name
	return "", 0, err
}

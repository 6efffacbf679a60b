package metadata

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// Migrations turn each version of the format into the next: the first takes
// version 1 to version 2, and so on up to the one that is written now. Each past
// version keeps a file in metadata/testdata.
func Migrations() []func(data []byte) ([]byte, error) {
	return []func([]byte) ([]byte, error){
		func(data []byte) ([]byte, error) { return renumber(data, 2) }, // version 2 has parts of phases
		func(data []byte) ([]byte, error) { return renumber(data, 3) }, // version 3 has parts that are done at the same time
	}
}

// Step gives the name that a step of a decision has today. Records of every version
// may have the one that it had before.
func Migration(name string) string {
	if name == "rewind" {
		return "rollback"
	}
	return name
}

// renumber gives a record the number of a version that is no different for it.
func renumber(data []byte, to int) ([]byte, error) {
	was, offset, err := VersionOf(data)
	return slices.Concat(data[:offset], []byte(strconv.Itoa(to)), data[offset+int64(len(was)):]), err
}

// VersionOf finds the version a record says it has, as it is written, and where
// it says so. It reads no further than that.
func VersionOf(data []byte) (version string, offset int64, err error) {
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

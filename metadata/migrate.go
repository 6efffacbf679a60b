package metadata

import (
	"bytes"
	"cmp"
	"fmt"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// oldest is the oldest version of the format that is read.
const oldest = 3

// migrations turn each version of the format into the next, beginning with the oldest
// that is read. Each past version keeps a file in testdata.
func migrations() []func(data []byte) ([]byte, error) {
	return []func([]byte) ([]byte, error){
		func(data []byte) ([]byte, error) {
			return rewritten(data, edits{
				"schema":       func([]byte) ([]byte, error) { return []byte("4"), nil },
				"notes_change": nil,                                                                              // no changes of notes are proposed any more
				"run":          func(run []byte) ([]byte, error) { return rewritten(run, edits{"untold": nil}) }, // hooks are told again from a revision on
			})
		},
	}
}

// NewerError is the mistake in a record whose format is newer than those that this program
// knows. Nothing is wrong with such a record.
type NewerError struct{ Mistake *Mistake }

// Error gives the mistake with its place.
func (e *NewerError) Error() string { return e.Mistake.Error() }

// Unwrap returns the mistake.
func (e *NewerError) Unwrap() error { return e.Mistake }

// migrate brings data to the version that this program reads.
func migrate(data []byte, filename string) ([]byte, error) {
	version, offset, err := versionOf(data)
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
	case n < oldest:
		return nil, wrong("the record has version %d of the format, and this reprise reads none before %d: begin the run of the issue anew", n, oldest)
	}
	for _, step := range migrations()[n-oldest:] {
		if data, err = step(data); err != nil {
			return nil, DecodingMistake(data, filename, err)
		}
	}
	return data, nil
}

// versionOf finds the version a record says it has, as it is written, and where
// it says so. It reads no further than that.
func versionOf(data []byte) (version string, offset int64, err error) {
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

// edits give the fields of an object another value; nil: they go.
type edits map[string]func(value []byte) ([]byte, error)

// rewritten gives an object with other values, and what is no object as it is.
func rewritten(data []byte, fields edits) ([]byte, error) {
	dec := jsontext.NewDecoder(bytes.NewBuffer(data))
	if start, err := dec.ReadToken(); err != nil || start.Kind() != jsontext.KindBeginObject {
		return data, err
	}
	out := []byte("{")
	for dec.PeekKind() == jsontext.KindString {
		token, err := dec.ReadToken()
		if err != nil {
			return nil, err
		}
		name := token.String()
		value, err := dec.ReadValue()
		if err != nil {
			return nil, err
		}
		edit, known := fields[name]
		if known && edit == nil {
			continue
		}
		if known {
			if value, err = edit(value); err != nil {
				return nil, err
			}
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		if out, err = jsontext.AppendQuote(out, name); err != nil {
			return nil, err
		}
		out = append(append(out, ':'), value...)
	}
	return append(out, data[dec.InputOffset():]...), nil
}

// olderSteps and olderCodes are the names that records of version 3 have for steps of
// decisions and for reason codes, and those of today.
var (
	olderSteps = map[string]string{"reject": "rollback", "resume": "run"}
	olderCodes = map[Code]Code{
		"no_trigger": NotACommand, "bot_denied": PermissionDenied, "fork_denied": PermissionDenied, "confused_deputy": PermissionDenied,
		"edited_comment": PermissionDenied, "day_budget": BudgetExceeded, "protected_path": ChangeRefused, "patch_too_large": ChangeRefused,
	}
)

// rename gives what had another name in version 3 that of today.
func rename(r *Run) {
	for i, d := range r.Decisions {
		r.Decisions[i].Step = cmp.Or(olderSteps[d.Step], d.Step)
	}
	today := func(c *Code) { *c = cmp.Or(olderCodes[*c], *c) }
	for i := range r.Attempts {
		today(&r.Attempts[i].Code)
	}
	if r.Stop != nil {
		today(&r.Stop.Code)
	}
}

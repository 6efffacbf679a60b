package metadata

import (
	"bytes"
	"cmp"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// File is the name of a record in its folder.
const File = "metadata.json"

// MaxSize is the most bytes that a metadata.json may have.
const MaxSize = 64 << 20

// Parse reads a metadata.json, of this version of the format or an older one,
// and checks it. Fields that the format does not have, names that occur twice
// and anything after the end are refused; fields that are left out have their
// zero value. The filename is used in errors only; they are one or more
// *Mistake, joined.
func Parse(data []byte, filename string) (r Run, err error) {
	if len(data) > MaxSize {
		return Run{}, &Mistake{File: filename, Message: fmt.Sprintf("has %d bytes, more than the %d that a run can need", len(data), MaxSize)}
	}
	version, err := versionOf(data, filename)
	if err != nil {
		return Run{}, err
	}
	if err := jsonv2.Unmarshal(data, &r, jsonv2.RejectUnknownMembers(version == Schema)); err != nil {
		return Run{}, DecodingMistake(data, filename, err)
	}
	r.Schema = Schema
	for i := range r.Phases {
		r.Phases[i].Report = compact(r.Phases[i].Report)
	}
	rename(&r)
	mistakes := check(&r)
	if len(mistakes) == 0 {
		return r, nil
	}
	LocateMistakes(data, mistakes)
	for _, m := range mistakes {
		m.File = filename
	}
	return Run{}, JoinMistakes(mistakes)
}

// ParseOf is Parse of a record that lies where that of an issue has to be.
func ParseOf(issue string, data []byte, filename string) (Run, error) {
	run, err := Parse(data, filename)
	if err == nil && run.IssueNumber != issue {
		return Run{}, &Mistake{File: filename, Path: "issue_number", Message: fmt.Sprintf("is %q, in the place of the record of issue %s", run.IssueNumber, issue)}
	}
	return run, err
}

// Format checks a record and gives its text: two spaces for a level, a newline at the end, the same bytes for the
// same record. Bytes that are not UTF-8 become U+FFFD, so that what an agent printed cannot stop a run.
func Format(r Run) ([]byte, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	data, err := jsonv2.Marshal(&r, jsontext.WithIndent("  "), jsontext.AllowInvalidUTF8(true), jsonv2.Deterministic(true))
	if err != nil {
		return nil, fmt.Errorf("write the record as JSON: %w", err)
	}
	return append(data, '\n'), nil
}

// oldest is the oldest version of the format that is read.
const oldest = 3

// NewerError is the mistake in a record whose format is newer than those that this program knows.
type NewerError struct{ *Mistake }

// Unwrap returns the mistake.
func (e *NewerError) Unwrap() error { return e.Mistake }

// versionOf gives the version of the format that data has, if this program reads it.
func versionOf(data []byte, filename string) (int, error) {
	var head struct {
		Schema jsontext.Value `json:"schema"`
	}
	if err := jsonv2.Unmarshal(data, &head); err != nil {
		return 0, DecodingMistake(data, filename, err)
	}
	wrong := func(format string, args ...any) *Mistake {
		m := &Mistake{File: filename, Path: "schema", Message: fmt.Sprintf(format, args...)}
		LocateMistakes(data, []*Mistake{m})
		return m
	}
	n, err := strconv.Atoi(string(head.Schema))
	switch {
	case head.Schema == nil:
		return 0, wrong("is missing: this is not a record that reprise wrote")
	case err != nil || n < 1:
		return 0, wrong("%.20s is not the number of a version of the format", head.Schema)
	case n > Schema:
		return 0, &NewerError{wrong("the record has version %d of the format and this reprise knows %d: use a newer reprise", n, Schema)}
	case n < oldest:
		return 0, wrong("the record has version %d of the format, and this reprise reads none before %d: begin the run of the issue anew", n, oldest)
	}
	return n, nil
}

// olderSteps and olderCodes are the names that records of version 3 have for steps of
// decisions and for reason codes, and those of today.
var (
	olderSteps = map[string]string{"reject": "rollback", "resume": "run"}
	olderCodes = map[Code]Code{
		"no_trigger": NothingDone, "bot_denied": PermissionDenied, "fork_denied": PermissionDenied, "confused_deputy": PermissionDenied,
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

// SchemaCUE is the format as a CUE schema, for programs that read or check a
// metadata.json without this package: #Run is one. What no schema can say,
// such as that history only grows, is left to Run.Check and CheckNext.
//
//go:embed schema.cue
var SchemaCUE string

// Mistake is one mistake, in a record or in a pipeline.
type Mistake struct {
	File    string `json:"file,omitempty"`   // as people know it; empty if there is no file
	Line    int    `json:"line,omitempty"`   // counts from 1; 0 if unknown
	Column  int    `json:"column,omitempty"` // in bytes, counts from 1
	Path    string `json:"path,omitempty"`   // such as "phases.design.status" or "attempts[2].n"; empty for the whole
	Message string `json:"message"`          // what is wrong
}

// Error gives "file:line:column: path: message", without what is unknown.
func (e Mistake) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(e.File)
		if e.Line > 0 {
			fmt.Fprintf(&b, ":%d:%d", e.Line, e.Column)
		}
		b.WriteString(": ")
	}
	if e.Path != "" {
		b.WriteString(e.Path + ": ")
	}
	b.WriteString(e.Message)
	return b.String()
}

// DecodingMistake says what a decoder found in data, in a person's words.
func DecodingMistake(data []byte, filename string, err error) *Mistake {
	var (
		syntax   *jsontext.SyntacticError
		semantic *jsonv2.SemanticError
		pointer  jsontext.Pointer
		offset   int64
		message  string
	)
	switch {
	case len(bytes.TrimSpace(data)) == 0:
		message = "it is empty"
	case errors.As(err, &syntax):
		pointer, offset, message = syntax.JSONPointer, syntax.ByteOffset, syntax.Err.Error()
		switch {
		case errors.Is(err, io.ErrUnexpectedEOF):
			message = "it ends in the middle: it was cut off"
		case errors.Is(err, jsontext.ErrDuplicateName):
			message = "the name occurs twice"
		}
	case errors.As(err, &semantic):
		pointer, offset = semantic.JSONPointer, semantic.ByteOffset
		message = named(semantic.JSONKind) + " does not fit here; " + wanted(semantic.GoType) + " is expected"
		if errors.Is(err, jsonv2.ErrUnknownName) {
			message = "unknown field: there is none of that name here"
		}
	default:
		message = err.Error()
	}
	line, column := positionIn(data, offset)
	return &Mistake{File: filename, Line: line, Column: column, Path: dotted(pointer), Message: message}
}

// named is a kind of JSON value in words.
func named(kind jsontext.Kind) string {
	return cmp.Or(map[jsontext.Kind]string{
		jsontext.KindNull: "null", jsontext.KindFalse: "true or false", jsontext.KindTrue: "true or false",
		jsontext.KindString: "text", jsontext.KindNumber: "a number", jsontext.KindBeginArray: "a list",
	}[kind], "an object")
}

// wanted names the JSON that a Go type is read from: that of its zero value.
func wanted(t reflect.Type) string {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == nil:
		return "something else"
	case t.PkgPath() == "time":
		return "a time such as 2026-01-31T12:00:00Z"
	case t.Kind() == reflect.Int, t.Kind() == reflect.Int64:
		return "a whole number"
	}
	data, err := jsonv2.Marshal(reflect.Zero(t).Interface())
	if err != nil || len(data) == 0 {
		return "something else"
	}
	return named(jsontext.Kind(data[0]))
}

// positionIn gives the line and the column of a byte, both from 1.
func positionIn(data []byte, offset int64) (line, column int) {
	before := data[:min(max(offset, 0), int64(len(data)))]
	return bytes.Count(before, []byte("\n")) + 1, len(before) - bytes.LastIndexByte(before, '\n')
}

// LocateMistakes fills the lines and columns of mistakes in data by their paths.
func LocateMistakes(data []byte, mistakes []*Mistake) {
	places := map[string]int64{}
	for _, m := range mistakes {
		for path := m.Path; path != ""; path = parent(path) {
			places[path] = -1
		}
	}
	dec := jsontext.NewDecoder(bytes.NewBuffer(data))
	for {
		start := dec.InputOffset()
		kind := dec.PeekKind()
		if dec.StackDepth() > deepestField && (kind == jsontext.KindBeginObject || kind == jsontext.KindBeginArray) {
			if dec.SkipValue() != nil {
				break
			}
			continue
		}
		if _, err := dec.ReadToken(); err != nil {
			break
		}
		path := dotted(dec.StackPointer())
		if place, ok := places[path]; ok && place < 0 {
			places[path] = start + int64(len(data[start:])-len(bytes.TrimLeft(data[start:], " \t\r\n,:")))
		}
	}
	for _, m := range mistakes {
		path := m.Path
		for path != "" && places[path] < 0 {
			path = parent(path)
		}
		m.Line, m.Column = positionIn(data, places[path])
	}
}

// deepestField is more than the depth of any field of Run.
const deepestField = 8

// parent gives the path of what contains a path, "" for the whole.
func parent(path string) string {
	return path[:max(strings.LastIndexAny(path, ".["), 0)]
}

// mostPath is how many bytes of a path people are told, as it may be as long as its file.
const mostPath = 200

// dotted turns a JSON pointer into the path that people read.
func dotted(p jsontext.Pointer) string {
	var b strings.Builder
	for token := range p.Tokens() {
		if b.Len()+len(token) > mostPath {
			return b.String() + "…"
		}
		switch {
		case token != "" && strings.Trim(token, "0123456789") == "":
			b.WriteString("[" + token + "]")
		case b.Len() > 0:
			b.WriteString("." + token)
		default:
			b.WriteString(token)
		}
	}
	return b.String()
}

// JoinMistakes makes one error of all mistakes, nil of none.
func JoinMistakes(mistakes []*Mistake) error {
	errs := make([]error, len(mistakes))
	for i, m := range mistakes {
		errs[i] = m
	}
	return errors.Join(errs...)
}

// ParseAnswer reads JSON that an agent has answered. Fields that are not known are refused, and those that an object has twice:
// nobody can tell which counts.
func ParseAnswer(data []byte, into any) error {
	if err := jsonv2.Unmarshal(data, into, jsonv2.RejectUnknownMembers(true), jsontext.AllowInvalidUTF8(true)); err != nil {
		return DecodingMistake(data, "the answer", err)
	}
	return nil
}

package metadata

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

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
		semantic *json.SemanticError
		pointer  jsontext.Pointer
		offset   int64
		message  string
	)
	switch {
	case len(bytes.TrimSpace(data)) == 0:
		message = "the file is empty"
	case errors.As(err, &syntax):
		pointer, offset, message = syntax.JSONPointer, syntax.ByteOffset, syntax.Err.Error()
		switch {
		case errors.Is(err, io.ErrUnexpectedEOF):
			message = "the file ends in the middle: it was cut off"
		case errors.Is(err, jsontext.ErrDuplicateName):
			message = "the name occurs twice"
		}
	case errors.As(err, &semantic):
		pointer, offset = semantic.JSONPointer, semantic.ByteOffset
		message = found(semantic.JSONKind) + " does not fit here; " + wanted(semantic.GoType) + " is expected"
		if errors.Is(err, json.ErrUnknownName) {
			message = "unknown field: metadata.json has none of that name here"
		}
	default:
		message = err.Error()
	}
	line, column := positionIn(data, offset)
	return &Mistake{File: filename, Line: line, Column: column, Path: dotted(pointer), Message: message}
}

// found names a kind of JSON value.
func found(kind jsontext.Kind) string {
	return cmp.Or(map[jsontext.Kind]string{
		jsontext.KindNull: "null", jsontext.KindFalse: "true or false", jsontext.KindTrue: "true or false",
		jsontext.KindString: "this text", jsontext.KindNumber: "this number", jsontext.KindBeginArray: "a list",
	}[kind], "an object")
}

// wanted names the JSON that a Go type is read from.
func wanted(t reflect.Type) string {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch {
	case t == nil:
		return "something else"
	case t.PkgPath() == "time":
		return "a time such as 2026-01-31T12:00:00Z"
	}
	return cmp.Or(map[reflect.Kind]string{
		reflect.Bool: "true or false", reflect.String: "text", reflect.Int: "a whole number", reflect.Int64: "a whole number",
		reflect.Float64: "a number", reflect.Slice: "a list",
	}[t.Kind()], "an object")
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

// NotOneOf says of a word that it is none of the valid ones.
func NotOneOf[T ~string](word T, valid ...T) string {
	words := make([]string, len(valid))
	for i, w := range valid {
		words[i] = string(w)
	}
	return fmt.Sprintf("%.80q is not one of %s", string(word), strings.Join(words, ", "))
}

package eval

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"cuelang.org/go/cue"
	"cuelang.org/go/encoding/json"

	"github.com/reprise-ci/reprise/pipelines/source"
)

// unmet says, sorted, what keeps the facts, a JSON object, from being among the values that the CUE text
// describes.
func unmet(text string, facts []byte) ([]string, error) {
	ctx := source.NewContext()
	want := ctx.CompileString(text, cue.Filename("expect"))
	expr, err := json.Extract("facts", facts)
	if err := errors.Join(want.Validate(), err); err != nil {
		return nil, err
	}
	found := misses(want, ctx.BuildExpr(expr), "")
	slices.Sort(found)
	return found, nil
}

// misses goes down as far as both have fields, so that each miss is one of its own.
func misses(want, got cue.Value, path string) (found []string) {
	if want.Subsume(got, cue.Final()) == nil {
		return nil
	}
	whole := fmt.Sprintf("%sgot %s, expected %s", prefixed(path), written(got), written(want))
	fields, err := want.Fields()
	if err != nil || got.IncompleteKind() != cue.StructKind {
		return []string{whole}
	}
	for fields.Next() {
		at := fieldPath(path, fields.Selector().Unquoted())
		if there := got.LookupPath(cue.MakePath(cue.Str(fields.Selector().Unquoted()))); there.Exists() {
			found = append(found, misses(fields.Value(), there, at)...)
		} else {
			found = append(found, fmt.Sprintf("%sthere is none, expected %s", prefixed(at), written(fields.Value())))
		}
	}
	if len(found) == 0 { // what fields demand of each other
		found = []string{whole}
	}
	return found
}

// fieldPath is the path of a field.
func fieldPath(path, name string) string {
	if strings.ContainsFunc(name, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		return path + "[" + strconv.Quote(name) + "]"
	}
	if path == "" {
		return name
	}
	return path + "." + name
}

func prefixed(path string) string {
	if path == "" {
		return ""
	}
	return path + ": "
}

// written is a value on one line.
func written(v cue.Value) string {
	return strings.Join(strings.FieldsFunc(fmt.Sprint(v), func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }), " ")
}

package prompts

import (
	"encoding/base32"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/prompts/clean"
)

// minBoundary is the least length of a boundary that cannot be guessed.
const minBoundary = 16

// NewBoundary draws a boundary of 80 bits that occurs in none of the texts, usually Data.Texts. It is "",
// which Render refuses, if rand fails.
func NewBoundary(rand io.Reader, texts ...string) string {
	// One draw collides by chance never; a few more tell bad luck from a
	// broken source.
	for range 8 {
		var b [10]byte
		if _, err := io.ReadFull(rand, b[:]); err != nil {
			return ""
		}
		if boundary := strings.ToLower(base32.StdEncoding.EncodeToString(b[:])); !anyContains(texts, boundary) {
			return boundary
		}
	}
	return ""
}

// Texts returns every text of d: what a boundary must not occur in.
func (d Data) Texts() []string {
	d.Boundary = ""
	var texts []string
	changed(d, func(text string) string {
		texts = append(texts, text)
		return text
	})
	return texts
}

// shown is d with hidden characters shown wherever agents, their work or their
// checks have written, and how many there are.
func shown(d Data) (Data, int) {
	count := 0
	mark := func(text string) string {
		text, n := clean.Mark(text)
		count += n
		return text
	}
	d.Diff, d.State, d.Rollback, d.Feedback = mark(d.Diff), mark(d.State), changed(d.Rollback, mark), changed(d.Feedback, mark)
	return d, count
}

// changed gives a copy of a value in which every text is changed.
func changed[T any](v T, change func(string) string) T {
	return changedValue(reflect.ValueOf(v), change).Interface().(T)
}

func changedValue(v reflect.Value, change func(string) string) reflect.Value {
	out := reflect.New(v.Type()).Elem()
	out.Set(v)
	switch {
	case v.Kind() == reflect.String:
		out.SetString(change(v.String()))
	case v.Kind() == reflect.Pointer && !v.IsNil():
		out.Set(reflect.New(v.Type().Elem()))
		out.Elem().Set(changedValue(v.Elem(), change))
	case v.Kind() == reflect.Slice && !v.IsNil():
		out.Set(reflect.MakeSlice(v.Type(), v.Len(), v.Len()))
		for i := range v.Len() {
			out.Index(i).Set(changedValue(v.Index(i), change))
		}
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			out.Field(i).Set(changedValue(v.Field(i), change))
		}
	}
	return out
}

// checkBoundary says why d.Boundary does not protect d.
func checkBoundary(d Data) error {
	b := d.Boundary
	if len(b) < minBoundary || strings.Trim(b, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-") != "" {
		return fmt.Errorf("boundary %q: want %d or more letters, digits or hyphens, drawn at random; NewBoundary makes one", b, minBoundary)
	}
	if anyContains(d.Texts(), b) {
		return fmt.Errorf("boundary %q occurs in a text that it has to enclose; draw another with NewBoundary", b)
	}
	return nil
}

func anyContains(texts []string, s string) bool {
	return slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(t, s) })
}

// Package shape is how GitHub writes what there is: JSON objects made of a state, which
// nothing here changes.
package shape

import (
	"fmt"
	"strconv"
	"time"

	"github.com/reprise-ci/reprise/internal/github/githubtest/state"
)

// object is a JSON object.
type object = map[string]any

// Objects makes objects of a state, whose lock the caller holds.
type Objects struct {
	State *state.State
	API   string // where programs find what is there
	Web   string // where people do
}

// stamp is a time as GitHub writes it.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// At joins the parts of an address.
func At(base string, parts ...any) string {
	for _, p := range parts {
		base += "/" + fmt.Sprint(p)
	}
	return base
}

func text(n int64) string { return strconv.FormatInt(n, 10) }

func link(to string) object { return object{"href": to} }

// orNull is a text as GitHub sends it: an empty one is null.
func orNull(s string) any {
	if s == "" {
		return nil
	}
	return s
}

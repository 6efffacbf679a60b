package text

import (
	"fmt"
	"strings"
)

// Cause is a code with values. The zero value means no cause. The catalogues of
// reasons have their words under the same code; a test compares them.
type Cause struct {
	Code   string
	Values []any  // pairs of a name and a value: a Cause, or anything else by how it prints
	text   string // in English, with values in braces
}

// CauseOf gives a cause by its code and in English. The values follow in pairs of a
// name and a value.
func CauseOf(code, text string, pairs ...any) Cause { return Cause{code, pairs, text} }

// String says it in English.
func (c Cause) String() string {
	var pairs []string
	for i := 0; i+1 < len(c.Values); i += 2 {
		pairs = append(pairs, fmt.Sprintf("{%v}", c.Values[i]), fmt.Sprint(c.Values[i+1]))
	}
	return strings.NewReplacer(pairs...).Replace(c.text)
}

// Map gives the cause with every value that is a text changed.
func (c Cause) Map(change func(string) string) Cause {
	values := make([]any, len(c.Values))
	for i, v := range c.Values {
		switch v := v.(type) {
		case Cause:
			values[i] = v.Map(change)
		case string:
			values[i] = change(v)
		default:
			values[i] = v
		}
	}
	c.Values = values
	return c
}

// CauseError is an error with a cause.
type CauseError struct {
	Why Cause
	Err error // what it comes from; nil if the cause is all
}

// Error says why in English.
func (e *CauseError) Error() string { return e.Why.String() }

// Unwrap returns what it comes from.
func (e *CauseError) Unwrap() error { return e.Err }

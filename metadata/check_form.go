package metadata

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

// The most that one number of a record may be, so that the sum of all runs is a number, too.
const (
	mostAmount = 1e12
	mostCount  = 1_000_000_000_000_000
)

// fields checks the form of each field of a struct, by its type and by its tag "check": words
// with commas between. A text may be empty unless a word is "text", and so may a word of a
// closed list if the tag says "optional" or the field is left out when empty. Other words name what schema.cue has of the
// text, or "phase" and "attempt", which have to be there, or "new": no earlier one of the list has it. "-" is not checked. The tag "in" has the statuses in which
// the field is set: it has to be in those with a mark.
func (at place) fields(prefix string, v reflect.Value) {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name, option, _ := strings.Cut(f.Tag.Get("json"), ",")
		tag := f.Tag.Get("check")
		if option == "omitempty" {
			tag += ",optional"
		}
		if name == "-" { // the key of the struct: its mistakes are at the struct itself
			name = ""
		}
		if tag != "-" {
			at.form(prefix+name, v.Field(i), tag)
		}
		if in := f.Tag.Get("in"); in != "" {
			at.status(prefix+name, v, v.Field(i), strings.Split(in, ","))
		}
	}
}

// status checks that a field is set only in some statuses of what it is of, and in those with a mark always.
func (at place) status(field string, of, v reflect.Value, in []string) {
	status, word := of.FieldByName("Status"), strings.ToLower(of.Type().Name())
	now := status.String()
	switch needed := slices.Contains(in, now+"!"); {
	case NotOneOf(status.Type().Name(), now) != nil: // that is wrong already
	case v.IsZero() && needed:
		at.bad(field, "is missing, but the %s is %s", word, now)
	case !v.IsZero() && !needed && !slices.Contains(in, now):
		at.bad(field, "is set, but the %s is %s", word, now)
	}
}

// form checks one value, and all that it leads to.
func (at place) form(field string, v reflect.Value, tag string) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			at.form(field, v.Elem(), tag)
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return // JSON of an agent
		}
		for i := range v.Len() {
			element := place{at.c, at.full(field), i}
			if p, is := v.Index(i).Addr().Interface().(*Phase); is {
				element = at.c.phasePlace(p)
			}
			element.form("", v.Index(i), strings.TrimSuffix(tag, ",optional"))
		}
	case reflect.Struct:
		if t, is := v.Addr().Interface().(*time.Time); is {
			at.time(field, *t)
			return
		}
		if field != "" {
			field += "."
		}
		at.fields(field, v)
	case reflect.Int, reflect.Int64:
		at.count(field, v.Int(), tag)
	case reflect.Float64:
		if n := v.Float(); !(n >= 0 && n <= mostAmount) { // not n < 0, which NaN is not
			at.bad(field, "%v is not an amount", n)
		}
	case reflect.String:
		at.text(field, v, strings.Split(tag, ","))
	}
}

func (at place) time(field string, t time.Time) {
	switch {
	case t.IsZero():
		at.bad(field, "is missing")
	case t.Location() != time.UTC:
		at.bad(field, "%s is not in UTC", t.Format(time.RFC3339))
	case t.Year() < 1970 || t.Year() > 9999:
		at.bad(field, "the year %d cannot be", t.Year())
	}
}

func (at place) count(field string, n int64, tag string) {
	switch {
	case n < 0:
		at.bad(field, "%d is less than 0", n)
	case n > mostCount:
		at.bad(field, "%d is more than can be", n)
	case n == 0 && tag == "attempt,text":
		at.bad(field, "there is no attempt 0")
	case strings.HasPrefix(tag, "attempt") && n > int64(at.c.attempts):
		at.bad(field, "%d is more than the %d attempts there are", n, at.c.attempts)
	}
}

func (at place) text(field string, v reflect.Value, words []string) {
	text := v.String()
	list := words[0]
	if wordsOf(list) == nil {
		list = v.Type().Name()
	}
	switch {
	case wordsOf(list) != nil && (text != "" || !slices.Contains(words, "optional")):
		at.must(field, NotOneOf(list, text))
	case strings.TrimSpace(text) == "" && words[0] == "text":
		at.bad(field, "is missing")
	case text == "":
	default:
		for _, word := range words {
			switch key := at.prefix + " " + text; {
			case word == "phase" && !at.c.phases[text]:
				at.bad(field, "there is no phase %q", text)
			case word == "new" && at.c.seen[key]:
				at.bad(field, "%q is that of an earlier one", text)
			case word == "new":
				at.c.seen[key] = true
			}
			at.must(field, fit(word, text))
		}
	}
}

// checker collects what is wrong with one record.
type checker struct {
	mistakes []*Mistake
	phases   map[string]bool // the names there are
	seen     map[string]bool // values that are new in their list, behind its path
	attempts int             // how many there are
}

// place is where in the record a check looks.
type place struct {
	c      *checker
	prefix string
	index  int // of the element of a list, or -1
}

func (c *checker) root() place { return place{c, "", -1} }

func (c *checker) element(list string, i int) place { return place{c, list, i} }

func (c *checker) phasePlace(p *Phase) place { return place{c, "phases." + p.Name, -1} }

// mostMistakes is how many mistakes are worth telling.
const mostMistakes = 50

func (at place) bad(field, format string, args ...any) {
	if len(at.c.mistakes) < mostMistakes {
		at.c.mistakes = append(at.c.mistakes, &Mistake{Path: at.full(field), Message: fmt.Sprintf(format, args...)})
	}
}

// full is the path of a field; of none, that of the place.
func (at place) full(field string) string {
	path := at.prefix
	if at.index >= 0 {
		path = fmt.Sprintf("%s[%d]", path, at.index)
	}
	if path != "" && field != "" {
		path += "."
	}
	return path + field
}

func (at place) must(field string, err error) {
	if err != nil {
		at.bad(field, "%v", err)
	}
}

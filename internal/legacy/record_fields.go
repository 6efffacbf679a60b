package legacy

import (
	"fmt"
	"maps"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/metadata"
)

// mostMistakes is how many mistakes are worth telling.
const mostMistakes = 50

// olderFile collects what is wrong with a file of the older system, and what
// of it is not taken over.
type olderFile struct{ mistakes, dropped []*metadata.Mistake }

// olderObject is an object of such a file. Each field is taken out as it is
// read, so that what nobody asked for is left.
type olderObject struct {
	file   *olderFile
	prefix string // its own path, and a dot
	fields map[string]any
}

func (o *olderObject) bad(field, format string, args ...any) {
	if len(o.file.mistakes) < mostMistakes {
		o.file.mistakes = append(o.file.mistakes, &metadata.Mistake{Path: o.prefix + field, Message: fmt.Sprintf(format, args...)})
	}
}

func (o *olderObject) must(field string, err error) {
	if err != nil {
		o.bad(field, "%v", err)
	}
}

func (o *olderObject) drop(field, why string) {
	o.file.dropped = append(o.file.dropped, &metadata.Mistake{Path: o.prefix + field, Message: why})
}

// take gives a field, nil if it is missing or null.
func (o *olderObject) take(field string) any {
	v := o.fields[field]
	delete(o.fields, field)
	return v
}

// names lists the fields that are left, in the order of their names.
func (o *olderObject) names() []string { return slices.Sorted(maps.Keys(o.fields)) }

// dropUnread drops what nobody has read. What is empty loses nothing.
func (o *olderObject) dropUnread() {
	for _, name := range o.names() {
		switch v := o.take(name).(type) {
		case nil:
			continue
		case string:
			if v == "" {
				continue
			}
		case []any:
			if len(v) == 0 {
				continue
			}
		case map[string]any:
			if len(v) == 0 {
				continue
			}
		}
		o.drop(name, "a record of reprise has no such field")
	}
}

// text reads text; a number is taken as it would be written.
func (o *olderObject) text(field string) string {
	switch v := o.take(field).(type) {
	case nil:
		return ""
	case string:
		return strings.TrimSpace(v)
	case float64:
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	o.bad(field, "is no text")
	return ""
}

// amount reads a number that is not negative; text that is one counts, too.
func (o *olderObject) amount(field string) float64 {
	n := 0.0
	switch v := o.take(field).(type) {
	case nil:
		return 0
	case float64:
		n = v
	case string:
		if v = strings.TrimSpace(v); v == "" {
			return 0
		}
		var err error
		if n, err = strconv.ParseFloat(v, 64); err != nil {
			o.bad(field, "%.40q is not a number", v)
			return 0
		}
	default:
		o.bad(field, "is not a number")
		return 0
	}
	if !(n >= 0) || math.IsInf(n, 1) {
		o.bad(field, "%v is not an amount", n)
		return 0
	}
	return n
}

// count reads a whole number that is not negative.
func (o *olderObject) count(field string) int64 {
	n := o.amount(field)
	if n != math.Trunc(n) || n > 1<<53 {
		o.bad(field, "%v is not a whole number of a size that can be", n)
		return 0
	}
	return int64(n)
}

// time reads a time; one without a zone is in UTC.
func (o *olderObject) time(field string) *time.Time {
	v := o.take(field)
	text, isText := v.(string)
	if v == nil || isText && strings.TrimSpace(text) == "" {
		return nil
	}
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05"} {
		if t, err := time.Parse(layout, strings.TrimSpace(text)); err == nil && t.Year() >= 1970 {
			t = t.UTC()
			return &t
		}
	}
	o.bad(field, "is no time such as 2026-01-31T12:00:00Z")
	return nil
}

// link reads a link and takes credentials out of it. One that cannot be kept
// is dropped: a run does without it.
func (o *olderObject) link(field string) string {
	text := o.text(field)
	if text == "" || metadata.CheckURL(text) == nil {
		return text
	}
	u, err := url.Parse(text)
	if err == nil {
		if u.User = nil; metadata.CheckURL(u.String()) != nil {
			u.RawQuery = "" // where else a credential can be
		}
	}
	if err != nil || metadata.CheckURL(u.String()) != nil {
		o.drop(field, "is not a link that can be kept")
		return ""
	}
	o.drop(field, "had credentials, which were taken out")
	return u.String()
}

// path reads a path from the top of the repository. One that cannot be kept is
// dropped.
func (o *olderObject) path(field string) string {
	p := olderPath(o.text(field))
	if p != "" && metadata.CheckPath(p) != nil {
		o.drop(field, "is no path within the repository")
		return ""
	}
	return p
}

// word reads a word in whatever way it is spelt, such as "In-Progress".
func (o *olderObject) word(field string) string { return plainWord(o.text(field)) }

// choice reads one of the valid words, or gives what is meant where there is
// none.
func choice[T ~string](o *olderObject, field string, none T, valid ...T) T {
	v := T(o.word(field))
	if v == "" {
		return none
	}
	if !slices.Contains(valid, v) {
		o.bad(field, "%s", metadata.NotOneOf(v, valid...))
	}
	return v
}

// object reads an object, nil if there is none.
func (o *olderObject) object(field string) *olderObject {
	switch v := o.take(field).(type) {
	case nil:
	case map[string]any:
		return &olderObject{o.file, o.prefix + field + ".", v}
	default:
		o.bad(field, "is no object")
	}
	return nil
}

// list reads a list as an object with the places as names, for its elements
// to be read like fields.
func (o *olderObject) list(field string) (list *olderObject, length int) {
	switch v := o.take(field).(type) {
	case nil:
	case []any:
		list = &olderObject{o.file, o.prefix + field, map[string]any{}}
		for i, e := range v {
			list.fields["["+strconv.Itoa(i)+"]"] = e
		}
		return list, len(v)
	default:
		o.bad(field, "is no list")
	}
	return nil, 0
}

func element(i int) string { return "[" + strconv.Itoa(i) + "]" }

func plainWord(s string) string {
	return strings.NewReplacer("-", "_", " ", "_").Replace(strings.ToLower(s))
}

// phaseName gives the name of a phase as reprise spells it: "03_Test-Scenario"
// is test_scenario.
func phaseName(s string) string {
	s = plainWord(s)
	if number, rest, ok := strings.Cut(s, "_"); ok && number != "" && strings.Trim(number, "0123456789") == "" {
		return rest
	}
	return s
}

// olderPath cuts off where on its machine an older run lay.
func olderPath(p string) string {
	p = strings.ReplaceAll(p, `\`, "/")
	if i := strings.LastIndex(p, "/"+OlderFolder+"/"); i >= 0 {
		return p[i+1:]
	}
	return p
}

// OlderFolder is the folder in which the older system kept its runs, from the
// top of the repository.
const OlderFolder = ".ai-workflow"

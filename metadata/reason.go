package metadata

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Reason says why something is so: a code with values, which is put into words
// where it is shown and in the language that is spoken there; or what somebody
// said in words of their own; or several of these. In the record it is an
// object or, for words, a string, which is all that records of earlier versions
// have. The zero value is none. Two reasons that are equal say the same.
//
// It holds its JSON; words do so only where they would read as JSON.
type Reason string

// Because gives a reason by its code. The values follow in pairs of a name and
// a value: a number, a list of texts, another reason, or anything else by how
// it prints. A test holds every call against the words that there are.
func Because(code string, pairs ...any) Reason {
	var b strings.Builder
	fmt.Fprintf(&b, `{"code":%s`, encoded(code))
	for i := 0; i+1 < len(pairs); i += 2 {
		before := `,`
		if i == 0 {
			before = `,"args":{`
		}
		fmt.Fprintf(&b, "%s%s:%s", before, encoded(pairs[i]), encoded(pairs[i+1]))
	}
	if len(pairs) > 1 {
		b.WriteByte('}')
	}
	b.WriteByte('}')
	return Reason(compact(json.RawMessage(b.String())))
}

// Said gives a reason in somebody's own words, which are shown as they are.
func Said(words string) Reason {
	if words != "" && strings.IndexByte(`{"`, words[0]) >= 0 {
		return Reason(encoded(words))
	}
	return Reason(words)
}

// All gives all of some reasons as one. Those that are none are left out.
func All(reasons ...Reason) Reason {
	var each []Reason
	for _, r := range reasons {
		each = append(each, r.Each()...)
	}
	switch len(each) {
	case 0:
		return ""
	case 1:
		return each[0]
	}
	return Reason(fmt.Sprintf(`{"all":%s}`, encoded(each)))
}

// encoded is a value as JSON.
func encoded(v any) string {
	switch v.(type) {
	case Reason, []Reason, []string, int, int64:
	default:
		v = strings.ToValidUTF8(fmt.Sprint(v), "\uFFFD")
	}
	data, err := json.Marshal(v)
	if err != nil {
		return "null" // unreachable: these always encode
	}
	return string(compact(data))
}

// parts is a reason as an object.
type parts struct {
	Code string                     `json:"code"`
	Args map[string]json.RawMessage `json:"args"`
	All  []Reason                   `json:"all"`
}

// read gives the object of a reason, or its words.
func (r Reason) read() (p parts, said string) {
	switch {
	case strings.HasPrefix(string(r), `{`) && json.Unmarshal([]byte(r), &p) == nil && (p.Code == "") != (p.All == nil):
		return p, ""
	case strings.HasPrefix(string(r), `"`) && json.Unmarshal([]byte(r), &said) == nil:
		return parts{}, said
	}
	return parts{}, string(r)
}

// Each gives the reasons of which one consists.
func (r Reason) Each() []Reason {
	p, _ := r.read()
	switch {
	case r == "":
		return nil
	case p.All == nil:
		return []Reason{r}
	}
	return p.All
}

// Code gives the code of a reason; "" if it has none, because it is words, or several.
func (r Reason) Code() string {
	p, _ := r.read()
	return p.Code
}

// Said gives the words of a reason that somebody said in words of their own; "" if it has a code, or is several.
func (r Reason) Said() string {
	_, said := r.read()
	return said
}

// Value gives a value of a reason as one: words where it is no reason itself.
func (r Reason) Value(name string) (v Reason) {
	p, _ := r.read()
	if json.Unmarshal(p.Args[name], &v) != nil {
		return Said(string(p.Args[name]))
	}
	return v
}

// Words are those of a language.
type Words interface {
	// Reason says what a code means with its values. It can be asked for one that it does not know: of a newer version.
	Reason(code string, values map[string]string) string
	// List and Sentences put several into one line.
	List(items []string) string
	Sentences(all []string) string
}

// In puts a reason into words.
func (r Reason) In(w Words) string {
	p, said := r.read()
	switch {
	case p.All != nil:
		return w.Sentences(spoken(p.All, w))
	case p.Code == "":
		return said
	}
	values := map[string]string{}
	for name, v := range p.Args {
		var one Reason
		var several []Reason
		switch {
		case json.Unmarshal(v, &one) == nil:
			values[name] = one.In(w)
		case json.Unmarshal(v, &several) == nil:
			values[name] = w.List(spoken(several, w))
		default:
			values[name] = string(v)
		}
	}
	return w.Reason(p.Code, values)
}

func spoken(reasons []Reason, w Words) (out []string) {
	for _, r := range reasons {
		out = append(out, r.In(w))
	}
	return out
}

// MarshalJSON gives what the record has.
func (r Reason) MarshalJSON() ([]byte, error) {
	if p, said := r.read(); p.Code == "" && p.All == nil {
		return json.Marshal(strings.ToValidUTF8(said, "\uFFFD"))
	}
	return []byte(r), nil
}

// UnmarshalJSON takes what MarshalJSON gives, and what a newer version may.
func (r *Reason) UnmarshalJSON(data []byte) error {
	data = bytes.TrimSpace(data)
	var said string
	if json.Unmarshal(data, &said) == nil && !bytes.Equal(data, []byte("null")) {
		*r = Said(said)
		return nil
	}
	object := Reason(compact(bytes.Clone(data))) // it changes what it is given
	if p, _ := object.read(); p.Code == "" && p.All == nil {
		return fmt.Errorf("a reason is a text, or an object with code and args, or with all")
	}
	*r = object
	return nil
}

// compact takes out the spaces and needless escapes of valid JSON, so that a
// report reads the same however the file around it was indented.
func compact(report json.RawMessage) json.RawMessage {
	v := jsontext.Value(report)
	if v == nil || v.Format() != nil {
		return report // there is none; that it is no JSON is unreachable, the decoder has checked
	}
	return json.RawMessage(v)
}

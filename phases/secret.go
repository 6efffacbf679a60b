package phases

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// Secret is a value that must not be seen.
type Secret struct {
	Name  string // where it comes from, such as ANTHROPIC_API_KEY
	Value string
}

// minSecret is the least length of a value that is looked for: masking a
// shorter one would destroy every text.
const minSecret = 8

// secrets finds and masks known values in every form that tools print.
type secrets []Secret

// forms are the ways in which a value may stand in a text, longest first.
func (s Secret) forms() []string {
	if len(s.Value) < minSecret {
		return nil
	}
	quoted, err := json.Marshal(s.Value)
	if err != nil {
		quoted = []byte(`""`) // unreachable: a string always encodes
	}
	v := []byte(s.Value)
	all := []string{
		s.Value, strings.Trim(string(quoted), `"`), url.QueryEscape(s.Value), url.PathEscape(s.Value),
		base64.StdEncoding.EncodeToString(v), base64.URLEncoding.EncodeToString(v),
		base64.RawStdEncoding.EncodeToString(v), base64.RawURLEncoding.EncodeToString(v), hex.EncodeToString(v),
	}
	slices.SortFunc(all, func(a, b string) int { return len(b) - len(a) })
	return slices.Compact(all)
}

// mask replaces every known value in a text by its name.
func (all secrets) mask(text string) string {
	for _, s := range all {
		for _, f := range s.forms() {
			text = strings.ReplaceAll(text, f, "["+s.Name+"]")
		}
	}
	return text
}

// find gives the name of the first known value in data and the line it
// stands in, counting from 1; an empty name if there is none.
func (all secrets) find(data []byte) (name string, line int) {
	for _, s := range all {
		for _, f := range s.forms() {
			if i := bytes.Index(data, []byte(f)); i >= 0 {
				return s.Name, 1 + bytes.Count(data[:i], []byte("\n"))
			}
		}
	}
	return "", 0
}

package metadata

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"
)

// CheckID says what is wrong with the id of an issue or the name of a phase,
// nil if nothing is. Both become parts of paths and of branch names: a lower
// case letter or digit, then up to 63 of those, ".", "_" and "-".
func CheckID(id string) error {
	if id == "" {
		return errors.New("is missing")
	}
	for i, c := range id {
		letter := c >= 'a' && c <= 'z' || c >= '0' && c <= '9'
		if !letter && (i == 0 || !strings.ContainsRune("._-", c)) || i > 63 {
			return fmt.Errorf("%.80q is not a lower case letter or digit and up to 63 of those, '.', '_' and '-'", id)
		}
	}
	return nil
}

// CheckBranch says what is wrong with the name of a branch, nil if git takes
// it: the rules of git check-ref-format --branch. It is stricter in three
// things: "@", which can mean HEAD, at most 200 bytes, and UTF-8.
func CheckBranch(name string) error {
	switch {
	case name == "":
		return errors.New("is missing")
	case len(name) > 200:
		return fmt.Errorf("%.40q... has %d bytes, more than 200", name, len(name))
	case !utf8.ValidString(name):
		return fmt.Errorf("%q is not UTF-8", name)
	case name[0] == '-':
		return fmt.Errorf("%q begins with '-'", name)
	case name == "HEAD" || name == "@":
		return fmt.Errorf("%q has a meaning of its own in git", name)
	case strings.HasSuffix(name, "."):
		return fmt.Errorf("%q ends with '.'", name)
	}
	for _, bad := range []string{"..", "@{", " ", "~", "^", ":", "?", "*", "[", `\`} {
		if strings.Contains(name, bad) {
			return fmt.Errorf("%q contains %q, which git does not take", name, bad)
		}
	}
	if hasControl(name) {
		return fmt.Errorf("%q contains a control character", name)
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part[0] == '.' || strings.HasSuffix(part, ".lock") {
			return fmt.Errorf("%q has a part that is empty, begins with '.' or ends with \".lock\"", name)
		}
	}
	return nil
}

// CheckPath says what is wrong with a path from the top of the repository, nil
// if nothing is: relative, with slashes, clean, and not leading out.
func CheckPath(p string) error {
	switch {
	case p == "":
		return errors.New("is empty")
	case absolute(p):
		return fmt.Errorf("%q is absolute; a path from the top of the repository is expected", p)
	case strings.Contains(p, `\`):
		return fmt.Errorf("%q contains a backslash; paths are written with slashes", p)
	case hasControl(p):
		return fmt.Errorf("%q contains a control character", p)
	case p == ".." || strings.HasPrefix(p, "../"):
		return fmt.Errorf("%q leads out of the repository", p)
	case p == "." || path.Clean(p) != p:
		return fmt.Errorf("%q is not clean; %q is the same place", p, path.Clean(p))
	}
	return nil
}

// CheckURL says what is wrong with a link, nil if nothing is: http or https,
// with a host and without credentials. The error never repeats the link,
// because it may hold a secret.
func CheckURL(link string) error {
	_, rest, ok := strings.Cut(link, "://")
	if !ok || !strings.HasPrefix(link, "https://") && !strings.HasPrefix(link, "http://") {
		return errors.New("is not a link that begins with https:// or http://")
	}
	if hasControl(link) || strings.ContainsAny(link, " \\") {
		return errors.New("contains a space, a backslash or a control character")
	}
	host := rest
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		host = rest[:end]
	}
	switch {
	case host == "":
		return errors.New("is a link without a host")
	case strings.Contains(host, "@"):
		return errors.New("contains a user name or password; write the link without it")
	}
	_, query, _ := strings.Cut(rest, "?")
	query, _, _ = strings.Cut(query, "#")
	if name := credential(query); name != "" {
		return fmt.Errorf("contains a credential, %s; write the link without it", name)
	}
	return nil
}

// credential finds the name of a parameter that by its name holds a secret.
func credential(query string) string {
	for part := range strings.FieldsFuncSeq(query, func(c rune) bool { return c == '&' || c == ';' }) {
		name, _, _ := strings.Cut(part, "=")
		if plain, err := url.QueryUnescape(name); err == nil {
			name = plain
		}
		for _, word := range []string{"token", "secret", "password", "passwd", "api_key", "apikey", "signature"} {
			if strings.Contains(strings.ToLower(name), word) {
				return word
			}
		}
	}
	return ""
}

// absolute reports whether p is an absolute path on any system.
func absolute(p string) bool {
	drive := len(p) > 1 && p[1] == ':' && unicode.IsLetter(rune(p[0]))
	return drive || strings.HasPrefix(p, "/") || strings.HasPrefix(p, `\`)
}

func hasControl(s string) bool {
	return strings.ContainsFunc(s, func(c rune) bool { return c < 0x20 || c == 0x7f })
}

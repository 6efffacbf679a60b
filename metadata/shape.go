package metadata

import (
	"errors"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// CheckID says what is wrong with the id of an issue or the name of a phase, nil if nothing is.
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
// it: the rules of git check-ref-format --branch. It is stricter in four
// things: "@", which can mean HEAD, at most 200 bytes, UTF-8, and no control
// character beyond ASCII either.
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
// if nothing is: UTF-8, relative, with slashes, clean, not leading out, and not
// into what any file system takes for git's own folder.
func CheckPath(p string) error {
	if err := checkMention(p); err != nil {
		return err
	}
	for part := range strings.SplitSeq(p, "/") {
		if name := FoldName(part); name == ".git" || name == "git~1" {
			return fmt.Errorf("%q lies in a .git folder, which belongs to git", p)
		}
	}
	return nil
}

// checkMention says what is wrong with a path that a record only mentions, as CheckPath does: such a path may lie in
// a .git folder, and does in records that are older than that rule.
func checkMention(p string) error {
	switch {
	case p == "":
		return errors.New("is empty")
	case !utf8.ValidString(p):
		return fmt.Errorf("%q is not UTF-8", p)
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

// CheckNewPath says what is wrong with a path that did not exist before, nil if nothing is.
func CheckNewPath(p string) error {
	if err := CheckPath(p); err != nil {
		return err
	}
	for part := range strings.SplitSeq(p, "/") {
		switch name := FoldName(part); {
		case strings.TrimRight(part, ". ") != part:
			return fmt.Errorf("%q has a part that ends with a dot or a space, which Windows leaves out", p)
		case reserved(name):
			return fmt.Errorf("%q has a part that is the name of a device on Windows", p)
		}
	}
	return nil
}

// FoldName gives the name of a file or folder as the most forgiving file systems compare it: without case, without
// characters that do not show, and without what follows a colon or dots and spaces at the end.
func FoldName(name string) string {
	name = strings.Map(func(c rune) rune {
		if c >= 0x200c && c <= 0x200f || c >= 0x202a && c <= 0x202e || c >= 0x206a && c <= 0x206f || c == 0xfeff {
			return -1 // macOS leaves these out
		}
		return unicode.ToLower(c)
	}, name)
	if stream := strings.IndexByte(name, ':'); stream > 0 {
		name = name[:stream] // Windows opens a stream of the file before the colon
	}
	if short := strings.TrimRight(name, ". "); short != "" {
		name = short
	}
	return name
}

// reserved reports whether Windows opens a device by this folded name, whatever its ending.
func reserved(name string) bool {
	name, _, _ = strings.Cut(name, ".")
	name = strings.TrimRight(name, " ")
	if port, ok := strings.CutPrefix(name, "com"); ok && isPort(port) {
		return true
	}
	if port, ok := strings.CutPrefix(name, "lpt"); ok && isPort(port) {
		return true
	}
	return slices.Contains([]string{"con", "prn", "aux", "nul", "conin$", "conout$"}, name)
}

func isPort(s string) bool {
	return utf8.RuneCountInString(s) == 1 && strings.Contains("0123456789¹²³", s)
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
	case strings.ContainsAny(host, "\"'`<>(){}|^"):
		return errors.New("is a link whose host is no name of a machine")
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

// hasControl finds control characters, also those beyond ASCII, which some terminals obey.
func hasControl(s string) bool { return strings.ContainsFunc(s, unicode.IsControl) }

// checkRepository says what is wrong with the name of a repository, nil if nothing is: owner/name, as GitHub has it.
func checkRepository(name string) error {
	if owner, repo, ok := strings.Cut(name, "/"); !ok || !plainName(owner) || !plainName(repo) {
		return fmt.Errorf("%.200q is not of the form owner/name", name)
	}
	return nil
}

// plainName reports whether s can be the name of an owner or a repository.
func plainName(s string) bool {
	other := strings.ContainsFunc(s, func(c rune) bool {
		return !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("-_.", c))
	})
	return s != "" && !other && strings.Trim(s, ".") != "" && s[0] != '-'
}

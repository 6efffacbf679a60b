package metadata

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"
)

// definition is what schema.cue says of a text, or of the words of a list.
type definition struct {
	says       string // what a text is not that does not fit
	words      []string
	has, lacks []*regexp.Regexp
}

// definitions reads them, by their names.
var definitions = sync.OnceValue(func() map[string]definition {
	all := map[string]definition{}
	value := regexp.MustCompile(`([!=]~)?"((?:[^"\\]|\\.)*)"`)
	for _, m := range regexp.MustCompile(`(?m)^(?:// (.*)\n)?#(\w+): +([^{\n].*(?:\n\t.*)*)`).FindAllStringSubmatch(SchemaCUE, -1) {
		d := definition{says: m[1]}
		for _, v := range value.FindAllStringSubmatch(m[3], -1) {
			switch text, _ := strconv.Unquote(`"` + v[2] + `"`); v[1] {
			case "=~":
				d.has = append(d.has, regexp.MustCompile(text))
			case "!~":
				d.lacks = append(d.lacks, regexp.MustCompile(text))
			default:
				d.words = append(d.words, text)
			}
		}
		all[m[2]] = d
	}
	return all
})

// fit says what is wrong with a text that is to have a form, nil if nothing is, or there is no such form.
func fit(form, text string) error {
	d := definitions()[form]
	wrong := slices.ContainsFunc(d.has, func(re *regexp.Regexp) bool { return !re.MatchString(text) }) ||
		slices.ContainsFunc(d.lacks, func(re *regexp.Regexp) bool { return re.MatchString(text) })
	switch {
	case form == "file":
		return CheckPath(text)
	case text == "" && wrong:
		return errors.New("is missing")
	case form == "Link" && wrong: // it may hold a secret
		return errors.New("is not " + d.says)
	case form == "Link":
		return credential(text)
	case wrong || !utf8.ValidString(text) && (form == "Path" || form == "Branch") || form == "Branch" && len(text) > 200:
		return fmt.Errorf("%.200q is not %s", text, d.says)
	}
	return nil
}

// wordsOf are the words of a list of schema.cue, in their order.
func wordsOf(list string) []string {
	if d := definitions()[list]; d.has == nil && d.lacks == nil {
		return d.words
	}
	return nil
}

// NotOneOf says that a word is none of those of a list, nil if it is.
func NotOneOf(list, word string) error {
	if all := wordsOf(list); !slices.Contains(all, word) {
		return fmt.Errorf("%.80q is not one of %s", word, strings.Join(all, ", "))
	}
	return nil
}

// AgentSteps are the steps that an agent does, in their order. A run can be taken back to each.
func AgentSteps() []Step { return []Step{Execute, Review, Revise} }

// Roles are those that may be asked for an approval, each with the rights of the one before.
func Roles() []string { return wordsOf("Role") }

// Languages are those that a run may be in.
func Languages() []string { return wordsOf("Language") }

// CheckID says what is wrong with the id of an issue or the name of a phase, nil if nothing is.
func CheckID(id string) error { return fit("ID", id) }

// CheckBranch says what is wrong with the name of a branch, nil if git takes it: the rules of git check-ref-format
// --branch, but for "@", which can mean HEAD, names beyond 200 bytes or in no UTF-8, and control characters.
func CheckBranch(name string) error { return fit("Branch", name) }

// CheckPath says what is wrong with a path from the top of the repository, nil
// if nothing is: UTF-8, relative, with slashes, clean, not leading out, and not
// into what any file system takes for git's own folder.
func CheckPath(p string) error {
	if err := fit("Path", p); err != nil {
		return err
	}
	for part := range strings.SplitSeq(p, "/") {
		if name := FoldName(part); name == ".git" || name == "git~1" {
			return fmt.Errorf("%q lies in a .git folder, which belongs to git", p)
		}
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
		case reserved().MatchString(name), strings.ContainsAny(part, `<>"|?*`):
			return fmt.Errorf("%q has a part that is the name of a device on Windows, or has a character that no name has there", p)
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

// reserved matches the folded names by which Windows opens a device, whatever their ending.
var reserved = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³]) *(?:\.|$)`)
})

// CheckURL says what is wrong with a link, nil if nothing is: http or https,
// with a host and without credentials. The error never repeats the link,
// because it may hold a secret.
func CheckURL(link string) error { return fit("Link", link) }

// secretName matches a parameter of a link that by its name holds a secret.
var secretName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:^|[&;])[^=&;]*(token|secret|password|passwd|api_key|apikey|signature)`)
})

// credential says that a link has such a parameter.
func credential(link string) error {
	_, query, _ := strings.Cut(link, "?")
	query, _, _ = strings.Cut(query, "#")
	if plain, err := url.QueryUnescape(query); err == nil {
		query = plain
	}
	if m := secretName().FindStringSubmatch(query); m != nil {
		return fmt.Errorf("contains a credential, %s; write the link without it", strings.ToLower(m[1]))
	}
	return nil
}

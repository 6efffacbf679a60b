package clean

import (
	"cmp"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/text"
)

var (
	// What a line may begin with before its words: marks of lists and a box.
	lineLead    = text.Pattern(`^[ \t]*(?:(?:[-*+]|[0-9]{1,9}[.)])[ \t]+)*(?:\[[ xX]\][ \t]+)?`)
	namedTarget = text.Pattern(`^\[[^\]^][^\]]*\]:`)
	ownTarget   = text.Pattern(`^\[[A-Za-z0-9 ._-]+\]:[ \t]+([^\s()<>|\\"'` + "`" + `]+)[ \t]*$`)
	linkTarget  = text.Pattern(`^\]\(([^\s()<>|\\"'` + "`" + `]+)\)`)
	imageLink   = text.Pattern(`^!\[([^\[\]<>&@#|\\` + "`" + `]*)\]\(([^\s()<>|\\"'` + "`" + `]+)\)`)
	// ThreadPath matches the path of an issue, a pull request or a discussion. A
	// link to one leaves a trace there.
	ThreadPath = regexp.MustCompile(`(?i)(?:^|/)(?:issues|pulls?|discussions)/[0-9]`)
	special    = text.Pattern(`&(?:lt|gt|amp|quot|nbsp);|[&$]`)
	breakTag   = text.Pattern(`^<br ?/?>`)
	// What becomes a link by itself.
	addressed = text.Pattern(`(?i)://|^www\.`)
	// What GitHub takes into a link up to the next space, even the beginning of code, but for punctuation.
	alone = text.Pattern("^[.,;:!?)\\]}>\"'*_`]{0,100}(?:[ \\t]|$)")
	// Entities of HTML, such as &#46; for a dot, which GitHub replaces: the address that counts is another than this.
	entity = text.Pattern(`&.*;`)
)

// line sanitizes a line that is not in a block of code. In a table a bar ends
// a cell, even within code.
func (t sanitizer) line(line string, table bool) string {
	line = strings.TrimRight(line, " \t")
	lead := lineLead().FindString(line)
	s := lineSanitizer{sanitizer: t, rest: line[len(lead):], table: table, spans: spansOf(line[len(lead):])}
	s.whole = s.rest
	if m := ownTarget().FindStringSubmatch(s.rest); m != nil && leadsToPage(m[1]) {
		return expanded(lead) + s.rest
	}
	if namedTarget().MatchString(s.rest) || strings.HasPrefix(s.rest, "/") {
		s.out.WriteByte('\\')
		s.take(1)
	}
	for s.rest != "" {
		s.next()
	}
	return expanded(lead) + s.out.String()
}

func expanded(space string) string { return strings.ReplaceAll(space, "\t", "    ") }

// lineSanitizer sanitizes a line from left to right.
type lineSanitizer struct {
	sanitizer
	strict      bool // nothing is Markdown but inline code
	out         strings.Builder
	whole, rest string
	table       bool
	spans       map[int]int // where runs of backticks begin that begin code: where it ends
}

// take writes some bytes as they are.
func (s *lineSanitizer) take(n int) {
	s.out.WriteString(s.rest[:n])
	s.rest = s.rest[n:]
}

// replace writes something else in the place of some bytes.
func (s *lineSanitizer) replace(n int, text string) {
	s.out.WriteString(text)
	s.rest = s.rest[n:]
}

// next sanitizes the next piece of the line.
func (s *lineSanitizer) next() {
	switch c := s.rest[0]; {
	case c == '`':
		s.backticks()
	case s.strict && !inToken(c):
		s.plain(1)
	case c == '<' && s.table && breakTag().MatchString(s.rest) && strings.HasPrefix(s.whole, "|"):
		s.take(len(breakTag().FindString(s.rest)))
	case c == '<':
		s.replace(1, "&lt;")
	case c == '>':
		s.replace(1, "&gt;")
	case !s.strict && strings.HasPrefix(s.rest, "!["):
		if m := imageLink().FindStringSubmatch(s.rest); m != nil && s.shows(m[2]) {
			s.take(len(m[0]))
		} else {
			s.replace(1, `\!`)
		}
	case strings.HasPrefix(s.rest, "]("):
		if m := linkTarget().FindStringSubmatch(s.rest); m != nil && leadsToPage(m[1]) {
			s.take(len(m[0]))
		} else {
			s.replace(1, `\]`)
		}
	case c == '\\' && !escapes(s.rest):
		s.replace(1, `\\`)
	case c == '\\' && s.rest[1] == '`':
		s.replace(2, "&#96;")
	case c == '\\' && (s.rest[1] == '<' || s.rest[1] == '>'):
		s.rest = s.rest[1:]
	case c == '\\' && strings.IndexByte(separate, s.rest[1]) >= 0:
		s.take(2)
	case c == '\\': // before others it is text: without it they might come together to something
		s.replace(1, `\\`)
	case inToken(c):
		s.token()
	default:
		s.take(1)
	}
}

// separate are characters that mention and address nothing, so that a backslash before one may stay.
const separate = `"'()[]{}|*\_~+=!$`

// escapes reports whether a text begins with a backslash that takes the
// meaning from the character behind it.
func escapes(rest string) bool {
	return len(rest) > 1 && rest[0] == '\\' && strings.IndexByte("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", rest[1]) >= 0
}

// backticks keeps inline code, and makes text of backticks that are none.
func (s *lineSanitizer) backticks() {
	run := len(s.rest) - len(strings.TrimLeft(s.rest, "`"))
	end := s.spans[len(s.whole)-len(s.rest)]
	if end == 0 {
		s.replace(run, strings.Repeat("&#96;", run))
		return
	}
	n := end - (len(s.whole) - len(s.rest))
	content := s.rest[run : n-run]
	if s.table && strings.Contains(content, "|") {
		content = strings.ReplaceAll(content, `\|`, "|")
		if strings.Contains(content, `\`) {
			s.replace(run, strings.Repeat("&#96;", run)) // whether it ends the cell is not certain
			return
		}
		content = strings.ReplaceAll(content, "|", `\|`)
	}
	if strings.Contains(content, "<!--") {
		content = strings.ReplaceAll(content, "<!--", "<! --")
	}
	s.apart()
	s.replace(n, s.rest[:run]+content+s.rest[:run])
}

// apart keeps code from growing together with code before it.
func (s *lineSanitizer) apart() {
	if strings.HasSuffix(s.out.String(), "`") {
		s.out.WriteByte(' ')
	}
}

// token writes what may be an address, a name or a reference.
func (s *lineSanitizer) token() {
	n := 1
	for n < len(s.rest) && inToken(s.rest[n]) && !strings.HasPrefix(s.rest[n:], "![") {
		n++
	}
	token := s.rest[:n]
	trimmed := strings.TrimRight(token, ".,;:!?")
	switch {
	case !s.strict && addressed().MatchString(token) && leadsToPage(token) && alone().MatchString(s.rest[n:]):
		s.take(n)
	case addressed().MatchString(token) || Mentions(trimmed):
		s.code(token, trimmed)
	case s.strict:
		s.plain(n)
	default:
		s.replace(n, special().ReplaceAllStringFunc(token, func(found string) string {
			return cmp.Or(map[string]string{"&": "&amp;", "$": `\$`}[found], found)
		}))
	}
}

// code writes the beginning of a token as code, and the rest behind it.
func (s *lineSanitizer) code(token, begin string) {
	s.apart()
	s.replace(len(token), "`"+begin+"`"+token[len(begin):])
}

// leadsToPage reports whether an address leads to a page, not to an issue or a pull request, and is harmless
// as text.
func leadsToPage(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.User != nil {
		return false
	}
	scheme, rest, found := strings.Cut(strings.ToLower(address), "://")
	switch {
	case found && scheme != "https" && scheme != "http", !found && u.Scheme != "":
		return false
	case !found:
		rest = scheme
	}
	return !Mentions(strings.TrimPrefix(rest, "www.")) && !ThreadPath.MatchString(u.Path) && !ThreadPath.MatchString(address) &&
		!strings.Contains(address, "$") && !entity().MatchString(address)
}

// shows reports whether an image may be shown.
func (t sanitizer) shows(address string) bool {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" || u.User != nil || ThreadPath.MatchString(u.Path) || entity().MatchString(address) {
		return false
	}
	return slices.ContainsFunc(t.images, func(allowed string) bool {
		a, err := url.Parse(allowed)
		return err == nil && a.Scheme == u.Scheme && a.Host != "" && strings.EqualFold(a.Host, u.Host) &&
			strings.HasPrefix(path.Clean("/"+u.Path)+"/", strings.TrimSuffix(a.Path, "/")+"/")
	})
}

// spansOf finds the inline code of a line: where each begins, and where it
// ends. A run of backticks is closed by the next one of the same length.
func spansOf(line string) map[int]int {
	ends := map[int][]int{} // by length: the places behind the runs, in order
	for i := 0; i < len(line); i++ {
		if n := len(line[i:]) - len(strings.TrimLeft(line[i:], "`")); n > 0 {
			ends[n] = append(ends[n], i+n)
			i += n - 1
		}
	}
	spans := map[int]int{}
	for i := 0; i < len(line); i++ {
		if escapes(line[i:]) {
			i++
			continue
		}
		n := len(line[i:]) - len(strings.TrimLeft(line[i:], "`"))
		if n == 0 {
			continue
		}
		for len(ends[n]) > 0 && ends[n][0] <= i+n {
			ends[n] = ends[n][1:]
		}
		if len(ends[n]) == 0 || strings.TrimSpace(line[i+n:ends[n][0]-n]) == "" {
			i += n - 1
			continue
		}
		spans[i] = ends[n][0]
		i = ends[n][0] - 1
	}
	return spans
}

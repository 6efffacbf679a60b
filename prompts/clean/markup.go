package clean

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/reprise-ci/reprise/internal/text"
)

// maxHidden is how many characters of an alternative text or attribute may stay.
const maxHidden = 60

// long reports whether a hidden text is longer than may stay.
func long(text string) bool {
	return len(text) > maxHidden && utf8.RuneCountInString(text) > maxHidden
}

// margin matches the marks of lists and quotes before the text of a line.
const margin = `^[ \t>*+\-.)0-9]*`

var (
	comment    = regexp.MustCompile(`(?s)<!--(?:-?>|.*?--!?>)`)
	markupLine = regexp.MustCompile(`(?m)` + margin + `<`)
)

// comments removes comments of HTML. One that nothing closes is text, but hides the rest after a line that
// begins with markup.
func (d *draft) comments() {
	var edits []edit
	end := 0
	for _, m := range comment.FindAllStringIndex(d.open, -1) {
		end = m[1]
		edits = append(edits, edit{m[0], end, "", HTMLComment, d.src[m[0]:end]})
	}
	if m := markupLine.FindStringIndex(d.open); m != nil {
		from := max(end, m[1]-1)
		if at := strings.Index(d.open[from:], "<!--"); at >= 0 {
			edits = append(edits, edit{from + at, len(d.src), "", HTMLComment, d.src[from+at:]})
		}
	}
	d.apply(edits)
}

// replace makes an edit of every match. With gives it, by the groups of the match;
// a kind of "" leaves the text as it is.
func (d *draft) replace(re *regexp.Regexp, with func(group func(n int) string) (with string, kind kind, hidden string)) {
	var edits []edit
	for _, m := range re.FindAllStringSubmatchIndex(d.open, -1) {
		text, kind, hidden := with(func(n int) string {
			if m[2*n] < 0 {
				return ""
			}
			return d.src[m[2*n]:m[2*n+1]]
		})
		if kind != "" {
			edits = append(edits, edit{m[0], m[1], text, kind, hidden})
		}
	}
	d.apply(edits)
}

const colon = `(?::|&colon;|&#58;|&#[xX]3[aA];)`

var (
	script = regexp.MustCompile(`(?i)((?:\]:|[(<"'=])[ \t\n]*)(javascript|vbscript)` + colon + `([^ \t\n])`)
	data   = regexp.MustCompile(`(?i)((?:\]:|[(<"'=])[ \t\n]*)data` + colon + `[^ \t\n"'<>()` + "`" + `]+`)
	media  = regexp.MustCompile(`(?i)(^|[^a-z0-9+._\-])data` + colon + `[a-z]{1,31}/[^ \t\n"'<>()` + "`" + `]*`)
)

// addresses disarms addresses that carry their content with them, where an address is expected or a media
// type follows. The content of a data: address goes; a script stays readable.
func (d *draft) addresses() {
	d.replace(script, func(group func(int) string) (string, kind, string) {
		return group(1) + "removed-" + group(2) + ":" + group(3), dangerousURL, group(2) + ":"
	})
	for _, re := range []*regexp.Regexp{data, media} {
		d.replace(re, func(group func(int) string) (string, kind, string) {
			return group(1) + "removed-data-url", dangerousURL, strings.TrimPrefix(group(0), group(1))
		})
	}
}

// What links are made of. No line within a title or an alternative text is empty.
const (
	escaped  = `\\[^\n]`
	newLine  = `\n[ \t]*[^ \t\n"'()\[\]\\]`
	title    = `"(?:[^"\\\n]|` + escaped + `|` + newLine + `)*\n?"|'(?:[^'\\\n]|` + escaped + `|` + newLine + `)*\n?'|\((?:[^()\\\n]|` + escaped + `|` + newLine + `)*\n?\)`
	angled   = `<[^<>\n]*>`
	someDest = `[^ \t\n<][^ \t\n]*`
)

var (
	link       = text.Pattern(`\]\([ \t\n]*(?:(` + angled + `)(?:[ \t\n]+(` + title + `))?|(` + someDest + `)[ \t\n]+(` + title + `))[ \t\n]*\)`)
	definition = text.Pattern(`(?m)(` + margin + `\[)([^\^\[\]\\](?:[^\[\]\\\n]|` + escaped + `|` + newLine + `)*)\]:[ \t]*\n?[ \t]*(` + angled + `|` + someDest + `)(?:[ \t\n][ \t\n]*(` + title + `))?[ \t]*$`)
)

// targets removes titles, long alternative texts, destinations that are rather a
// sentence, and long labels of definitions, which may be comments in disguise.
func (d *draft) targets() {
	d.alternatives()
	d.replace(link(), func(group func(int) string) (string, kind, string) {
		dest, hidden := destination(group(1)+group(3), group(2)+group(4))
		if hidden == "" || group(3) != "" && !balanced(dest) {
			return "", "", ""
		}
		return "](" + dest + ")", hiddenText, hidden
	})
	d.replace(definition(), func(group func(int) string) (string, kind, string) {
		label := group(2)
		dest, hidden := destination(group(3), group(4))
		if hidden == "" && !long(label) {
			return "", "", ""
		}
		hidden = strings.TrimSpace(label + " " + hidden)
		if long(label) {
			label = "removed"
		}
		return group(1) + label + "]: " + dest, hiddenText, hidden
	})
}

// alternatives removes long alternative texts of images.
func (d *draft) alternatives() {
	var edits []edit
	var begun []int // the brackets that are open
	for i := 0; i < len(d.open); i++ {
		switch c := d.open[i]; {
		case c == '\\':
			i++
		case c == '\n' && strings.HasPrefix(d.open[i+1:], "\n"):
			begun = nil
		case c == '[':
			begun = append(begun, i+1)
		case c == ']' && len(begun) > 0:
			from := begun[len(begun)-1]
			begun = begun[:len(begun)-1]
			target := i+1 < len(d.open) && (d.open[i+1] == '(' || d.open[i+1] == '[')
			if target && from > 1 && d.open[from-2] == '!' && long(d.src[from:i]) {
				edits = append(edits, edit{from, i, "", hiddenText, d.src[from:i]})
			}
		}
	}
	d.apply(edits)
}

// balanced reports whether no bracket in an address closes the link that it is in.
func balanced(address string) bool {
	depth := 0
	for i := 0; i < len(address); i++ {
		switch address[i] {
		case '\\':
			i++
		case '(':
			depth++
		case ')':
			depth--
		}
		if depth < 0 {
			return false
		}
	}
	return true
}

// destination gives the destination of a link as it may stay, and what is hidden in
// it and in the title.
func destination(dest, title string) (kept, hidden string) {
	if strings.HasPrefix(dest, "<") && long(dest) && strings.Contains(dest, " ") {
		return "#", dest + title
	}
	return dest, strings.Trim(title, `"'()`)
}

const name = `[A-Za-z][A-Za-z0-9-]*`

var (
	// A tag, what a browser takes for one, and at the beginning of a line one that does not end: it hides the rest of its paragraph.
	tag = text.Pattern(`(?ms)(` + margin + `)?<(?:(` + name + `)((?:[\s/](?:=\s*"[^"]*"|=\s*'[^']*'|[^<>])*)?)>|(/` + name + `)([\s/][^>]*)?>|((?:\?|![A-Za-z\[]|/[^A-Za-z])[^>]*)>)` +
		`|(` + margin + `)<((?:[?/]|![A-Za-z\[]|` + name + `(?:[\s/]|\z)).*?)(?:\n\n|\z)`)
	address = text.Pattern(`(?i)[\s/]((?:href|src)\s*=\s*(?:"[^"\s]*"|'[^'\s]*'|[^\s"'<>=]+))`)
)

// tags removes long attributes and declarations. Something is left in their place,
// so that no removal brings the text around it together to something new.
func (d *draft) tags() {
	d.replace(tag(), func(group func(int) string) (string, kind, string) {
		before, hidden := group(1), group(2)+group(4)+" "+group(5)
		switch {
		case group(6) != "":
			return before + "<…>", hiddenText, group(6)
		case group(8) != "":
			if !long(group(8)) {
				return "", "", ""
			}
			return group(7) + "<…" + strings.TrimPrefix(group(0), group(7)+"<"+group(8)), hiddenText, group(8)
		case long(group(2) + group(4)):
			return before + "<…>", hiddenText, hidden
		case group(4) != "":
			if !long(strings.TrimSpace(group(5))) {
				return "", "", ""
			}
			return before + "<" + group(4) + ">", hiddenText, hidden
		}
		var kept strings.Builder
		for _, m := range address().FindAllStringSubmatch(group(3), -1) {
			kept.WriteString(" " + m[1])
		}
		more := strings.TrimSpace(address().ReplaceAllString(group(3), ""))
		if !long(more) {
			return "", "", ""
		}
		return before + "<" + group(2) + kept.String() + ">", hiddenText, group(2) + " " + more
	})
}

package clean

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark/ast"
	extended "github.com/yuin/goldmark/extension/ast"

	"github.com/reprise-ci/reprise/internal/text"
)

// cleanRunes removes characters that cannot be seen, and terminal escapes.
func cleanRunes(text string, r *recorder) string {
	if plain(text) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text))
	var prev rune // the last one kept
	for i := 0; i < len(text); {
		c, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case c >= ' ' && c < utf8.RuneSelf-1 || c == '\n' || c == '\t':
			b.WriteByte(text[i])
			prev = c
		case c == '\u2028' || c == '\u2029': // no ends of lines in Markdown
			b.WriteByte(' ')
			prev = ' '
		case c == '\r':
			if !strings.HasPrefix(text[i+size:], "\n") {
				b.WriteByte('\n')
			}
			prev = '\n'
		case c == utf8.RuneError && size == 1:
			r.add(Control, text[i:i+1])
			b.WriteRune(utf8.RuneError)
			prev = c
		default:
			kind, n := hidden(prev, c, text[i:], size)
			if kind == "" {
				b.WriteString(text[i : i+n])
				prev, _ = utf8.DecodeLastRuneInString(text[i : i+n])
			} else {
				r.add(kind, run(r, kind, prev, text[i:]))
			}
			size = n
		}
		i += size
	}
	return b.String()
}

// run returns the hidden characters of one kind at the start of text, as far
// as a sample needs them; if there is a sample already, nothing.
func run(r *recorder, kind kind, prev rune, text string) string {
	if r.has(kind) {
		return ""
	}
	end := 0
	for end < maxSample*utf8.UTFMax && end < len(text) {
		c, size := utf8.DecodeRuneInString(text[end:])
		k, n := hidden(prev, c, text[end:], size)
		if k != kind {
			break
		}
		end += n
	}
	return text[:end]
}

// plain reports whether text is printable ASCII, tabs and newlines.
func plain(text string) bool {
	for i := 0; i < len(text); i++ {
		if c := text[i]; c < ' ' && c != '\n' && c != '\t' || c >= utf8.RuneSelf-1 {
			return false
		}
	}
	return true
}

// hidden says of which kind the rune c at the start of rest is, or "" to keep
// it, and how many bytes that concerns. Prev is the rune kept before it.
func hidden(prev, c rune, rest string, size int) (kind, int) {
	next, _ := utf8.DecodeRuneInString(rest[size:])
	switch {
	case c == 0x1b || c == 0x9b:
		return ansi, size + escape(c, rest[size:])
	case c < ' ' || c >= 0x7f && c <= 0x9f:
		return Control, size
	case c == 0xad:
		return softHyphen, size
	case c == 0x200d && text.Emoji(next) && (text.Emoji(prev) || prev == 0xfe0f),
		text.Joiner(c) && (text.Joined(prev) && !text.Joiner(next) || text.Joined(next) && !text.Invisible(next) && !text.Joiner(prev)):
		return "", size // part of one emoji, or of a word in its script
	case c == 0x1f3f4:
		return "", size + len(flagTags().FindString(rest[size:]))
	case text.Tag(c):
		return Tag, size
	case unicode.Is(unicode.Variation_Selector, c):
		if selects(prev, c, next) {
			return "", size
		}
		return variationSelector, size
	case text.Reorders(c):
		return bidi, size
	case c >= 0xfff0 || c >= 0xfdd0 && c <= 0xfdef:
		if text.Invisible(c) { // what formats notes and music, what is not assigned, and what is no character
			return Control, size
		}
	case text.Invisible(c):
		return zeroWidth, size
	}
	return "", size
}

// What follows an escape character, and the control character that is one with a bracket: parameters and a final byte,
// or a string up to BEL or ESC \. Of a string that does not end it is the first character.
var (
	sequence = text.Pattern(`^[ -?]*[@-~]?`)
	command  = text.Pattern(`^(?:\[[ -?]*[@-~]?|[\]PX^_](?:[^\a\x1b\n]*(?:\a|\x1b\\))?)`)
)

// escape returns the length of what follows an escape character.
func escape(c rune, rest string) int {
	if c == 0x9b {
		return len(sequence().FindString(rest))
	}
	return len(command().FindString(rest))
}

// flagTags matches the tag characters that turn a black flag into that of England, Scotland or Wales.
var flagTags = text.Pattern(`^\x{E0067}\x{E0062}(?:\x{E0065}\x{E006E}\x{E0067}|\x{E0073}\x{E0063}\x{E0074}|\x{E0077}\x{E006C}\x{E0073})\x{E007F}`)

// selects reports whether a variation selector changes how an emoji, an ideograph or a Mongolian letter looks.
func selects(prev, c, next rune) bool {
	switch {
	case c == 0xfe0e || c == 0xfe0f:
		return text.Emoji(prev) || next == 0x20e3 && (prev >= '0' && prev <= '9' || prev == '#' || prev == '*')
	case c <= 0x180f:
		return unicode.Is(unicode.Mongolian, prev)
	case c <= 0xfe02 || c >= 0xe0100 && c <= 0xe011f:
		return unicode.Is(unicode.Han, prev)
	}
	return false
}

// row hides the cells of a row beyond those of its table's header. A line that is
// only taken into a list or quote from outside may be none of a table.
func (r *reading) row(n *extended.TableRow) {
	from := n.Pos()
	begin := strings.LastIndexByte(r.src[:from], '\n') + 1
	line, _, _ := strings.Cut(r.src[from:], "\n")
	margin := 0
	for p := n.Parent(); p != nil; p = p.Parent() {
		switch p := p.(type) {
		case *ast.ListItem:
			margin += p.Offset
		case *ast.Blockquote:
			margin++
		}
	}
	if from-begin < margin || strings.Contains(line, `\\|`) { // readers differ about such a bar
		return
	}
	at := len(line) - len(strings.TrimLeft(line, " \t|"))
	for range len(n.Alignments) {
		for at < len(line) && (line[at] != '|' || line[at-1] == '\\') {
			at++
		}
		at = min(at+1, len(line))
	}
	if strings.Trim(line[at:], " \t|") != "" {
		r.hide(from+at, from+len(line))
	}
}

// note is the definition of a footnote.
type note struct {
	from, to int
	label    string
}

// fold makes labels equal that differ in case only.
func fold(label string) string { return strings.ToLower(strings.ToUpper(label)) }

func (r *reading) note(n *extended.Footnote) {
	to := n.Pos()
	_ = ast.Walk(n, func(c ast.Node, entering bool) (ast.WalkStatus, error) { // the visits fail nowhere
		if entering && c.Type() == ast.TypeBlock {
			_, end := span(c)
			to = max(to, end)
		}
		return ast.WalkContinue, nil
	})
	if at := strings.IndexByte(r.src[to:], '\n'); at > 0 || to == n.Pos() { // its head alone, or the end of a block of code
		to += max(at, 0)
	}
	r.notes = append(r.notes, note{n.Pos(), to, fold(string(n.Ref))})
}

var reference = text.Pattern(`\\.|\[\^([^\[\]\n]+)\]`)

// footnotes hides the definitions that nothing outside of code refers to, but for their own heads.
func (r *reading) footnotes(open string) {
	heads, referred := map[int]bool{}, map[string]bool{}
	for _, n := range r.notes {
		heads[n.from] = true
	}
	for _, m := range reference().FindAllStringSubmatchIndex(open, -1) {
		if m[2] >= 0 && !heads[m[0]] {
			referred[fold(open[m[2]:m[3]])] = true
		}
	}
	for _, n := range r.notes {
		if referred[n.label] {
			continue
		}
		if n.from == 0 || r.src[n.from-1] == '\n' {
			n.to = min(n.to+1, len(r.src))
		}
		r.edits = append(r.edits, edit{n.from, n.to, "", hiddenText, r.src[n.from:n.to]})
	}
}

// What formulas are made of, and what they do not show: a phantom, and what stands behind a %.
var (
	dollars = text.Pattern("(?:^|[ \\t\\n(])(?:\\$\\$([^$`]+)\\$\\$|\\$`([^$`\\n]+)`\\$|\\$((?:[^$`\\n\\\\]|\\\\[^\\n])+)\\$)(?:$|[ \\t\\n).,:;?!])")
	phantom = text.Pattern(`\\[hv]?phantom\b`)
	remark  = text.Pattern(`(?:\\.|[^%\\\n])*(%[^\n]*)?\n?`)
)

// formulas hides what formulas between dollars in a part of the text do not show.
func (r *reading) formulas(open string, from, to int) {
	for from < to {
		m := dollars().FindStringSubmatchIndex(open[from:to])
		if m == nil {
			return
		}
		next := from + m[0] + 1
		for g := 2; g < len(m); g += 2 {
			if m[g] < 0 {
				continue
			}
			first, last := from+m[g], from+m[g+1]
			if g == 2 || strings.TrimSpace(open[first:last]) == open[first:last] {
				r.formula(first, last)
				next = last
			}
		}
		from = next
	}
}

// formula hides what a formula does not show: all of one with a phantom, and what stands behind
// a %. Lines stay as many as they were.
func (r *reading) formula(from, to int) {
	text := r.src[from:to]
	if phantom().MatchString(text) {
		r.edits = append(r.edits, edit{from, to, "removed" + strings.Repeat("\n", strings.Count(text, "\n")), hiddenText, text})
		return
	}
	for _, m := range remark().FindAllStringSubmatchIndex(text, -1) {
		if m[2] >= 0 {
			r.hide(from+m[2]+1, from+m[3])
		}
	}
}

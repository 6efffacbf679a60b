package main

import (
	"net/url"
	"path"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/reprise-ci/reprise/prompts"
)

// maxComment is the most that GitHub takes, in UTF-16 units.
const maxComment = 65_536

// inline makes text from outside neutral and fit for one line of at most so
// many characters before markup.
func inline(text string, limit int) string {
	return neutral(brief(strings.Join(strings.Fields(text), " "), limit))
}

// brief cuts a text to a number of characters. The result is not neutral.
func brief(text string, limit int) string {
	text = strings.TrimSpace(text)
	if len(text) <= limit || utf8.RuneCountInString(text) <= limit {
		return text
	}
	return strings.TrimSpace(string([]rune(text)[:limit])) + "…"
}

// code makes text from outside inline code. Backticks in it become quotes.
func code(text string) string {
	text, _ = prompts.CleanAll(text)
	text = strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "`", "'")
	if text == "" {
		return ""
	}
	return "`" + strings.ReplaceAll(text, "<!--", "<! --") + "`"
}

// fenced makes text from outside a block of code that it cannot end.
func fenced(text string) string {
	text, _ = prompts.CleanAll(text)
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "\n" + unlikeCommands(strings.ReplaceAll(text, "<!--", "<! --")) + "\n" + fence
}

var leadingSlash = regexp.MustCompile(`(?m)^/[A-Za-z]`)

// unlikeCommands moves the text of a block of code by one space if a line of it
// begins with a slash. GitHub shows the block as code; programs that look for
// commands at the beginning of lines often look there as well.
func unlikeCommands(text string) string {
	if leadingSlash.MatchString(text) {
		return indented(text, " ")
	}
	return text
}

// indented puts a prefix before every line, without space at its end.
func indented(text, prefix string) string {
	lines := strings.Split(text, "\n")
	for i, l := range lines {
		lines[i] = strings.TrimRight(prefix+l, " ")
	}
	return strings.Join(lines, "\n")
}

// item is an item of a list. The title is Markdown, the texts are from
// outside and become paragraphs of it.
func item(title string, texts ...string) string {
	out := "- " + title
	for _, t := range texts {
		if t = neutral(t); t != "" {
			out += "\n\n" + indented(t, "  ")
		}
	}
	return out
}

// quoted is a quote with a title, which is Markdown, and a text from outside.
func quoted(title, text string) string {
	return indented(title+"\n\n"+neutral(text), "> ")
}

// details is a part that can be opened. The summary is text of our own.
func details(summary, body string, open bool) string {
	tag := "<details>"
	if open {
		tag = "<details open>"
	}
	return tag + "\n<summary>" + summary + "</summary>\n\n" + body + "\n\n</details>"
}

// bold makes Markdown bold; nothing stays nothing, as **** would be a line.
func bold(text string) string {
	if text == "" {
		return ""
	}
	return "**" + text + "**"
}

// named is a fact with its name.
func named(name, value string) string {
	if value == "" {
		return ""
	}
	return "**" + name + "** " + value
}

func prefixedText(prefix, text string) string {
	if text == "" {
		return ""
	}
	return prefix + text
}

// link is a link with a text, which is Markdown; "" if the address is none
// for a browser.
func link(text, address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || text == "" {
		return ""
	}
	return "[" + text + "](" + strings.NewReplacer("(", "%28", ")", "%29", "<", "%3C", ">", "%3E").Replace(u.String()) + ")"
}

// fileURL is the address of a file of the repository; "" without a base.
func fileURL(base, file string) string {
	if base == "" {
		return ""
	}
	var parts []string
	for part := range strings.SplitSeq(path.Clean("/" + file)[1:], "/") {
		parts = append(parts, url.PathEscape(part))
	}
	return strings.TrimSuffix(base, "/") + "/" + strings.Join(parts, "/")
}

// lastOf is the last element of a path with slashes.
func lastOf(file string) string { return file[strings.LastIndexByte(file, '/')+1:] }

// capital begins a sentence.
func capital(text string) string {
	r, size := utf8.DecodeRuneInString(text)
	if size == 0 {
		return text
	}
	return string(unicode.ToUpper(r)) + text[size:]
}

// within joins as many of the lines as fit into a number of UTF-16 units, and
// says so if that is not all.
func (c commenter) within(limit int, lines []string) string {
	used := 0
	for i, l := range lines {
		if used += units(l) + 1; used > limit {
			return strings.Join(append(lines[:i:i], "", c.more.left(len(lines)-i)), "\n")
		}
	}
	return strings.Join(lines, "\n")
}

// fitting joins the blocks for which there is room, with a blank line between
// them, and says whether that is all. Empty ones are left out.
func fitting(blocks []string, room int) (text string, whole bool) {
	var out []string
	whole = true
	for _, b := range blocks {
		switch n := units(b) + len("\n\n"); {
		case b == "":
		case n > room:
			whole = false
		default:
			room -= n
			out = append(out, b)
		}
	}
	return strings.Join(out, "\n\n"), whole
}

// units counts UTF-16 units, which is what GitHub counts.
func units(text string) int {
	n := 0
	for _, r := range text {
		n += max(utf16.RuneLen(r), 1)
	}
	return n
}

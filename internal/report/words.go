package report

import (
	"net/url"
	"regexp"
	"strings"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

// words are what the page says in a language, and of a pipeline.
type words struct {
	prompts.Catalogue
	plan *pipelines.Pipeline
}

// phase is what people read in the place of the name of a phase.
func (w words) phase(name string) string {
	if name == "" {
		return ""
	}
	return line(view.TitleOf(w.plan, name), 60)
}

// line makes a text one line of at most so many cells.
func line(s string, most int) string { return text.Cut(text.Flat(s), most) }

// longest is how many characters of one text are shown: nobody reads more.
const longest = 4000

// paragraph keeps the lines of a text. The end of a very long one is cut off.
func paragraph(s string) string {
	if len(s) > longest {
		if r := []rune(s); len(r) > longest {
			s = string(r[:longest]) + "…"
		}
	}
	return text.Visible(s)
}

// ending is like paragraph, for what a program has printed: it keeps the end.
func ending(s string) string {
	if r := []rune(s); len(r) > longest {
		s = "…" + string(r[len(r)-longest:])
	}
	return text.Visible(s)
}

// link gives an address that a page may lead to, else "". No name of a host has quotes, brackets or
// parentheses, and the page would write those with a percent sign, which leads to another host.
func link(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || strings.ContainsAny(u.Host, `"'()<>`) {
		return ""
	}
	return u.String()
}

// onForge finds the owner, the repository and the number in the path of an issue's or a pull request's address.
var onForge = regexp.MustCompile(`^/([^/]+/[^/]+)/(?:issues|pull|pulls)/([0-9]+)$`)

// named is how people name an issue or a pull request: OWNER/NAME#NUMBER, or its whole address where that cannot be told.
func named(address string) string {
	if u, err := url.Parse(address); err == nil {
		if m := onForge.FindStringSubmatch(u.Path); m != nil {
			address = m[1] + "#" + m[2]
		}
	}
	return line(address, 200)
}

func (w words) status(s string) string { return w.word("statuses", s) }

// word gives the word for a key, or the key itself as people write it.
func (w words) word(kind, key string) string {
	return line(text.Words(w.Word(kind, key)), 60)
}

// class names the colour for how something stands.
func class(s string) string {
	switch s {
	case "completed", "succeeded", "pass", "fixed":
		return "good"
	case "failed", "fail", "error", "blocked", "blocker":
		return "bad"
	case "waiting", "pass_with_suggestions", "interrupted", "suggestion", "still_open", "cancelled":
		return "open"
	case "running", "in_progress", "started":
		return "busy"
	}
	return "none"
}

// lastLines gives the end of what a program has printed.
func lastLines(s string) string {
	var out string
	for _, l := range view.LastLines(s, view.FailureLines) {
		out += text.Visible(l) + "\n"
	}
	return out
}

package house_test

import (
	"fmt"
	"regexp"
	"strings"
)

// page is what the checks need to know of a Markdown document.
type page struct {
	anchors  map[string]bool
	links    []located // targets
	spans    []located // inline code
	commands []located // lines of shell that people would type
	problems []string
}

// located is a piece of a document and the line it starts on, from 1.
type located struct {
	line int
	text string
}

var (
	fenceLine   = regexp.MustCompile("^ *(```+|~~~+) *([^ `]*)")
	headingLine = regexp.MustCompile(`^#{1,6} +(.*?)[ #]*$`)
	codeSpan    = regexp.MustCompile("`+([^`]+)`+")
	link        = regexp.MustCompile(`\]\(<?([^)>\s]+)>?(?: "[^"]*")?\)|^\[[^\]]+\]: +(\S+)|(?:href|src|srcset)="([^"]+)"`)
	anchorTag   = regexp.MustCompile(`<a (?:id|name)="([^"]+)"`)
	homePath    = regexp.MustCompile(`(?:^|[^\w.~/-])/(?:home|root|work|Users)/`)
	notInSlug   = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// parse reads a document line by line. It knows as much Markdown as our own
// documents use.
func parse(text string) page {
	p := page{anchors: map[string]bool{}}
	fence, language, opened := "", "", 0
	for i, line := range strings.Split(text, "\n") {
		n := i + 1
		p.checkLine(n, line)
		m := fenceLine.FindStringSubmatch(line)
		switch {
		case fence == "" && m != nil:
			fence, language, opened = m[1], m[2], n
			if language == "" {
				p.problem(n, "the code fence names no language; text will do")
			}
		case fence != "" && m != nil && strings.HasPrefix(m[1], fence) && m[2] == "":
			fence = ""
		case fence != "":
			p.shell(n, language, line)
		default:
			p.prose(n, line)
		}
	}
	if fence != "" {
		p.problem(opened, "the code fence is never closed")
	}
	return p
}

func (p *page) problem(line int, format string, args ...any) {
	p.problems = append(p.problems, fmt.Sprintf("%d: %s", line, fmt.Sprintf(format, args...)))
}

func (p *page) checkLine(n int, line string) {
	if strings.TrimRight(line, " \t\r") != line {
		p.problem(n, "spaces at the end of the line")
	}
	if homePath.MatchString(line) {
		p.problem(n, "a path that exists on one machine only")
	}
}

// shell keeps what people would type. In a console only lines with a prompt
// are commands; the rest is output.
func (p *page) shell(n int, language, line string) {
	typed, prompted := strings.CutPrefix(strings.TrimSpace(line), "$ ")
	switch language {
	case "sh", "bash", "shell":
	case "console":
		if !prompted {
			return
		}
	default:
		return
	}
	p.commands = append(p.commands, located{n, typed})
}

// prose keeps headings, links and inline code.
func (p *page) prose(n int, line string) {
	if m := headingLine.FindStringSubmatch(line); m != nil {
		p.anchor(slug(m[1]))
	}
	for _, m := range anchorTag.FindAllStringSubmatch(line, -1) {
		p.anchors[m[1]] = true
	}
	for _, m := range codeSpan.FindAllStringSubmatch(line, -1) {
		p.spans = append(p.spans, located{n, strings.TrimSpace(m[1])})
	}
	for _, m := range link.FindAllStringSubmatch(codeSpan.ReplaceAllString(line, "code"), -1) {
		p.links = append(p.links, located{n, m[1] + m[2] + m[3]})
	}
}

// anchor adds the anchor of a heading. GitHub numbers headings that are
// called the same.
func (p *page) anchor(name string) {
	for i := 0; ; i++ {
		numbered := name
		if i > 0 {
			numbered = fmt.Sprintf("%s-%d", name, i)
		}
		if !p.anchors[numbered] {
			p.anchors[numbered] = true
			return
		}
	}
}

// slug is the anchor that GitHub gives to a heading.
func slug(heading string) string {
	heading = regexp.MustCompile(`\[([^\]]*)\]\([^)]*\)`).ReplaceAllString(heading, "$1")
	return strings.ReplaceAll(notInSlug.ReplaceAllString(strings.ToLower(heading), ""), " ", "-")
}

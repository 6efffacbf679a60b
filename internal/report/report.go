// Package report is the page of a run: one HTML file that shows what was done,
// what it found, what it cost and what a person can do next. It needs no script
// and loads nothing, so it can be kept, sent and opened anywhere.
//
// The package is pure: it gets the run as a value and reads nothing. All text of
// a run is from outside, and html/template escapes it by where it stands.
package report

import (
	"bufio"
	_ "embed"
	"html/template"
	"io"
	"strings"
)

//go:embed head.html
var headText string

//go:embed page.html
var pageText string

// Write writes the page, in the language of the run.
func Write(w io.Writer, f Facts) error {
	return write(w, pageText, newContent(f))
}

// write writes a page whose text begins with the head that all pages have.
func write(w io.Writer, text string, content any) error {
	page, err := template.New("page").Funcs(template.FuncMap{"words": func(command string) []string { return strings.Split(command, " ") }}).Parse(headText + text)
	if err != nil {
		return err
	}
	out := bufio.NewWriter(w)
	if err := page.Execute(out, content); err != nil {
		return err
	}
	return out.Flush()
}

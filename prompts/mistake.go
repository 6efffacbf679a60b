package prompts

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Mistake is what somebody got wrong in a template.
type Mistake struct {
	File    string // path from the folder of overrides
	Line    int    // counts from 1; 0 if it concerns the whole file
	Column  int    // in bytes, counts from 1; 0 if unknown
	Message string
}

// Error gives the mistake as file:line:column: message.
func (m Mistake) Error() string {
	switch {
	case m.Line == 0:
		return fmt.Sprintf("%s: %s", m.File, m.Message)
	case m.Column == 0:
		return fmt.Sprintf("%s:%d: %s", m.File, m.Line, m.Message)
	}
	return fmt.Sprintf("%s:%d:%d: %s", m.File, m.Line, m.Column, m.Message)
}

// Mistakes are all mistakes of a set of templates, in order of place.
type Mistakes []Mistake

// Error gives one mistake per line.
func (m Mistakes) Error() string {
	lines := make([]string, len(m))
	for i := range m {
		lines[i] = m[i].Error()
	}
	return strings.Join(lines, "\n")
}

func (m Mistakes) sort() {
	slices.SortStableFunc(m, func(a, b Mistake) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

// mistakeOf takes the place out of an error of text/template.
func mistakeOf(file string, err error) Mistake {
	m := Mistake{File: file, Message: strings.TrimPrefix(err.Error(), "template: ")}
	place := regexp.MustCompile(`(?s)^([^:\n]+):(\d+)(?::(\d+))?: (?:executing "[^"]*" )?(.*)$`)
	if p := place.FindStringSubmatch(m.Message); p != nil {
		m.File, m.Message = p[1], p[4]
		m.Line, _ = strconv.Atoi(p[2])
		if p[3] != "" {
			m.Column, _ = strconv.Atoi(p[3])
			m.Column++
		}
	}
	return m
}

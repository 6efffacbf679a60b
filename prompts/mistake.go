package prompts

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/reprise-ci/reprise/pipelines"
)

// mistakeOf takes the place out of an error of text/template.
func mistakeOf(file string, err error) pipelines.Mistake {
	m := pipelines.Mistake{File: file, Message: strings.TrimPrefix(err.Error(), "template: ")}
	place := regexp.MustCompile(`(?s)^([^:\n]+):(\d+)(?::(\d+))?: (?:executing "[^"]*" )?(.*)$`)
	if p := place.FindStringSubmatch(m.Message); p != nil {
		m.File, m.Message = p[1], p[4]
		m.Line, _ = strconv.Atoi(p[2])
		m.Column, _ = strconv.Atoi(p[3]) // 0 without a column
		m.Column++
	}
	return m
}

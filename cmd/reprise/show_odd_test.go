package main

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// odd fills values with what no healthy record has.
type odd struct{ *rand.Rand }

func (o odd) word() string {
	words := []string{
		"", "planning", "design", "implementation", "execute", "review", "revise", "check", "running", "waiting", "failed", "completed",
		"pending", "in_progress", "skipped", "error", "succeeded", "started", "interrupted", "blocked", "pass", "fail", "blocker", "suggestion",
		"fixed", "still_open", "stuck", "budget_exceeded", "rate_limited", "crash", "writer", "reviewer", "ja", "en", "https://evil.example/x",
		"fixes #1 @team ![a](http://b) </details>\n```\n/run\n<!-- reprise:progress:v1 issue=1 -->", "\x1b[31m\x00\u202e\u200b\xff", "日本語😀",
		"`a``@b` [x](y) | <b>", "\"];\n  click p1", "--> x", "</summary><img src=x>", strings.Repeat("長い@a ", 700), "::error::x ##[group]y", "../../etc/passwd",
	}
	return words[o.IntN(len(words))]
}

func (o odd) number() int64 {
	return []int64{0, 1, -1, 2, 3, 7, 1e6, math.MaxInt64, math.MinInt64}[o.IntN(9)]
}

// fill sets a value and everything below it.
func (o odd) fill(v reflect.Value) {
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf([]time.Time{{}, nine, nine.Add(time.Hour), time.Unix(1<<40, 0)}[o.IntN(4)]))
		return
	case json.RawMessage:
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(o.word())
	case reflect.Bool:
		v.SetBool(o.IntN(2) == 0)
	case reflect.Int, reflect.Int64:
		v.SetInt(o.number())
	case reflect.Float64:
		v.SetFloat([]float64{0, 0.1, -5, 1e300, math.NaN(), math.Inf(1)}[o.IntN(6)])
	case reflect.Pointer:
		if o.IntN(3) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			o.fill(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			o.fill(v.Field(i))
		}
	case reflect.Slice:
		n := o.IntN(4)
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			o.fill(v.Index(i))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range o.IntN(3) {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			o.fill(key)
			o.fill(value)
			v.SetMapIndex(key, value)
		}
	}
}

func oddOf[T any](o odd) T {
	var v T
	o.fill(reflect.ValueOf(&v).Elem())
	return v
}

// TestOddRecords shows records that no check would pass. Nothing may panic,
// and nothing that a terminal or GitHub acts on may get through.
func TestOddRecords(t *testing.T) {
	for seed := range uint64(100) {
		o := odd{rand.New(rand.NewPCG(seed, 1))}
		run := oddOf[metadata.Run](o)
		var plan *pipelines.Pipeline
		switch o.IntN(4) {
		case 0:
			p := oddOf[pipelines.Pipeline](o)
			plan = &p
		case 1, 2:
			plan = samplePlan("en")
		}
		for _, text := range everyView(plan, run, o) {
			if i := strings.IndexFunc(text, func(r rune) bool { return r < ' ' && r != '\n' || r == '\u202e' || r == 0x7f }); i >= 0 {
				t.Fatalf("seed %d: a control character got through: %q", seed, text[max(i-40, 0):min(i+80, len(text))])
			}
		}
		checkComment(t, seed, comment(plan, run, oddOf[links](o)))
		if t.Failed() {
			return
		}
	}
}

// everyView gives what all views for terminals print.
func everyView(plan *pipelines.Pipeline, run metadata.Run, o odd) []string {
	var status, history, explained, rewound, plain, log bytes.Buffer
	showStatus(&status, plan, run, viewOptions{Width: 80})
	showHistory(&history, run, viewOptions{})
	showPlan(&explained, plan, viewOptions{})
	showRewound(&rewound, plan, phases.Rewound{
		Before: run, Run: oddOf[metadata.Run](o), Entry: oddOf[metadata.Rollback](o),
		Moves: oddOf[map[string]string](o), Files: map[string][]byte{o.word(): []byte(o.word())},
	})
	d, done, activity := oddOf[phases.Decision](o), oddOf[phases.Outcome](o), oddOf[phases.Activity](o)
	s := screen{viewOptions: viewOptions{Plan: plan, Width: 80}, Height: 24}
	for _, e := range []phases.Event{{Run: run, Decision: &d}, {Run: run, Of: d, Activity: &activity}, {Run: run, Of: d, Done: &done}} {
		newView(&plain, viewOptions{Plan: plan, Verbose: true}).Report(e)
		newView(&log, viewOptions{Plan: plan, Verbose: true, Format: "json"}).Report(e)
		s.take(e)
		render(s)
	}
	return []string{
		status.String(), history.String(), explained.String(), rewound.String(), plain.String(), render(s),
		mermaid(plan, &run), mermaid(plan, nil),
	}
}

// checkComment renders a comment and looks for what must not be in it.
func checkComment(t *testing.T, seed uint64, md string) {
	t.Helper()
	if n := units(md); n > maxComment {
		t.Errorf("seed %d: the comment has %d UTF-16 units", seed, n)
	}
	first, _, _ := strings.Cut(md, "\n")
	if !regexp.MustCompile(`^<!-- reprise:progress:v1 issue=[^<>\s]* -->$`).MatchString(first) || strings.Count(md, "<!--") != 1 {
		t.Errorf("seed %d: the marker is not the first line and nowhere else:\n%.300s", seed, md)
	}
	src := []byte(md)
	ours := regexp.MustCompile(`^(<details>|<details open>|</details>|<summary>[^<>\n]*</summary>|<!-- reprise:[^<>]*-->|\n)+$`)
	doc := goldmark.New(goldmark.WithExtensions(extension.GFM)).Parser().Parse(text.NewReader(src))
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		if !entering {
			return ast.WalkContinue, nil
		}
		switch n := n.(type) {
		case *ast.Document, *ast.Paragraph, *ast.TextBlock, *ast.Heading, *ast.List, *ast.ListItem, *ast.Blockquote, *ast.Emphasis, *east.TaskCheckBox:
		case *ast.Link:
			if to := string(n.Destination); !strings.HasPrefix(to, "https://") {
				t.Errorf("seed %d: a link to %q", seed, to)
			}
		case *ast.CodeSpan, *ast.FencedCodeBlock:
			return ast.WalkSkipChildren, nil
		case *ast.HTMLBlock:
			html := string(n.Lines().Value(src))
			if n.HasClosure() {
				html += string(n.ClosureLine.Value(src))
			}
			if !ours.MatchString(html) {
				t.Errorf("seed %d: HTML that is not ours: %q", seed, html)
			}
		case *ast.Text:
			said := string(util.UnescapePunctuations(util.ResolveNumericReferences(util.ResolveEntityNames(n.Segment.Value(src)))))
			if m := regexp.MustCompile(`(?i)(^|\W)@[a-z0-9]|#[0-9]|\bgh-[0-9]|://`).FindString(said); m != "" {
				t.Errorf("seed %d: %q in %q", seed, m, said)
			}
		default:
			t.Errorf("seed %d: a %s in the comment:\n%s", seed, n.Kind(), md)
		}
		return ast.WalkContinue, nil
	})
}

func TestCommentsAreHarmless(t *testing.T) {
	for _, language := range []string{"en", "ja"} {
		for _, p := range plays(t, language) {
			checkComment(t, 0, comment(p.plan, p.run, sampleLinks))
		}
	}
}

package progresstest

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/yuin/goldmark/ast"
	east "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/util"

	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts/clean"
)

// Odd fills values with what no healthy record has.
type Odd struct{ *rand.Rand }

// Word gives one of many texts: ordinary words, and text that tries to have an
// effect where it is shown.
func (o Odd) Word() string {
	words := []string{
		"", "planning", "design", "implementation", "execute", "review", "revise", "check", "running", "waiting", "failed", "completed",
		"pending", "in_progress", "skipped", "error", "succeeded", "started", "interrupted", "blocked", "pass", "fail", "blocker", "suggestion",
		"fixed", "still_open", "stuck", "budget_exceeded", "rate_limited", "crash", "writer", "reviewer", "ja", "en", "https://evil.example/x",
		"fixes #1 @team ![a](http://b) </details>\n```\n/run\n<!-- reprise:progress:v1 issue=1 -->", "\x1b[31m\x00\u202e\u200b\xff", "日本語😀",
		"`a``@b` [x](y) | <b>", "\"];\n  click p1", "--> x", "</summary><img src=x>", strings.Repeat("長い@a ", 700), "::error::x ##[group]y", "../../etc/passwd",
	}
	return words[o.IntN(len(words))]
}

func (o Odd) number() int64 {
	return []int64{0, 1, -1, 2, 3, 7, 1e6, math.MaxInt64, math.MinInt64}[o.IntN(9)]
}

// Fill sets a value and everything below it.
func (o Odd) Fill(v reflect.Value) {
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf([]time.Time{{}, Nine, Nine.Add(time.Hour), time.Unix(1<<40, 0)}[o.IntN(4)]))
		return
	case json.RawMessage:
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(o.Word())
	case reflect.Bool:
		v.SetBool(o.IntN(2) == 0)
	case reflect.Int, reflect.Int64:
		v.SetInt(o.number())
	case reflect.Float64:
		v.SetFloat([]float64{0, 0.1, -5, 1e300, math.NaN(), math.Inf(1)}[o.IntN(6)])
	case reflect.Pointer:
		if o.IntN(3) > 0 {
			v.Set(reflect.New(v.Type().Elem()))
			o.Fill(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			o.Fill(v.Field(i))
		}
	case reflect.Slice:
		n := o.IntN(4)
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			o.Fill(v.Index(i))
		}
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		for range o.IntN(3) {
			key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			o.Fill(key)
			o.Fill(value)
			v.SetMapIndex(key, value)
		}
	}
}

// OddOf gives a value of a type, with everything below it filled by Fill.
func OddOf[T any](o Odd) T {
	var v T
	o.Fill(reflect.ValueOf(&v).Elem())
	return v
}

// OddPlan gives a plan that no check would pass, an ordinary one, or none.
func OddPlan(o Odd) *pipelines.Pipeline {
	switch o.IntN(4) {
	case 0:
		p := OddOf[pipelines.Pipeline](o)
		return &p
	case 1, 2:
		return SamplePlan("en")
	}
	return nil
}

// HostileTexts are texts that GitHub, a terminal or a log would act on.
func HostileTexts() []string {
	return []string{
		"Fixes #1 @team ![a](http://b) </details>\n```\n/run\n<!-- reprise:progress:v1 issue=1 -->", "::error::x", "##[add-mask]e", "\r::set-output name=a::b",
		"`a``@b`", "|a|\n|-|", "\u2028/run", "[a]: b\n[a]", "\x1b[31m\u202e\u200b\xff", "&#64;a &commat;b", "<https://a.b/issues/1>", "$`@a`$", strings.Repeat("> ", 20) + "x",
		"\"];\n  click p1 call x()", "%%{init: {}}%%", "-->", "~~~\n/run\n~~~", "   ```\n/lgtm", "1. /approve", "\\\n@a", "a\n===\n@b",
	}
}

// Put replaces some of the texts in a value.
func Put(o Odd, v reflect.Value, text string) {
	switch v.Kind() {
	case reflect.String:
		if v.CanSet() && o.IntN(2) == 0 {
			v.SetString(text)
		}
	case reflect.Pointer:
		if !v.IsNil() {
			Put(o, v.Elem(), text)
		}
	case reflect.Struct:
		for i := range v.NumField() {
			Put(o, v.Field(i), text)
		}
	case reflect.Slice:
		if v.Type().Elem().Kind() == reflect.Uint8 {
			return
		}
		for i := range v.Len() {
			Put(o, v.Index(i), text)
		}
	}
}

// CheckLog reads a log as a runner does: it takes a line for a command that
// begins with :: behind any space, or has ##[ somewhere.
func CheckLog(t *testing.T, log string) {
	t.Helper()
	for _, line := range strings.FieldsFunc(log, func(r rune) bool { return r == '\n' || r == '\r' }) {
		if strings.HasPrefix(strings.TrimFunc(line, unicode.IsSpace), "::") || strings.Contains(line, "##[") {
			t.Errorf("a line of the log is %q", line)
		}
	}
}

// stateLine is the state for programs at the end of a live comment.
var stateLine = regexp.MustCompile(`(?m)^<!-- reprise:state:v1 \{([^<>@#-]|-[^<>@#-])*\} -->\n\z`)

// CheckComment renders a comment and looks for what must not be in it.
func CheckComment(t *testing.T, seed uint64, md string) {
	t.Helper()
	if n := clean.Units(md); n > clean.MaxComment {
		t.Errorf("seed %d: the comment has %d UTF-16 units", seed, n)
	}
	first, _, _ := strings.Cut(md, "\n")
	marked := regexp.MustCompile(`^<!-- reprise:progress:v1 issue=[^<>\s]* -->$`).MatchString(first)
	if rest := stateLine.ReplaceAllString(md, ""); !marked || strings.Count(rest, "<!--") != 1 || strings.Contains(rest, "reprise:state") {
		t.Errorf("seed %d: the marker is not the first line and nowhere else, or the state not the last:\n%.300s", seed, md)
	}
	src := []byte(md)
	ours := regexp.MustCompile(`^(<details>|<details open>|</details>|<summary>[^<>\n]*</summary>|<!-- reprise:[^<>]*-->|\n)+$`)
	doc := Parse(src)
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
			html := htmlOf(n, src)
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

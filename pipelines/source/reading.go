package source

import (
	"bytes"
	stderrors "errors"
	"fmt"
	"io"
	"path"
	"slices"
	"sort"
	"strconv"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/ast"
	"cuelang.org/go/cue/errors"
	"cuelang.org/go/cue/parser"
	"cuelang.org/go/cue/token"
	"cuelang.org/go/encoding/json"
	"cuelang.org/go/encoding/toml"
	"cuelang.org/go/encoding/yaml"
	yaml3 "go.yaml.in/yaml/v3"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/pipelines"
)

// file is a pipeline, or another document, as it was found.
type file struct {
	Name string `json:"name"` // as people know it
	Text string `json:"text"`

	Own bool   `json:"-"` // it came with reprise
	Or  string `json:"-"` // ending of the language if Name has none; empty: CUE
}

// build reads a file in the language that its name ends in, and evaluates it.
// What is wrong with the file as such comes back as mistakes.
func (l *library) build(f file) (cue.Value, pipelines.Mistakes) {
	v, found := l.value(f)
	if len(found) > 0 {
		return v, found
	}
	err := v.Validate()
	found = translate(err, f.Name)
	if p := errors.Path(err); len(p) > 0 && !v.LookupPath(cue.ParsePath(p[0])).Exists() {
		for i := range found {
			found[i].Path = "" // found before there were values: it lacks the indices
		}
	}
	return v, found
}

// value is build without asking whether the values agree.
func (l *library) value(f file) (cue.Value, pipelines.Mistakes) {
	if strings.Contains(f.Text, "\x00") {
		return cue.Value{}, pipelines.Mistakes{{File: f.Name, Line: 1, Column: 1, Message: "this is no text in UTF-8, but perhaps in UTF-16; save the file as UTF-8"}}
	}
	tree, err := decode(f)
	if err != nil {
		return cue.Value{}, f.unreadable(err)
	}
	if found := append(f.twice(), translate(errors.Append(l.imports(tree), outsized(tree)), f.Name)...); len(found) > 0 {
		return cue.Value{}, found
	}
	return l.evaluate("", tree), nil
}

// unreadable says why a file could not be decoded. The line of a mistake in YAML is the first up to which its reader
// comes to the same end as with the whole text.
func (f file) unreadable(err error) pipelines.Mistakes {
	text := yamlLines(f.Text)
	if wrong := syntaxError(text); f.isYAML() && wrong != "" {
		lines := strings.SplitAfter(text, "\n")
		n := sort.Search(len(lines)-1, func(i int) bool { return syntaxError(strings.Join(lines[:i+1], "")) == wrong })
		line := strings.TrimRight(lines[n], "\n")
		column := len(line) - len(strings.TrimLeft(line, " \t")) + 1
		message := pipelines.OneLine(itsLine().ReplaceAllString(wrong, ""))
		return pipelines.Mistakes{{File: f.Name, Line: n + 1, Column: column, Message: message + yamlHint(message, line)}}
	}
	found := translate(err, f.Name)
	for i, m := range found {
		if f.ending() == ".json" && strings.HasPrefix(m.Message, "invalid character '/'") {
			found[i].Message += "; JSON has no comments: leave them out, or write CUE in a file that ends in .cue"
		} else if f.ending() == ".json" && strings.HasSuffix(m.Message, "after top-level value") {
			found[i].Message += "; a file has one object, and nothing behind it"
		}
	}
	return found
}

// itsLine is how the reader of YAML begins a message.
var itsLine = text.Pattern(`^line [^:]*: `)

// twice finds what only CUE may have several times: a field of one object, also in JSON, which is YAML; and the document.
func (f file) twice() (found pipelines.Mistakes) {
	if !f.isYAML() && f.ending() != ".json" {
		return nil
	}
	add := func(line int, message string) {
		found = append(found, pipelines.Mistake{File: f.Name, Line: line, Column: 1, Message: message})
	}
	d, types, second := yaml3.NewDecoder(strings.NewReader(yamlLines(f.Text))), (*yaml3.TypeError)(nil), yaml3.Node{}
	if err := d.Decode(new(any)); stderrors.As(err, &types) {
		for _, wrong := range types.Errors {
			if m := givenTwice().FindStringSubmatch(wrong); m != nil {
				line, _ := strconv.Atoi(m[1]) // it is made of figures
				add(line, fmt.Sprintf("%s is given twice, first on line %s; leave one out", m[2], m[3]))
			}
		}
	}
	if d.Decode(&second) == nil {
		add(second.Content[0].Line, "the file has several documents, which --- divides; put each into a file of its own")
	}
	return found
}

// givenTwice is how the reader of YAML says that a field is there twice.
var givenTwice = text.Pattern(`^line ([0-9]+): mapping key "(.*)" already defined at line ([0-9]+)$`)

// ending is that of the language in which a file is written.
func (f file) ending() string {
	if ext := path.Ext(f.Name); slices.Contains(fileEndings(), ext) {
		return ext
	}
	return f.Or
}

// isYAML reports whether a file is written in YAML.
func (f file) isYAML() bool { return f.ending() == ".yaml" || f.ending() == ".yml" }

// decode gives the syntax tree of a file, with the positions of its own text.
func decode(f file) (*ast.File, error) {
	data := []byte(f.Text)
	switch f.ending() {
	case ".yaml", ".yml":
		return yaml.Extract(f.Name, []byte(yamlLines(f.Text)))
	case ".json":
		expr, err := json.Extract(f.Name, data)
		return alone(expr), err
	case ".toml":
		expr, err := toml.NewDecoder(f.Name, bytes.NewReader(data)).Decode()
		return alone(expr), err
	default:
		return parser.ParseFile(f.Name, data, parser.ParseComments)
	}
}

// yamlLines ends every line in one way. YAML knows five, and CUE's reader of
// it, which counts only one of them, panics on the others. Nor does it know that it reads 1.2 as 1.1.
func yamlLines(text string) string {
	text = yamlVersion().ReplaceAllString(text, "%YAML 1.1")
	return strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n").Replace(text)
}

var yamlVersion = text.Pattern(`(?m)^%YAML 1\.2\b`)

func alone(expr ast.Expr) *ast.File {
	return &ast.File{Decls: []ast.Decl{&ast.EmbedDecl{Expr: expr}}}
}

// translate turns errors of CUE into mistakes of the file that caused them.
func translate(err error, name string) (found pipelines.Mistakes) {
	for _, e := range errors.Errors(err) {
		m := pipelines.Mistake{File: name, Path: pathOf(e.Path()), Message: messageOf(e)}
		if at := fileAndLine().FindStringSubmatch(strings.TrimPrefix(m.Message, name)); at != nil {
			m.Line, _ = strconv.Atoi(at[1]) // 0 if it has none
			m.Column, m.Message = min(m.Line, 1), at[2]
		}
		for _, p := range append([]token.Pos{e.Position()}, e.InputPositions()...) {
			if p.Filename() == name && p.IsValid() {
				m.Line, m.Column = p.Line(), p.Column()
				break
			}
		}
		// The same mistake is found again at everything that refers to it.
		if !slices.ContainsFunc(found, func(o pipelines.Mistake) bool {
			return o.Line == m.Line && o.Column == m.Column && o.Message == m.Message
		}) {
			found = append(found, m)
		}
	}
	return found
}

// messageOf is what happened, without path and place.
func messageOf(e errors.Error) string {
	if cause := errors.Unwrap(e); cause != nil {
		return pipelines.OneLine(cause.Error()) // what is around it only names the file
	}
	format, args := e.Msg()
	return pipelines.OneLine(fmt.Sprintf(format, args...))
}

// fileAndLine is what YAML's reader puts in front of a message, behind the name of the file.
var fileAndLine = text.Pattern(`^:(?:([0-9]+):)? (.*)$`)

// pathOf writes a path of CUE as the mistakes do.
func pathOf(selectors []string) (p string) {
	for _, s := range selectors {
		switch {
		case s == "#Report":
		case s != "" && strings.Trim(s, "0123456789") == "":
			p += "[" + s + "]"
		default:
			p = pipelines.JoinPath(p, strings.Trim(s, `"`))
		}
	}
	return p
}

// fileEndings are those of files, the first one found counts.
func fileEndings() []string { return []string{".cue", ".yaml", ".yml", ".json", ".toml"} }

// tooMuch matches numbers with an exponent of five digits or more. CUE takes one that it cannot compute for 1.
var tooMuch = text.Pattern(`^[0-9._]+[eE][+-]?[0_]*[1-9](?:_*[0-9]){4,}$`)

// outsized finds the numbers in a syntax tree that are none to compute with.
func outsized(tree ast.Node) (found errors.Error) {
	ast.Walk(tree, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && tooMuch().MatchString(lit.Value) {
			found = errors.Append(found, errors.Newf(lit.Pos(), "the number %.40s has an exponent of more than four digits; write one that can be computed with", lit.Value))
		}
		return true
	}, nil)
	return found
}

// syntaxError is what the reader of YAML says of a text; "" if nothing.
func syntaxError(text string) string {
	for d := yaml3.NewDecoder(strings.NewReader(text)); ; {
		var n yaml3.Node
		switch err := d.Decode(&n); {
		case stderrors.Is(err, io.EOF):
			return ""
		case err != nil:
			return strings.TrimPrefix(err.Error(), "yaml: ")
		}
	}
}

// yamlHint says in plain words what is mostly behind a message of the reader.
func yamlHint(message, line string) string {
	switch {
	case strings.HasPrefix(strings.TrimLeft(line, " "), "\t"):
		return "; YAML is indented with spaces, not with tabs"
	case strings.Contains(line, ": >"):
		return "; a comparison is CUE, so write the condition as one text, such as when: 'diff: lines: >20'"
	case strings.Contains(message, "did not find expected key"), strings.Contains(message, "expected '-' indicator"), strings.Contains(message, "<document start>"):
		return "; is this line indented like those that it belongs to?"
	case strings.Contains(message, "mapping values are not allowed"):
		return "; is this line indented too far, or a text with a colon in it not in quotes?"
	case strings.Contains(message, "could not find expected ':'"):
		return "; expected name: value"
	}
	return ""
}

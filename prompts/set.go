package prompts

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template"
	"text/template/parse"
	"unicode/utf8"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

//go:embed builtin
var builtin embed.FS

// repoFolder is where people find what a repository has for reprise.
const repoFolder = ".github/reprise"

// maxTemplate is the largest template, in bytes.
const maxTemplate = 64 << 10

// steps are the templates that every set has, those that begin a session first.
func steps() []string { return []string{"execute", "review", "revise", "retry"} }

// Set is the templates in force for a run, in one language. It does not
// change, and may be used from several goroutines.
type Set struct {
	files  map[string]string // by file name, such as "execute.md"
	root   *template.Template
	own    map[string]string // by name, the files of those that are not built in
	called map[string]bool   // by name, those that others call
}

// source is the text of one template and where a person finds it.
type source struct{ path, text string }

// Load returns the built-in templates of a language with those of a repository, whose folder .github/reprise may be nil,
// in their place by file name: those of others in vendor/prompts, then its own in prompts; of each folder, those at its
// top count for every language, and those in a folder named after one win.
// Each template is carried out with sample data; mistakes are pipelines.Mistakes.
func Load(repo fs.FS, language string) (*Set, error) {
	if err := checkLanguage(language); err != nil {
		return nil, err
	}
	sources := map[string]source{}
	var found pipelines.Mistakes
	for _, from := range []struct {
		fsys fs.FS
		dir  string
	}{
		{builtin, path.Join("builtin", language)},
		{repo, "vendor/prompts"},
		{repo, path.Join("vendor/prompts", language)},
		{repo, "prompts"},
		{repo, path.Join("prompts", language)},
	} {
		if from.fsys == nil {
			continue
		}
		m, err := overlay(sources, from.fsys, from.dir)
		if err != nil {
			return nil, fmt.Errorf("read prompts: %w", err)
		}
		found = append(found, m...)
	}
	return build(sources, found)
}

func checkLanguage(language string) error {
	if !slices.Contains(metadata.Languages(), language) {
		return fmt.Errorf("prompts: no language %q; known: %s", language, strings.Join(metadata.Languages(), ", "))
	}
	return nil
}

// FromFiles returns the set that Files was taken from. Nothing is added from
// the built-in templates, so a run goes on with the words it began with.
func FromFiles(language string, files map[string]string) (*Set, error) {
	if err := checkLanguage(language); err != nil {
		return nil, err
	}
	sources := map[string]source{}
	var found pipelines.Mistakes
	for _, name := range slices.Sorted(maps.Keys(files)) {
		found = append(found, add(sources, name, name, files[name])...)
	}
	for _, step := range steps() {
		if _, ok := sources[step]; !ok {
			found = append(found, pipelines.Mistake{File: step + ".md", Message: "missing from the templates of the run"})
		}
	}
	return build(sources, found)
}

// Files returns the text of every template in force by file name, to freeze
// with a run. The map is the caller's.
func (s *Set) Files() map[string]string { return maps.Clone(s.files) }

// overlay puts the templates of one folder into sources. A folder that does not
// exist holds none.
func overlay(sources map[string]source, from fs.FS, dir string) (found pipelines.Mistakes, err error) {
	entries, err := fs.ReadDir(from, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		file := path.Join(dir, e.Name())
		shown := path.Join(repoFolder, file) // what is built in has no mistakes
		switch {
		case strings.HasPrefix(e.Name(), ".") || strings.EqualFold(e.Name(), "README.md"),
			e.IsDir() && path.Base(dir) == "prompts" && slices.Contains(metadata.Languages(), e.Name()):
			continue
		case !e.Type().IsRegular():
			found = append(found, pipelines.Mistake{File: shown, Message: "not a file; folders are named after a language (" + strings.Join(metadata.Languages(), ", ") + "), and links are not followed"})
			continue
		}
		text, err := fs.ReadFile(from, file)
		if err != nil {
			return nil, err
		}
		found = append(found, add(sources, shown, e.Name(), string(text))...)
	}
	return found, nil
}

// add puts one template into sources, or says what is wrong with its file.
func add(sources map[string]source, file, name, text string) pipelines.Mistakes {
	base, ok := strings.CutSuffix(name, ".md")
	if !ok || base == "" || strings.Trim(base, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-") != "" {
		return pipelines.Mistakes{{File: file, Message: "a template is named with letters, digits, _ and -, and ends in .md"}}
	}
	if len(text) > maxTemplate {
		return pipelines.Mistakes{{File: file, Message: fmt.Sprintf("larger than %d bytes, the most a template may have", maxTemplate)}}
	}
	if !utf8.ValidString(text) {
		return pipelines.Mistakes{{File: file, Message: "not UTF-8 text"}}
	}
	text = strings.TrimPrefix(text, "\uFEFF") // as some editors begin a file
	sources[base] = source{file, strings.ReplaceAll(text, "\r\n", "\n")}
	return nil
}

// calls matches the call of a template.
var calls = regexp.MustCompile(`\{\{-?\s*template\s+"([^"]+)"`)

// build parses all sources into one set, and carries out each template that no other calls
// once with much data and once with little. Found are the mistakes already known.
func build(sources map[string]source, found pipelines.Mistakes) (*Set, error) {
	s := &Set{
		files: map[string]string{}, root: template.New("").Funcs(functions()).Option("missingkey=error"),
		own: map[string]string{}, called: map[string]bool{},
	}
	names := slices.Sorted(maps.Keys(sources))
	for _, name := range names {
		src := sources[name]
		s.files[name+".md"] = src.text
		if !strings.HasPrefix(src.path, path.Join(repoFolder, "builtin")) {
			s.own[name] = src.path
		}
		for _, m := range calls.FindAllStringSubmatch(src.text, -1) {
			s.called[m[1]] = true
		}
		// The newline that ends a file is not part of its template, so that a
		// partial can stand anywhere in a line.
		parsed, err := template.New(src.path).Funcs(functions()).Parse(strings.TrimSuffix(src.text, "\n"))
		if err != nil {
			found = append(found, mistakeOf(src.path, err))
			parsed = template.Must(template.New(src.path).Parse("")) // that it is missing is not the mistake of others
		}
		for _, t := range parsed.Templates() {
			defined := t.Name()
			_, isFile := sources[defined]
			switch {
			case defined == src.path:
				defined = name
			case isFile || s.root.Lookup(defined) != nil:
				found = append(found, pipelines.Mistake{File: src.path, Message: fmt.Sprintf("template %q is defined a second time; to replace a built-in one, name a file after it", defined)})
				continue
			}
			bound(t.Root)
			if _, err := s.root.AddParseTree(defined, t.Tree); err != nil {
				found = append(found, mistakeOf(src.path, err))
			}
		}
	}
	for _, name := range names {
		if s.called[name] && !slices.Contains(steps(), name) {
			continue
		}
		for _, d := range samples() {
			if err := s.root.ExecuteTemplate(&limited{}, name, newView(d, len(d.Diff))); err != nil {
				if m := mistakeOf(sources[name].path, err); !slices.Contains(found, m) {
					found = append(found, m)
				}
				break
			}
		}
	}
	if err := found.OrNil(); err != nil {
		return nil, err
	}
	return s, nil
}

// bound has a template, and each turn of its loops, write a text, though an empty one: what
// writes too often is ended, so that a loop of very many turns cannot keep anybody waiting.
func bound(list *parse.ListNode) {
	if list == nil {
		return
	}
	within := func(n parse.BranchNode) { bound(n.List); bound(n.ElseList) }
	for _, n := range list.Nodes {
		switch n := n.(type) {
		case *parse.RangeNode:
			within(n.BranchNode)
		case *parse.IfNode:
			within(n.BranchNode)
		case *parse.WithNode:
			within(n.BranchNode)
		}
	}
	list.Nodes = slices.Insert(list.Nodes, 0, parse.Node(&parse.TextNode{NodeType: parse.NodeText}))
}

// functions are what templates may call besides the functions every
// text/template has.
func functions() template.FuncMap {
	return template.FuncMap{
		"dir": path.Dir,
		// below shortens a path that lies in dir to how it is called there.
		"below": func(dir, file string) string {
			if rest, ok := strings.CutPrefix(file, strings.TrimSuffix(dir, "/")+"/"); ok && dir != "" {
				return rest
			}
			return file
		},
		"join": strings.Join,
		// line makes a value fit for the middle of a sentence of ours: it
		// cannot begin a line, so it cannot look like a section or a fence.
		"line": func(s string) string { return strings.Join(strings.Fields(s), " ") },
	}
}

//go:embed samples.json
var samplesFile []byte

// samples are two tasks: one with everything set, one with as little as can be.
func samples() (all []Data) {
	in := json.NewDecoder(bytes.NewReader(samplesFile))
	in.DisallowUnknownFields()
	if err := in.Decode(&all); err != nil {
		panic("samples.json: " + err.Error()) // unreachable: a test reads it
	}
	return all
}

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

package prompts

import (
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"text/template"
	"text/template/parse"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

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
		if !strings.HasPrefix(src.path, path.Join(ownFolder, "builtin")) {
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
	for _, n := range list.Nodes {
		switch n := n.(type) {
		case *parse.RangeNode:
			bound(n.List)
			bound(n.ElseList)
		case *parse.IfNode:
			bound(n.List)
			bound(n.ElseList)
		case *parse.WithNode:
			bound(n.List)
			bound(n.ElseList)
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
		"join": func(list []string, sep string) string { return strings.Join(list, sep) },
		// line makes a value fit for the middle of a sentence of ours: it
		// cannot begin a line, so it cannot look like a section or a fence.
		"line": func(s string) string { return strings.Join(strings.Fields(s), " ") },
	}
}

// samples are two tasks: one with everything set, one with as little as can be.
func samples() []Data {
	little := Data{Pipeline: "p", Phase: "q", Step: "execute", Access: "artifacts", Artifact: "/t/a.md", Dir: "/t", Boundary: "0123456789abcdef"}
	much := little
	much.Base, much.Step, much.Goal, much.Gates, much.Access = "abc", "review", "g", []string{"g"}, "tree"
	much.Protected, much.Schema, much.Round = []string{"p"}, "{}", 3
	much.Issue = Issue{ID: "1", URL: "u", Title: "the title", Author: "a", Labels: []string{"l"}, Body: "b", Path: "/t/issue.md", Said: []Said{{"b", "w", "d", "t"}}, Older: 1, Images: "/i"}
	much.Rollback = &Rollback{FromPhase: "r", FromStep: "review", By: "b", Reason: "r", ReviewResult: "v", Blockers: 1, AffectedTests: []string{"t"}}
	much.Feedback = &Feedback{
		Gates:      []metadata.Gate{{Gate: "g", Why: "w"}},
		Findings:   []metadata.Finding{{ID: "F1", Severity: "blocker", Title: "t", File: "f", Line: 1, Status: "new"}},
		Checks:     []Check{{Name: "c", Run: "r", Output: "o", Tests: []string{"t"}}},
		Violations: []string{"v"}, Missing: []string{"m"}, Invalid: []string{"i"},
		Conflict: "c", Paths: []string{"p"}, Notice: "n",
	}
	much.Documents, much.Diff, much.State = []Document{{"p", "/t/d.md"}}, "d", "s"
	return []Data{much, little}
}

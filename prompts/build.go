package prompts

import (
	"maps"
	"path"
	"slices"
	"strings"
	"text/template"
	"text/template/parse"
)

// build parses all sources into one set. Found are the mistakes already known.
func build(sources map[string]source, found Mistakes) (*Set, error) {
	s := &Set{files: map[string]string{}, root: template.New("").Funcs(functions()).Option("missingkey=error")}
	trees := map[string]*parse.Tree{}
	for _, name := range slices.Sorted(maps.Keys(sources)) {
		src := sources[name]
		// The newline that ends a file is not part of its template, so that a
		// partial can stand anywhere in a line.
		s.files[name+".md"] = src.text
		parsed, err := template.New(src.path).Funcs(functions()).Parse(strings.TrimSuffix(src.text, "\n"))
		if err != nil {
			found = append(found, mistakeOf(src.path, err))
			// Others may call it; that it is missing is not their mistake.
			trees[name] = &parse.Tree{Name: name, ParseName: src.path, Root: &parse.ListNode{NodeType: parse.NodeList}}
			continue
		}
		found = append(found, merge(trees, sources, name, parsed)...)
	}
	if found = append(found, check(trees)...); len(found) == 0 {
		found = s.assemble(trees)
	}
	if len(found) > 0 {
		found.sort()
		return nil, found
	}
	return s, nil
}

// merge adds the trees of one file: the file itself under its name, and what
// it defines inside.
func merge(trees map[string]*parse.Tree, sources map[string]source, name string, parsed *template.Template) Mistakes {
	var found Mistakes
	for _, t := range parsed.Templates() {
		defined := t.Name()
		if defined == sources[name].path {
			trees[name] = t.Tree
			continue
		}
		_, isFile := sources[defined]
		if _, twice := trees[defined]; isFile || twice {
			found = append(found, at(t.Tree, t.Tree.Root, "template %q is defined a second time; to replace a built-in one, name a file after it", defined))
			continue
		}
		trees[defined] = t.Tree
	}
	return found
}

// assemble makes the templates ready and carries each step out once, with
// much data and with little, to find what only shows when it runs.
func (s *Set) assemble(trees map[string]*parse.Tree) Mistakes {
	for _, name := range slices.Sorted(maps.Keys(trees)) {
		if _, err := s.root.AddParseTree(name, trees[name]); err != nil {
			return Mistakes{mistakeOf(name+".md", err)}
		}
	}
	var found Mistakes
	for _, name := range roots(trees) {
		for _, d := range samples() {
			if err := s.root.ExecuteTemplate(&limited{}, name, newView(d, len(d.Diff))); err != nil {
				found = append(found, mistakeOf(name+".md", err))
				break
			}
		}
	}
	return found
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
	much.Protected, much.Schema, much.Round, much.Last = []string{"p"}, "{}", 3, true
	much.Issue = Issue{ID: "1", URL: "u", Title: "t", Author: "a", Labels: []string{"l"}, Body: "b", Path: "/t/issue.md", Said: []Said{{"b", "w", "d", "t"}}, Older: 1, Images: "/i"}
	much.Rollback = &Rollback{FromPhase: "r", FromStep: "review", By: "b", Reason: "r", ReviewResult: "v", Blockers: 1, AffectedTests: []string{"t"}}
	much.Feedback = &Feedback{
		Gates:      []Gate{{"g", "w"}},
		Findings:   []Finding{{ID: "F1", Severity: "blocker", Title: "t", File: "f", Line: 1, Status: "new"}},
		Checks:     []Check{{Name: "c", Run: "r", Output: "o", Tests: []string{"t"}}},
		Violations: []string{"v"}, Missing: []string{"m"}, Invalid: []string{"i"},
		Conflict: "c", Paths: []string{"p"}, Notice: "n",
	}
	much.Documents, much.Diff, much.State = []Document{{"p", "/t/d.md"}}, "d", "s"
	return []Data{much, little}
}

package house_test

import (
	"io/fs"
	"maps"
	"net/url"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func TestDocuments(t *testing.T) {
	for _, doc := range documents(t) {
		for _, problem := range lint(os.DirFS(root), doc, read(t, doc)) {
			t.Errorf("%s:%s", doc, problem)
		}
	}
}

func TestLint(t *testing.T) {
	repo := fstest.MapFS{
		"docs/other.md": {Data: []byte("# Other\n\n## Two words, `code`\n\n## Again\n\n## Again\n")},
		"LICENSE":       {},
	}
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"clean", "# A\n\n[x](#a) [y](other.md#two-words-code) [z](../LICENSE) [w](/docs/other.md#again-1) <https://example.com>\n\n```sh\nls\n```\n", nil},
		{"no such file", "[x](gone.md)\n", []string{"1: the link gone.md leads nowhere"}},
		{"no such picture", "<source srcset=\"a.png\"><img src=\"b.png\">\n", []string{"1: the link a.png leads nowhere", "1: the link b.png leads nowhere"}},
		{"no such file, by reference", "[x]\n\n[x]: gone.md\n", []string{"3: the link gone.md leads nowhere"}},
		{"no such anchor", "# A\n[x](#b) [y](other.md#c)\n", []string{"2: the link #b leads to no heading", "2: the link other.md#c leads to no heading"}},
		{"out of the repository", "[x](../../notes.md)\n", []string{"1: the link ../../notes.md leads out of the repository"}},
		{"link in code", "`[x](gone.md)`\n", nil},
		{"open fence", "# A\n\n```sh\nls\n", []string{"3: the code fence is never closed"}},
		{"inner fence", "````md\n```sh\n````\n", nil},
		{"fence without language", "```\nls\n```\n", []string{"1: the code fence names no language; text will do"}},
		{"trailing space", "a \n", []string{"1: spaces at the end of the line"}},
		{"machine", "see /" + "home/me/notes\n", []string{"1: a path that exists on one machine only"}},
		{"long sentence", "# A\n\nOne. " + strings.Repeat("So it ", 15) + "goes on.\n\n- It\n- " + strings.Repeat("is ", 29) + "short.\n", []string{" a sentence has more than 30 words, so make two of it: " + strings.Repeat("So it ", 15) + "goes on"}},
		{"no machine", "see ~/home/x and https://example.com/" + "work/1\n", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, lint(repo, "docs/page.md", tt.text)); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

// Whoever reads the README gets to every document, by links, and so does who reads the list of them.
func TestDocumentsAreReached(t *testing.T) {
	for _, first := range []string{"README.md", "docs/README.md"} {
		for _, doc := range unreached(t, first) {
			t.Errorf("no link leads from %s to %s, not even by other documents", first, doc)
		}
	}
	for _, doc := range documents(t) {
		if listed := strings.HasPrefix(doc, "docs/") && !strings.HasSuffix(doc, ".ja.md") && doc != "docs/README.md"; listed &&
			!strings.Contains(read(t, "docs/README.md"), "]("+strings.TrimPrefix(doc, "docs/")+")") {
			t.Errorf("docs/README.md does not list %s: add a link", doc)
		}
	}
}

// unreached are the documents and pictures for people that no links lead to from the first.
func unreached(t *testing.T, first string) []string {
	left := map[string]bool{}
	for _, name := range files(t, func(name string) bool {
		return strings.HasPrefix(name, "docs/") && path.Ext(name) != ".sum" || path.Ext(name) == ".md" && !strings.Contains(name, "/")
	}) {
		left[name] = true
	}
	next := []string{first}
	for len(next) > 0 {
		doc := next[0]
		next = next[1:]
		if delete(left, doc); path.Ext(doc) != ".md" {
			continue
		}
		for _, l := range parse(read(t, doc)).links {
			target, _, _ := strings.Cut(path.Join(path.Dir(doc), l.text), "#")
			if left[target] && !slices.Contains(next, target) {
				next = append(next, target)
			}
		}
	}
	return slices.Sorted(maps.Keys(left))
}

// lint gives what is wrong with a document, each with its line; a sentence is quoted instead. The links are
// followed in repo.
func lint(repo fs.FS, doc, text string) []string {
	p := parse(text)
	for _, l := range p.links {
		u, err := url.Parse(l.text)
		if err != nil {
			p.problem(l.line, "the link %s: %v", l.text, err)
			continue
		}
		if u.Scheme != "" {
			continue // the world outside is not ours to check
		}
		p.follow(repo, doc, l, u)
	}
	for _, sentence := range sentenceEnd.Split(codeSpan.ReplaceAllString(apart.ReplaceAllString(text, "\n\n"), "x"), -1) {
		if len(strings.Fields(sentence)) > 30 && path.Dir(doc) != "docs/reference" {
			p.problems = append(p.problems, " a sentence has more than 30 words, so make two of it: "+strings.Join(strings.Fields(sentence), " "))
		}
	}
	return p.problems
}

var (
	apart       = regexp.MustCompile("(?ms)^ *```.*?^ *```$") // blocks
	sentenceEnd = regexp.MustCompile(`[.!?][*")]*\s|\n\n|\||\n *(?:-|\d+\.|#+) `)
)

// follow checks a link into the repository. A path with a leading slash starts
// at its top, as on GitHub.
func (p *page) follow(repo fs.FS, doc string, l located, u *url.URL) {
	anchors, target := p.anchors, doc
	if u.Path != "" {
		target = path.Join(path.Dir(doc), u.Path)
		if strings.HasPrefix(u.Path, "/") {
			target = path.Clean(u.Path[1:])
		}
		if !fs.ValidPath(target) {
			p.problem(l.line, "the link %s leads out of the repository", l.text)
			return
		}
		if _, err := fs.Stat(repo, target); err != nil {
			p.problem(l.line, "the link %s leads nowhere", l.text)
			return
		}
		if u.Fragment != "" && path.Ext(target) == ".md" {
			data, _ := fs.ReadFile(repo, target) // it exists; if it cannot be read, it has no heading
			anchors = parse(string(data)).anchors
		}
	}
	if u.Fragment != "" && path.Ext(target) == ".md" && !anchors[u.Fragment] {
		p.problem(l.line, "the link %s leads to no heading", l.text)
	}
}

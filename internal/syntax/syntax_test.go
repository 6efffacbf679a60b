package syntax

import (
	"archive/zip"
	"bytes"
	"compress/flate"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/chroma/v2"
	all "github.com/alecthomas/chroma/v2/lexers"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write lexers.zip from the lexers of chroma")

// known are the lexers that people need most, as chroma names their files.
var known = []string{
	"bash", "c", "c#", "c++", "css", "cue", "docker", "go_template", "hcl", "html", "ini", "java", "javascript", "json", "kotlin", "lua", "makefile",
	"php", "protocol_buffer", "python", "react", "ruby", "rust", "scala", "scss", "sql", "swift", "terraform", "toml", "typescript", "xml", "yaml",
}

// TestLexersAreThoseOfChroma shows that the file has what the module has in the version of go.mod.
func TestLexersAreThoseOfChroma(t *testing.T) {
	out, err := exec.Command("go", "list", "-f", "{{.Dir}}", "github.com/alecthomas/chroma/v2/lexers").Output()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"go.xml": written(t, all.Go, goRules), "markdown.xml": written(t, all.Markdown, markdownRules)}
	for _, name := range known {
		data, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(out)), "embedded", name+".xml"))
		if err != nil {
			t.Fatal(err)
		}
		want[name+".xml"] = string(data)
	}
	if *update {
		write(t, want)
	}
	have, got := lexersZip, map[string]string{}
	if *update {
		if have, err = os.ReadFile("lexers.zip"); err != nil {
			t.Fatal(err)
		}
	}
	files, err := zip.NewReader(bytes.NewReader(have), int64(len(have)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		got[f.Name] = string(data)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("lexers.zip has other lexers than chroma; run: go test ./internal/syntax -run Chroma -update (-want +got):\n%.2000s", diff)
	}
}

// written gives a lexer that chroma has as code in the form of the others.
func written(t *testing.T, lexer chroma.Lexer, change func(chroma.Rules)) string {
	t.Helper()
	rules, err := lexer.(*chroma.RegexLexer).Rules()
	if err != nil {
		t.Fatal(err)
	}
	rules = rules.Clone()
	change(rules)
	out, err := chroma.Marshal(chroma.MustNewLexer(lexer.Config(), func() chroma.Rules { return rules }))
	if err != nil {
		t.Fatal(err)
	}
	// Chroma writes the states in any order, so that the blanks before a state belong to its place and not to it.
	first, last := bytes.Index(out, []byte("<state ")), bytes.LastIndex(out, []byte("</rules>"))
	states := strings.SplitAfter(strings.TrimSpace(string(out[first:last])), "</state>")
	for i := range states {
		states[i] = strings.TrimSpace(states[i])
	}
	slices.Sort(states)
	return string(out[:first]) + strings.Join(states, "\n") + string(out[last:])
}

// goRules takes a raw string as one, not as a template, for which there is no form.
func goRules(rules chroma.Rules) {
	for i, r := range rules["root"] {
		if strings.HasPrefix(r.Pattern, "(`)") {
			rules["root"][i] = chroma.Rule{Pattern: "`[^`]*`", Type: chroma.LiteralString}
		}
	}
}

// markdownRules takes a block of code as one, not as what its language says: a part of a file may lack its end.
func markdownRules(rules chroma.Rules) {
	rules["root"] = slices.DeleteFunc(rules["root"], func(r chroma.Rule) bool { return strings.HasPrefix(r.Pattern, "^(```") })
}

func write(t *testing.T, files map[string]string) {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	w.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) { return flate.NewWriter(out, flate.BestCompression) })
	names := make([]string, 0, len(files))
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		f, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(f, files[name]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("lexers.zip", b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Each language tells its words apart.
func TestLines(t *testing.T) {
	for path, c := range map[string]struct {
		text string
		want []Word
	}{
		"a b/x.go":     {"func f() { return \"a`b\" } // why\n", []Word{{Keyword, "func "}, {Name, "f"}, {Plain, "() { "}, {Keyword, "return "}, {String, "\"a`b\" "}, {Plain, "} "}, {Comment, "// why\n"}}},
		"x.py":         {"x = 1 # no\n", []Word{{Plain, "x = "}, {Value, "1 "}, {Comment, "# no\n"}}},
		"x.yaml":       {"a: b # no\n", []Word{{Name, "a"}, {Plain, ": "}, {String, "b "}, {Comment, "# no\n"}}},
		"x.json":       {"{\"a\": true}\n", []Word{{Plain, "{"}, {Name, "\"a\""}, {Plain, ": "}, {Value, "true"}, {Plain, "}\n"}}},
		"README.md":    {"## Title\n", []Word{{Name, "## Title\n"}}},
		"x.unheard-of": {"func f()\n", nil},
	} {
		var want [][]Word
		if c.want != nil {
			want = [][]Word{c.want}
		}
		if diff := cmp.Diff(want, NewReader(time.Minute).Lines(path, c.text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", path, diff)
		}
	}
}

// A string and a comment go on over lines, and each line has all of its text.
func TestOverLines(t *testing.T) {
	text := "/* one\ntwo\n*/ const x = `a\nb`\n"
	lines := NewReader(time.Minute).Lines("x.go", text)
	if len(lines) != 4 || lines[1][0].Kind != Comment || lines[3][0].Kind != String || joined(lines) != text {
		t.Errorf("read as %q", lines)
	}
}

// Every lexer can be read and used.
func TestEveryLexer(t *testing.T) {
	for _, l := range lexers().Lexers {
		if _, err := l.Tokenise(nil, "x\n"); err != nil {
			t.Errorf("%s: %v", l.Config().Name, err)
		}
	}
}

// Text that takes long to read is left as it is, and so is what comes after it.
func TestTooLong(t *testing.T) {
	r := NewReader(1) // a nanosecond
	for range 2 {
		if lines := r.Lines("x.go", strings.Repeat("/* ", 1<<16)); lines != nil {
			t.Fatalf("it was read: %d lines", len(lines))
		}
	}
}

func joined(lines [][]Word) string {
	var b strings.Builder
	for _, l := range lines {
		for _, w := range l {
			b.WriteString(w.Text)
		}
	}
	return b.String()
}

// FuzzLines shows that no text is changed, whatever it says.
func FuzzLines(f *testing.F) {
	for _, l := range lexers().Lexers {
		for _, glob := range l.Config().Filenames {
			f.Add(strings.ReplaceAll(glob, "*", "x"), "a <b> = \"c\nd' /* `${ # ")
		}
	}
	f.Fuzz(func(t *testing.T, path, text string) {
		if lines := NewReader(time.Second).Lines(path, text); lines != nil && joined(lines) != text {
			t.Errorf("%s: %q became %q", path, text, joined(lines))
		}
	})
}

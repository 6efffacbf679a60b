package prompts

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// folder makes a folder .github/reprise on disk, with prompts of its own, and of others below vendor.
func folder(t *testing.T, files map[string]string) fs.FS {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		file := filepath.Join(dir, "prompts", name)
		if strings.HasPrefix(name, "vendor/") {
			file = filepath.Join(dir, name)
		}
		testenv.Put(t, file, text)
	}
	return os.DirFS(dir)
}

func TestOverrides(t *testing.T) {
	overrides := folder(t, map[string]string{
		"README.md": "What is {{here", ".keep": "", "execute.md": "Top {{.Phase}}\n", "ja/execute.md": "日本語 {{.Phase}}\r\n",
		"ja/own.md": "{{template \"policy\" .}}|own", "en/policy.md": "{{/* none */}}\n", "quick.md": "\uFEFFQuick: {{template \"issue\" .}}",
		"vendor/prompts/execute.md": "never", "vendor/prompts/ja/execute.md": "never", "vendor/prompts/theirs.md": "Theirs", "vendor/prompts/ja/theirs.md": "彼ら",
	})
	for _, tt := range []struct{ language, template, want string }{
		{"en", "execute", "Top implement\n"},
		{"ja", "execute", "日本語 implement\n"},
		{"en", "theirs", "Theirs\n"},
		{"ja", "theirs", "彼ら\n"},
	} {
		s, err := Load(overrides, tt.language)
		testenv.Must(t, err)
		got, err := s.Render(tt.template, task("execute"))
		if err != nil || got != tt.want {
			t.Errorf("%s %s: %q, %v; want %q", tt.language, tt.template, got, err, tt.want)
		}
	}
	en, err := Load(overrides, "en")
	testenv.Must(t, err)
	if got, err := en.Render("quick", task("execute")); err != nil || !strings.HasPrefix(got, "Quick: # Issue") {
		t.Errorf("own template: %q, %v", got, err)
	}
	back := task("revise")
	back.Rollback = rollback()
	if got, err := en.Render("execute", back); err != nil || !strings.HasPrefix(got, "# Taken back") || !strings.Contains(got, back.Rollback.Reason) || !strings.HasSuffix(got, "\n\nTop implement\n") {
		t.Errorf("own template that leaves out the rollback: %q, %v", got, err)
	}
	if got, err := en.Render("revise", task("revise")); err != nil || !strings.HasPrefix(got, "# Task") {
		t.Errorf("partial without text: %q, %v", got, err)
	}
	if _, err := en.Render("own", task("execute")); err == nil || !strings.Contains(err.Error(), `"own": no such template; known: answers.md, choose.md, context.md, diagnose.md, evidence.md, execute.md,`) {
		t.Errorf("own template of another language: %v", err)
	}
	if _, err := en.Render("README", task("execute")); err == nil {
		t.Error("README.md became a template")
	}
}

func TestMistakes(t *testing.T) {
	_, err := Load(folder(t, map[string]string{
		"execute.md":    "one\n{{.Issue.Titel}} {{.Gool}}\n{{range .Gates}}{{.Name}}{{end}}\n{{with $x := .Rollback}}{{$x.Why}}{{end}}\n{{if false}}{{template \"polcy\" .}}{{end}}{{(index .Documents 0).Name}}",
		"review.md":     "{{range .Round}}x{{end}}{{range $i, $f := .Feedback.Findings}}{{$i}}{{$f.Text}}{{end}}{{.Goal.X | len}}{{(.Cut).Title}}",
		"own.md":        "{{define \"extra\"}}{{.Nope}}{{end}}{{template \"extra\" .Issue}}{{define \"policy\"}}{{end}}",
		"ja/ignored.md": "{{.Other}}",
	}), "en")
	var got pipelines.Mistakes
	if !errors.As(err, &got) {
		t.Fatalf("Load: %v, want Mistakes", err)
	}
	testenv.Golden(t, filepath.Join("testdata", "mistakes.txt"), err.Error()+"\n")

	for name, tt := range map[string]struct {
		files map[string]string
		want  string
	}{
		"syntax":      {map[string]string{"a.md": "x\n{{if}}", "b.md": "{{end}}", "c.md": "{{.Titel}}"}, "a.md:2:1: missing value for if\n.github/reprise/prompts/b.md:1:1: unexpected {{end}}\n.github/reprise/prompts/c.md:1:3: at <.Titel>: can't evaluate field Titel"},
		"function":    {map[string]string{"a.md": "{{exec \"rm\"}}"}, `a.md:1:1: function "exec" not defined`},
		"run time":    {map[string]string{"a.md": "\n{{index .Gates 7}}"}, "a.md:2:"},
		"circle":      {map[string]string{"execute.md": "{{template \"a\" .}}", "a.md": "{{template \"a\" .}}"}, "exceeded maximum template depth"},
		"nil":         {map[string]string{"a.md": "{{.Rollback.Reason}}"}, "a.md:1:"},
		"name":        {map[string]string{"execute.txt": "", "a b.md": ""}, "a b.md: a template is named with letters, digits, _ and -, and ends in .md\n.github/reprise/prompts/execute.txt: a template"},
		"language":    {map[string]string{"jp/execute.md": ""}, "jp: not a file; folders are named after a language (en, ja)"},
		"size":        {map[string]string{"a.md": strings.Repeat("x", maxTemplate+1)}, "a.md: larger than 65536 bytes"},
		"largest":     {map[string]string{"a.md": strings.Repeat("x", maxTemplate)}, ""},
		"bytes":       {map[string]string{"en/a.md": "\xff"}, "en/a.md: not UTF-8 text"},
		"long loop":   {map[string]string{"a.md": "{{range 9999999999}}{{if false}}x{{end}}{{end}}"}, "a.md: more than 1048576 pieces of text and turns of loops"},
		"many calls":  {map[string]string{"a.md": `{{define "b"}}{{range 9999}}{{end}}{{end}}{{range 9999}}{{template "b"}}{{end}}`}, "a.md: more than 1048576 pieces of text and turns of loops"},
		"prompt size": {map[string]string{"a.md": "{{printf \"%1000000d%1000000d%1000000d\" 1 1 1}}"}, "a.md: larger than 2097152 bytes"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Load(folder(t, tt.files), "en")
			if tt.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("Load: %v, want %s", err, tt.want)
			}
		})
	}
}

func TestLoadErrors(t *testing.T) {
	if _, err := Load(nil, "fr"); err == nil || !strings.Contains(err.Error(), `no language "fr"; known: en, ja`) {
		t.Errorf("unknown language: %v", err)
	}
	dir := t.TempDir()
	testenv.Must(t, errors.Join(os.Mkdir(filepath.Join(dir, "prompts"), 0o755), os.Symlink("/etc/passwd", filepath.Join(dir, "prompts", "execute.md"))))
	if _, err := Load(os.DirFS(dir), "en"); err == nil || !strings.Contains(err.Error(), "execute.md: not a file") {
		t.Errorf("link: %v", err)
	}
	if _, err := Load(unreadable{}, "en"); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("unreadable folder: %v", err)
	}
	if _, err := Load(os.DirFS(filepath.Join(dir, "none")), "en"); err != nil {
		t.Errorf("no folder: %v", err)
	}
}

type unreadable struct{}

func (unreadable) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
}

func TestFreeze(t *testing.T) {
	for _, language := range metadata.Languages() {
		before, err := Load(fstest.MapFS{"prompts/own.md": {Data: []byte("Own {{.Phase}}")}}, language)
		testenv.Must(t, err)
		files := before.Files()
		after, err := FromFiles(language, files)
		testenv.Must(t, err)
		if d := cmp.Diff(files, after.Files()); d != "" {
			t.Errorf("files (-before +after):\n%s", d)
		}
		for name, d := range variants() {
			template, _, _ := strings.Cut(name, "-")
			a, err := before.Render(template, d)
			testenv.Must(t, err)
			if b, err := after.Render(template, d); err != nil || a != b {
				t.Errorf("%s %s: the frozen set renders differently, %v", language, name, err)
			}
		}
		files["execute.md"] = "changed"
		if before.Files()["execute.md"] == "changed" {
			t.Error("Files gives out the map of the set")
		}
	}
	if _, err := FromFiles("fr", nil); err == nil {
		t.Error("FromFiles took an unknown language")
	}
	files := mustLoad(t, "en").Files()
	delete(files, "revise.md")
	files["x y.md"] = ""
	_, err := FromFiles("en", files)
	if want := "revise.md: missing from the templates of the run\nx y.md: a template"; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("FromFiles: %v, want %s", err, want)
	}
}

func FuzzLoad(f *testing.F) {
	for _, text := range mustLoad(f, "en").Files() {
		f.Add(text)
	}
	f.Add("{{with $x := .Issue}}{{range $i, $l := $x.Labels}}{{$l.X}}{{else}}{{.Y}}{{end}}{{end}}{{define \"a\"}}{{.}}{{end}}{{template \"a\"}}")
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Load(fstest.MapFS{"prompts/execute.md": {Data: []byte(text)}}, "en")
		if err == nil {
			// What loads may still fail with some data, but only with an error.
			s.Render("execute", task("execute"))
			return
		}
		var m pipelines.Mistakes
		if !errors.As(err, &m) {
			t.Errorf("Load(%q): %v, want Mistakes", text, err)
		}
	})
}

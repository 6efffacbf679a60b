package prompts

import (
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"text/template"
	"unicode/utf8"

	"github.com/reprise-ci/reprise/pipelines"
)

//go:embed builtin
var builtin embed.FS

// ownFolder is where people find the templates of a repository.
const ownFolder = ".github/reprise/prompts"

// maxTemplate is the largest template, in bytes.
const maxTemplate = 64 << 10

// steps are the templates that every set has, those that begin a session first.
func steps() []string { return []string{"execute", "review", "revise", "retry"} }

// Languages lists the languages that reprise speaks.
func Languages() []string { return []string{"en", "ja"} }

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

// Load returns the built-in templates of a language with the overrides, which may be nil, in their place by
// file name: at the top of the folder for every language, or in a folder named after one, which wins.
// Each template is carried out with sample data; mistakes are pipelines.Mistakes.
func Load(overrides fs.FS, language string) (*Set, error) {
	if err := checkLanguage(language); err != nil {
		return nil, err
	}
	sources := map[string]source{}
	var found pipelines.Mistakes
	for _, from := range []struct {
		fsys fs.FS
		dir  string
	}{{builtin, path.Join("builtin", language)}, {overrides, "."}, {overrides, language}} {
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
	if !slices.Contains(Languages(), language) {
		return fmt.Errorf("prompts: no language %q; known: %s", language, strings.Join(Languages(), ", "))
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
		if m := add(sources, name, name, files[name]); m != nil {
			found = append(found, *m)
		}
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

// has reports whether Render takes a template of that name.
func (s *Set) has(name string) bool { _, ok := s.files[name+".md"]; return ok }

// overlay puts the templates of one folder into sources. A folder that does not
// exist holds none.
func overlay(sources map[string]source, from fs.FS, dir string) (pipelines.Mistakes, error) {
	entries, err := fs.ReadDir(from, dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var found pipelines.Mistakes
	for _, e := range entries {
		file := path.Join(dir, e.Name())
		shown := path.Join(ownFolder, file) // what is built in has no mistakes
		if passedOver(e, dir) {
			continue
		}
		if !e.Type().IsRegular() {
			found = append(found, pipelines.Mistake{File: shown, Message: "not a file; folders are named after a language (" + strings.Join(Languages(), ", ") + "), and links are not followed"})
			continue
		}
		text, err := readLimited(from, file)
		if err != nil {
			return nil, err
		}
		if m := add(sources, shown, e.Name(), text); m != nil {
			found = append(found, *m)
		}
	}
	return found, nil
}

func passedOver(e fs.DirEntry, dir string) bool {
	return strings.HasPrefix(e.Name(), ".") || strings.EqualFold(e.Name(), "README.md") ||
		dir == "." && e.IsDir() && slices.Contains(Languages(), e.Name())
}

// readLimited reads a file, and of one that is too large just enough to tell.
func readLimited(fsys fs.FS, name string) (string, error) {
	f, err := fsys.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxTemplate+1))
	return strings.TrimPrefix(string(text), "\ufeff"), err // as some editors begin a file
}

// add puts one template into sources, or says what is wrong with its file.
func add(sources map[string]source, file, name, text string) *pipelines.Mistake {
	base, ok := strings.CutSuffix(name, ".md")
	if !ok || base == "" || strings.Trim(base, "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_-") != "" {
		return &pipelines.Mistake{File: file, Message: "a template is named with letters, digits, _ and -, and ends in .md"}
	}
	if len(text) > maxTemplate {
		return &pipelines.Mistake{File: file, Message: fmt.Sprintf("larger than %d bytes, the most a template may have", maxTemplate)}
	}
	if !utf8.ValidString(text) {
		return &pipelines.Mistake{File: file, Message: "not UTF-8 text"}
	}
	text = strings.TrimPrefix(text, "\uFEFF")
	sources[base] = source{file, strings.ReplaceAll(text, "\r\n", "\n")}
	return nil
}

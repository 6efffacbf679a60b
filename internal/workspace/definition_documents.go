package workspace

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/pipelines"
)

// Document is the artifact of a phase that people have written.
type Document struct {
	Path string // from the top of the repository
	Text []byte
}

// mostDocument is the size that a document may have, in bytes.
const mostDocument = 1 << 20

// Documents gives what people have written for phases of a plan: files that the plan
// names, as committed gives them, and those of the command line, each as PHASE=PATH, as
// here gives them, which count over those. All mistakes come at once.
func Documents(plan *pipelines.Pipeline, asked []string, committed, here func(path string) ([]byte, error)) (map[string]Document, error) {
	all, wrong, own := map[string]Document{}, pipelines.Mistakes{}, map[string]bool{}
	take := func(at pipelines.Mistake, phase, name string, read func(string) ([]byte, error)) {
		text, why := document(plan, phase, name, read)
		if at.Message = why; why != "" {
			wrong = append(wrong, at)
		}
		all[phase] = Document{name, text}
	}
	for _, a := range asked {
		at := pipelines.Mistake{Path: "--doc " + a}
		phase, name, ok := strings.Cut(a, "=")
		switch {
		case !ok || phase == "" || name == "":
			at.Message = "expected PHASE=PATH, such as design=docs/design.md"
			wrong = append(wrong, at)
		case own[phase]:
			at.Message = "there is another document for " + phase
			wrong = append(wrong, at)
		default:
			own[phase] = true
			take(at, phase, name, here)
		}
	}
	for _, phase := range slices.Sorted(maps.Keys(plan.Documents)) {
		if p := plan.Phase(phase); !own[phase] && (p != nil || plan.Part.IsZero()) { // else it is left out, and its document with it
			take(pipelines.Mistake{File: plan.Source, Path: "given." + phase}, phase, plan.Documents[phase], committed)
		}
	}
	if len(wrong) > 0 {
		return nil, wrong
	}
	return all, nil
}

// document reads a document, or says what is wrong with it.
func document(plan *pipelines.Pipeline, phase, name string, read func(string) ([]byte, error)) ([]byte, string) {
	var names []string
	for _, p := range plan.Phases {
		names = append(names, p.Name)
	}
	if !slices.Contains(names, phase) {
		return nil, fmt.Sprintf("no phase %q, %s", phase, pipelines.MustBeOneOf(phase, names))
	}
	if p := plan.Phase(phase); p.Access == pipelines.AccessTree {
		return nil, fmt.Sprintf("the work of %s is a change of the code, which no document can be", phase)
	}
	if why := pipelines.BadDocument(name); why != "" {
		return nil, fmt.Sprintf("%q %s", name, why)
	}
	text, err := read(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Sprintf("there is no file %s", name)
	case errors.Is(err, folders.ErrNoFile):
		return nil, fmt.Sprintf("%s is no file, or a symbolic link to one; name the file itself", name)
	case err != nil:
		return nil, fmt.Sprintf("%s cannot be read: %s", name, pipelines.OneLine(err.Error()))
	case len(text) > mostDocument:
		return nil, fmt.Sprintf("%s has %d bytes, expected at most %d", name, len(text), mostDocument)
	case !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0:
		return nil, fmt.Sprintf("%s is no text in UTF-8", name)
	case len(bytes.TrimSpace(text)) == 0:
		return nil, fmt.Sprintf("%s is empty", name)
	}
	return text, ""
}

// DocumentIn reads a document of people as it lies in a repository: an ordinary file, in
// folders. A link could lead to what nobody means to hand on, such as the settings of git.
func DocumentIn(repository, name string) ([]byte, error) {
	root, err := os.OpenRoot(repository)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }() // opened for reading
	if _, err := root.Lstat(name); err != nil {
		return nil, err
	}
	if folders.Beyond(root, name) {
		return nil, errors.New("it lies behind a symbolic link; name the file itself")
	}
	data, err := folders.ReadFile(root, name, mostDocument)
	if errors.Is(err, folders.ErrNoFile) {
		return nil, errors.New("it is no file, or a symbolic link to one; name the file itself")
	}
	return data, err
}

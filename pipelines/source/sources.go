// Package source reads pipelines from the files that people write: it finds them by their
// names, evaluates them, and reports every mistake with file, line and column. What it hands
// out is a pipelines.Pipeline, which is plain data: who goes by a pipeline need not know CUE.
// A pipeline of a repository is a program that somebody else wrote, so it is evaluated in a
// child process with limits on time, memory and input.
package source

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/pipelines/builtin"
)

// Sources is where pipelines are looked for: first in a repository, then
// among those that are built in.
type Sources struct {
	// Path is a file to use instead of looking for a name; empty for none.
	// It has to come from the person at the terminal or the workflow, never
	// from an issue.
	Path string
	// Repo is the folder .github/reprise of the default branch; nil if there
	// is none.
	Repo fs.FS
	// Evaluator evaluates what does not come with reprise.
	Evaluator Evaluator
}

// Where pipelines of a repository lie, inside Repo and as people know it.
const (
	repoFolder = "pipelines"
	repoPath   = ".github/reprise/pipelines/"
	configName = "config" // of the file with the settings of a repository, without its ending
)

// Names lists what can be named: the pipelines of the repository in
// alphabetical order, then those built-in ones that it does not replace.
func (s Sources) Names() ([]string, error) {
	names, err := s.OwnNames()
	if err != nil {
		return nil, err
	}
	for _, b := range builtin.Names() {
		if !slices.Contains(names, b) {
			names = append(names, b)
		}
	}
	return names, nil
}

// OwnNames lists the pipelines of the repository in alphabetical order.
func (s Sources) OwnNames() ([]string, error) {
	if s.Repo == nil {
		return nil, nil
	}
	entries, err := fs.ReadDir(s.Repo, repoFolder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list the pipelines of the repository: %w", err)
	}
	var names []string
	for _, e := range entries {
		if name, ok := IsFile(e.Name()); ok && !e.IsDir() {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// Shadowed gives a mistake for each file of the repository that is never read,
// as another one with the same name and an ending that is asked for sooner is
// beside it.
func (s Sources) Shadowed() (pipelines.Mistakes, error) {
	names, err := s.OwnNames()
	if err != nil {
		return nil, err
	}
	var found pipelines.Mistakes
	for _, name := range append(names, path.Join("..", configName)) {
		first := ""
		for _, ext := range FileEndings() {
			var err error = fs.ErrNotExist
			if s.Repo != nil {
				_, err = fs.Stat(s.Repo, path.Join(repoFolder, name+ext))
			}
			switch {
			case errors.Is(err, fs.ErrNotExist):
			case err != nil:
				return nil, fmt.Errorf("pipeline %q: %w", name, err)
			case first == "":
				first = name + ext
			default:
				found = append(found, pipelines.Mistake{File: path.Clean(repoPath + name + ext), Message: fmt.Sprintf("never read, as %s has the same name; rename or remove one of the two", path.Base(first))})
			}
		}
	}
	return found, nil
}

// UnknownError says that there is no pipeline of a name.
type UnknownError struct {
	Name  string
	Known []string // names that there are
}

// Error says which were expected, or which one was probably meant.
func (e *UnknownError) Error() string {
	return fmt.Sprintf("no pipeline %q, %s", e.Name, pipelines.MustBeOneOf(e.Name, e.Known))
}

// IsFile reports whether a file in the folder of pipelines is one of them, and
// gives the name by which it is asked for.
func IsFile(name string) (pipeline string, ok bool) {
	ext := path.Ext(name)
	return strings.TrimSuffix(name, ext), slices.Contains(FileEndings(), ext)
}

// Load finds a pipeline by its name, evaluates and checks it. A name may have
// one of the pipeline's presets behind a slash, as in "full/quick-fix". Where
// Sources has a Path the name only says the preset, and may be empty. Mistakes
// in a pipeline come back as Errors, all of them at once.
func Load(ctx context.Context, s Sources, name string) (*pipelines.Pipeline, error) {
	name, preset, _ := strings.Cut(name, "/")
	var first file
	var err error
	if s.Path != "" {
		first, err = readPath(s.Path)
	} else {
		first, err = s.find(name)
	}
	if err != nil {
		return nil, err
	}
	p, err := s.load(ctx, first)
	if err != nil || preset == "" {
		return p, err
	}
	return pipelines.Preset(p, preset)
}

// load evaluates a file, together with those it builds on.
func (s Sources) load(ctx context.Context, first file) (*pipelines.Pipeline, error) {
	config, err := s.config()
	if err != nil {
		return nil, err
	}
	files, size := []file{first}, len(first.Text)
	if config != nil {
		size += len(config.Text)
	}
	for {
		if size > maxInput {
			return nil, pipelines.Mistakes{{File: first.Name, Message: fmt.Sprintf("%d bytes, expected at most %d", size, maxInput)}}
		}
		e, err := s.evaluator(files, config)
		if err != nil {
			return nil, err
		}
		r, err := e.do(ctx, first.Name, request{Files: files, Config: config})
		if err != nil {
			return nil, err
		}
		if r.Missing == nil {
			return r.Pipeline, nil
		}
		base, err := s.base(files, *r.Missing)
		var wrong pipelines.Mistakes
		if errors.As(err, &wrong) {
			return nil, append(wrong, r.Mistakes...).Sorted()
		}
		if err != nil {
			return nil, err
		}
		files, size = append(files, base), size+len(base.Text)
	}
}

// evaluator trusts what reprise itself brings along, and nothing else.
func (s Sources) evaluator(files []file, config *file) (Evaluator, error) {
	if config != nil {
		files = append(slices.Clip(files), *config)
	}
	for _, f := range files {
		if !f.Own {
			if len(s.Evaluator.Argv) == 0 {
				return Evaluator{}, fmt.Errorf("evaluate %s: no process to do it in; set Evaluator.Argv", f.Name)
			}
			return s.Evaluator, nil
		}
	}
	return Evaluator{}, nil
}

// base finds the pipeline that the last of the files builds on. A pipeline
// that builds on its own name means the one it replaces, which is built in.
func (s Sources) base(files []file, missing pipelines.Mistake) (file, error) {
	name := missing.Message
	if len(files) == maxChain {
		missing.Message = fmt.Sprintf("more than %d pipelines build on one another", maxChain)
		return file{}, pipelines.Mistakes{missing}
	}
	base, err := s.find(name)
	if err == nil && slices.Contains(files, base) {
		if base, err = findBuiltin(name); err != nil || slices.Contains(files, base) {
			err = fmt.Errorf("%q in turn builds on this one", name)
		}
	}
	if err != nil {
		missing.Message = err.Error()
		return file{}, pipelines.Mistakes{missing}
	}
	return base, nil
}

// find reads the pipeline of that name.
func (s Sources) find(name string) (file, error) {
	names, err := s.Names()
	if err != nil {
		return file{}, err
	}
	if !slices.Contains(names, name) {
		return file{}, &UnknownError{Name: name, Known: names}
	}
	if s.Repo != nil {
		for _, ext := range FileEndings() {
			f, err := s.Repo.Open(path.Join(repoFolder, name+ext))
			if errors.Is(err, fs.ErrNotExist) {
				continue
			}
			if err != nil {
				return file{}, fmt.Errorf("pipeline %q: %w", name, err)
			}
			return read(f, repoPath+name+ext)
		}
	}
	return findBuiltin(name)
}

// readPath reads a file that somebody named by its path.
func readPath(name string) (file, error) {
	if !slices.Contains(FileEndings(), path.Ext(name)) {
		return file{}, fmt.Errorf("%s: no pipeline file, expected a name that ends in %s", name, strings.Join(FileEndings(), ", "))
	}
	// Checked before it is opened: opening a pipe would wait for a writer.
	info, err := os.Stat(name)
	if err != nil {
		return file{}, err
	}
	if !info.Mode().IsRegular() {
		return file{}, fmt.Errorf("%s: not a regular file", name)
	}
	f, err := os.Open(name)
	if err != nil {
		return file{}, err
	}
	return read(f, name)
}

// read takes no more from f than could be a pipeline, and closes it.
func read(f fs.File, name string) (file, error) {
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxInput+1))
	if err != nil {
		return file{}, fmt.Errorf("%s: %w", name, err)
	}
	if len(data) > maxInput {
		return file{}, pipelines.Mistakes{{File: name, Message: fmt.Sprintf("too large, expected at most %d bytes", maxInput)}}
	}
	return file{Name: name, Text: string(data)}, nil
}

// config reads the settings of the repository; nil if it has none.
func (s Sources) config() (*file, error) {
	if s.Repo == nil {
		return nil, nil
	}
	for _, ext := range FileEndings() {
		f, err := s.Repo.Open(configName + ext)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("the settings of the repository: %w", err)
		}
		found, err := read(f, path.Join(path.Dir(path.Clean(repoPath)), configName+ext))
		return &found, err
	}
	return nil, nil
}

// UsualPipeline gives the pipeline that the settings of the repository name for issues
// that nothing else decides about, or "". Mistakes in the settings come back as Errors,
// and so does a name that no pipeline has.
func (s Sources) UsualPipeline(ctx context.Context) (string, error) {
	config, err := s.config()
	if err != nil || config == nil {
		return "", err
	}
	if len(s.Evaluator.Argv) == 0 {
		return "", fmt.Errorf("evaluate %s: no process to do it in; set Evaluator.Argv", config.Name)
	}
	r, err := s.Evaluator.do(ctx, config.Name, request{Config: config})
	if err != nil || r.Usual == nil {
		return "", err
	}
	names, err := s.Names()
	if err != nil {
		return "", err
	}
	if name, _, _ := strings.Cut(r.Usual.Message, "/"); name != pipelines.Auto && !slices.Contains(names, name) {
		wrong := *r.Usual
		wrong.Message = fmt.Sprintf("no pipeline %q, %s", name, pipelines.MustBeOneOf(name, names))
		return "", pipelines.Mistakes{wrong}
	}
	return r.Usual.Message, nil
}

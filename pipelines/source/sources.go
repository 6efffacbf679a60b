// Package source reads pipelines from the files that people write: it finds, evaluates and checks them,
// in a child process with limits, as they are programs of others. What it gives is plain data.
package source

import (
	"cmp"
	"context"
	"errors"
	"fmt"
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
	// Path is a file to use instead of looking for a name; it never comes from an issue.
	Path string
	// Repo is the folder .github/reprise of the default branch; nil if there
	// is none.
	Repo fs.FS
	// Trusted is that folder of the default branch, whose policy holds also where Repo is another. May be nil.
	Trusted fs.FS
	// Policy is a further file with a policy, by its path; empty: none.
	Policy string
	unheld bool // policies are not asked

	// Evaluator evaluates what does not come with reprise.
	Evaluator Evaluator
}

// Where pipelines of a repository lie, inside Repo and as people know it.
const (
	repoFolder = "pipelines"
	repoPath   = ".github/reprise"
	configName = "config" // of the file with the settings of a repository, without its ending
)

// noFile is wrong with what another file stands behind.
const noFile = "not a file; put the file itself there, as links are not followed"

// names lists what can be named: the pipelines of the repository in
// alphabetical order, then those built-in ones that it does not replace.
func (s Sources) names() ([]string, error) {
	files, _, err := s.files(repoFolder)
	names := namesOf(files)
	for _, b := range builtin.Names() {
		if !slices.Contains(names, b) {
			names = append(names, b)
		}
	}
	return names, err
}

func namesOf(files []file) (names []string) {
	for _, f := range files {
		names = append(names, called(f.Name))
	}
	return names
}

// called is the name by which others extend a file.
func called(file string) string {
	if path.Dir(file) == vendorPath {
		return vendorFolder + "/" + nameOf(file)
	}
	return nameOf(file)
}

// files gives what can be read of a folder, in the order of the names: of the files with one name the
// one whose ending is asked for first. The others are mistakes.
func (s Sources) files(folder string) (found []file, shadowed pipelines.Mistakes, err error) {
	entries, err := entriesOf(s.Repo, folder)
	if err != nil {
		return nil, nil, err
	}
	for _, ext := range fileEndings() {
		for _, e := range entries {
			name := strings.TrimSuffix(e.Name(), ext)
			if path.Ext(e.Name()) != ext || e.IsDir() || folder == "." && name != configName || folder == vendorFolder && e.Name() == VendorSources {
				continue
			}
			f, err := readIn(s.Repo, path.Join(folder, e.Name()), e)
			switch i := slices.IndexFunc(found, func(f file) bool { return nameOf(f.Name) == name }); {
			case errors.As(err, new(pipelines.Mistakes)) && folder != ".":
				shadowed = append(shadowed, pipelines.Mistake{File: f.Name, Message: noFile})
			case err != nil:
				return nil, nil, err
			case i >= 0:
				shadowed = append(shadowed, pipelines.Mistake{File: f.Name, Message: fmt.Sprintf("never read, as %s has the same name; rename or remove one of the two", path.Base(found[i].Name))})
			default:
				found = append(found, f)
			}
		}
	}
	slices.SortFunc(found, func(a, b file) int { return strings.Compare(nameOf(a.Name), nameOf(b.Name)) })
	return found, shadowed, nil
}

// entriesOf lists a folder of a repository, which may be nil. There is nothing in one that does not exist.
func entriesOf(repo fs.FS, folder string) ([]fs.DirEntry, error) {
	if repo == nil {
		return nil, nil
	}
	entries, err := fs.ReadDir(repo, folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("list the folder %s of the repository: %w", path.Join(repoPath, folder), err)
	}
	return entries, nil
}

// readIn reads a file of a repository. To be no file is a mistake.
func readIn(repo fs.FS, name string, e fs.DirEntry) (file, error) {
	where := path.Join(repoPath, name)
	if !e.Type().IsRegular() {
		return file{Name: where}, pipelines.Mistakes{{File: where, Message: noFile}}
	}
	data, err := fs.ReadFile(repo, name)
	return newFile(where, data), err
}

// Shadowed gives a mistake for each file of the repository that another one of its name hides.
func (s Sources) Shadowed() (pipelines.Mistakes, error) {
	_, own, err := s.files(repoFolder)
	_, others, bad := s.files(vendorFolder)
	_, config, wrong := s.files(".")
	return slices.Concat(own, others, config), cmp.Or(err, bad, wrong)
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

// find gives the file of that name, or else what is built in.
func find(name string, files []file) (file, error) {
	if i := slices.Index(namesOf(files), name); i >= 0 {
		return files[i], nil
	}
	text, ok := builtin.Text(name)
	if !ok {
		return file{}, &UnknownError{Name: name, Known: append(namesOf(files), builtin.Names()...)}
	}
	return file{Name: builtin.Prefix + name, Text: text, Own: true}, nil
}

// IsFile reports whether a file in the folder of pipelines is one of them, and
// gives the name by which it is asked for.
func IsFile(name string) (pipeline string, ok bool) {
	ext := path.Ext(name)
	return strings.TrimSuffix(name, ext), slices.Contains(fileEndings(), ext)
}

// Load finds a pipeline by its name, or NAME/PRESET, evaluates and checks it. With a Path the name only
// says the preset. Mistakes come back as pipelines.Mistakes, all at once.
func Load(ctx context.Context, s Sources, name string) (*pipelines.Pipeline, error) {
	name, preset, _ := strings.Cut(name, "/")
	files, _, err := s.files(repoFolder)
	others, _, wrong := s.files(vendorFolder)
	if err = cmp.Or(err, wrong); err != nil {
		return nil, err
	}
	first, err := find(name, files)
	if s.Path != "" {
		first, err = readPath(s.Path)
	}
	config, bad := s.config()
	policies, wrong := s.policies()
	if err = cmp.Or(err, bad, wrong); err != nil {
		return nil, err
	}
	r, err := s.ask(ctx, first, request{Files: slices.Concat([]file{first}, files, others), Config: config, Policies: policies})
	if err != nil || preset == "" {
		return r.Pipeline, err
	}
	return pipelines.Preset(r.Pipeline, preset)
}

// ask has something evaluated that begins with a file. It trusts what reprise itself brings along, and nothing else.
func (s Sources) ask(ctx context.Context, first file, req request) (response, error) {
	packages, err := s.packages()
	switch req.Packages = packages; {
	case err != nil:
		return response{}, fmt.Errorf("read the packages of the repository: %w", err)
	case first.Own && req.Config == nil && len(req.Policies) == 0:
		s.Evaluator = Evaluator{}
	case len(s.Evaluator.Argv) == 0:
		return response{}, fmt.Errorf("evaluate %s: no process to do it in; set Evaluator.Argv", first.Name)
	}
	return s.Evaluator.do(ctx, first.Name, req)
}

// readPath reads a file that somebody named by its path.
func readPath(name string) (file, error) {
	if !slices.Contains(fileEndings(), path.Ext(name)) {
		return file{}, fmt.Errorf("%s: no pipeline file, expected a name that ends in %s", name, strings.Join(fileEndings(), ", "))
	}
	// Checked before it is opened: opening a pipe would wait for a writer.
	info, err := os.Stat(name)
	if err != nil {
		return file{}, fmt.Errorf("pipeline file: %w; one in .github/reprise goes by its name alone", err)
	}
	if !info.Mode().IsRegular() {
		return file{}, fmt.Errorf("%s: not a regular file", name)
	}
	data, err := os.ReadFile(name)
	return newFile(name, data), err
}

// newFile keeps hardly more of a text than could be a pipeline.
func newFile(name string, text []byte) file {
	text = text[:min(len(text), maxInput+1)]
	return file{Name: name, Text: strings.TrimPrefix(string(text), "\ufeff")} // as some editors begin a file
}

// config reads the settings of the repository; nil if it has none.
func (s Sources) config() (*file, error) {
	found, _, err := s.files(".")
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return &found[0], nil
}

// UsualPipeline gives the pipeline that the settings of the repository name, or "".
func (s Sources) UsualPipeline(ctx context.Context) (string, error) {
	config, err := s.config()
	known, wrong := s.names()
	if err = cmp.Or(err, wrong); err != nil || config == nil {
		return "", err
	}
	r, err := s.ask(ctx, *config, request{Config: config, Known: known})
	return r.Usual, err
}

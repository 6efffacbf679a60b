package workspace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/internal/issue"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

// promptsFile is the file in the run's folder that has the frozen prompts.
const promptsFile = "prompts.json"

// freeze gives the files that fix what a run works on and by which rules, and their digest.
func (d Definition) freeze(is issue.Issue) (files map[string][]byte, digest string, err error) {
	plan, err := pipelines.Format(d.Plan)
	if err != nil {
		return nil, "", err
	}
	words, err := json.MarshalIndent(d.Words.Files(), "", "  ")
	if err != nil {
		return nil, "", err
	}
	words = append(words, '\n')
	if files, err = freezeIssue(is); err != nil {
		return nil, "", err
	}
	folder := phases.Folder(is.ID)
	files[path.Join(folder, ".gitattributes")] = []byte(generated)
	files[path.Join(folder, phases.PipelineFile)], files[path.Join(folder, promptsFile)] = plan, words
	return files, digestOf(plan, words), nil
}

// freezeIssue gives the files that fix what a run works on.
func freezeIssue(is issue.Issue) (map[string][]byte, error) {
	folder := phases.Folder(is.ID)
	files := map[string][]byte{path.Join(folder, phases.IssueFile): is.Markdown()}
	if len(is.Discussion.Comments) == 0 {
		return files, nil
	}
	said, err := is.Discussion.JSON()
	files[path.Join(folder, phases.DiscussionFile)] = said
	return files, err
}

// generated has GitHub fold the files of a run's folder in pull requests.
const generated = "* linguist-generated\n"

// digestOf covers the frozen pipeline and prompts.
func digestOf(plan, words []byte) string {
	return pipelines.Digest(append(append([]byte{}, plan...), words...))
}

// thaw reads back what freeze made, and refuses it if it is not what the record says.
func thaw(run metadata.Run, read func(name string) ([]byte, error)) (d Definition, _ issue.Issue, err error) {
	is := issue.Issue{
		ID: run.IssueNumber, Title: run.IssueTitle, URL: run.IssueURL, Author: run.Issue.Author, Labels: run.Issue.Labels,
	}
	folder := phases.Folder(run.IssueNumber)
	var files [3][]byte
	for i, name := range []string{phases.PipelineFile, promptsFile, phases.IssueFile} {
		data, err := read(path.Join(folder, name))
		if err != nil {
			return d, is, fmt.Errorf("the run's folder is not whole: %w", err)
		}
		files[i] = data
	}
	if got := digestOf(files[0], files[1]); got != run.Pipeline.Digest {
		return d, is, fmt.Errorf("%s or %s was changed by hand on %s (the record says %s, the files give %s): restore them",
			phases.PipelineFile, promptsFile, run.BranchName, run.Pipeline.Digest, got)
	}
	is.Body = issue.ParseKept(files[2])
	if is.Digest() != run.Issue.Digest {
		return d, is, fmt.Errorf("%s was changed by hand on %s: restore it; a run keeps to the issue as it read when it began", phases.IssueFile, run.BranchName)
	}
	is.Images = issue.Kept(run.Issue)
	if is.Discussion, err = thawDiscussion(run, read); err != nil {
		return d, is, err
	}
	if d.Plan, err = pipelines.Parse(files[0]); err != nil {
		return d, is, err
	}
	texts := map[string]string{}
	if err := json.Unmarshal(files[1], &texts); err != nil {
		return d, is, fmt.Errorf("read the frozen prompts: %w", err)
	}
	d.Words, err = prompts.FromFiles(d.Plan.Language, texts)
	return d, is, err
}

func thawDiscussion(run metadata.Run, read func(name string) ([]byte, error)) (issue.Discussion, error) {
	if run.Issue.Discussion == "" {
		return issue.Discussion{}, nil
	}
	data, err := read(path.Join(phases.Folder(run.IssueNumber), phases.DiscussionFile))
	if err != nil {
		return issue.Discussion{}, fmt.Errorf("the run's folder is not whole: %w", err)
	}
	said, err := issue.ParseDiscussion(data)
	if err != nil || said.Digest() != run.Issue.Discussion {
		return said, fmt.Errorf("%s was changed by hand on %s: restore it; a run keeps to what was said when it began", phases.DiscussionFile, run.BranchName)
	}
	return said, nil
}

// Document is the artifact of a phase that people have written.
type Document struct {
	Path string // from the top of the repository
	Text []byte
}

// mostDocument is the size that a document may have, in bytes.
const mostDocument = 1 << 20

// documents gives what people wrote for phases of a plan: files that the plan names, read by committed, and those of
// the command line (PHASE=PATH), read by here, which count over those. All mistakes come at once.
func documents(plan *pipelines.Pipeline, asked []string, committed, here func(path string) ([]byte, error)) (map[string]Document, error) {
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
	names := pipelines.NamesOf(plan.Phases)
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

// documentIn reads an ordinary file of a repository. A link could lead to what nobody hands on, as git's settings.
func documentIn(repository, name string) ([]byte, error) {
	root, err := os.OpenRoot(repository)
	if err != nil {
		return nil, err
	}
	defer root.Close() // opened for reading
	if _, err := root.Lstat(name); err != nil {
		return nil, err
	}
	if folders.Beyond(root, name) {
		return nil, folders.ErrNoFile
	}
	return folders.ReadFile(root, name, mostDocument)
}

package workspace

import (
	"encoding/json"
	"fmt"
	"path"

	"github.com/reprise-ci/reprise/internal/issue"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

// promptsFile is the name of the file in the run's folder that has the frozen
// prompts.
const promptsFile = "prompts.json"

// Freeze gives the files that fix what a run works on and by which rules, and
// their digest.
func (d Definition) Freeze(is issue.Issue) (files map[string][]byte, digest string, err error) {
	plan, err := pipelines.Format(d.Plan)
	if err != nil {
		return nil, "", err
	}
	words, err := json.MarshalIndent(d.Words.Files(), "", "  ")
	if err != nil {
		return nil, "", err
	}
	words = append(words, '\n')
	if files, err = FreezeIssue(is); err != nil {
		return nil, "", err
	}
	folder := phases.Folder(is.ID)
	files[path.Join(folder, ".gitattributes")] = []byte(generated)
	files[path.Join(folder, phases.PipelineFile)], files[path.Join(folder, promptsFile)] = plan, words
	return files, digestOf(plan, words), nil
}

// FreezeIssue gives the files that fix what a run works on.
func FreezeIssue(is issue.Issue) (map[string][]byte, error) {
	folder := phases.Folder(is.ID)
	files := map[string][]byte{path.Join(folder, phases.IssueFile): is.Markdown()}
	if len(is.Discussion.Comments) == 0 {
		return files, nil
	}
	said, err := is.Discussion.JSON()
	files[path.Join(folder, phases.DiscussionFile)] = said
	return files, err
}

// generated has GitHub fold the files of a run's folder where it shows what a pull
// request changes.
const generated = "* linguist-generated\n"

// digestOf covers the frozen pipeline and prompts.
func digestOf(plan, words []byte) string {
	return pipelines.Digest(append(append([]byte{}, plan...), words...))
}

// Thaw reads back what Freeze made, and refuses it if it is not what the
// record says.
func Thaw(run metadata.Run, read func(name string) ([]byte, error)) (Definition, issue.Issue, error) {
	var d Definition
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
	_, is.Body = issue.ParseKept(files[2])
	if is.Digest() != run.Issue.Digest {
		return d, is, fmt.Errorf("%s was changed by hand on %s: restore it; a run keeps to the issue as it read when it began", phases.IssueFile, run.BranchName)
	}
	var err error
	is.Images = run.Issue.Images
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

// thawDiscussion reads back what was said below the issue.
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

package delivery

import (
	"context"
	"crypto/sha1"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/url"
	"strings"

	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/internal/page"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts/clean"
)

// notesLabel is on a pull request that changes the notes on the repository.
const notesLabel = "reprise: notes"

// proposal is a change of the notes on the repository on its way to people: on a branch of
// its own, which begins at the newest commit of the default branch, in a pull request.
type proposal struct {
	*Delivery
	base   string
	branch string
	change metadata.NotesChange
}

// ProposeNotes opens the pull request for the change of the notes that a completed run asks
// for, or brings the open one up to date, and notes that in the record. Branch and pull
// request of a job that was killed are found by their names.
func ProposeNotes(ctx context.Context, d *Delivery, w *workspace.Workspace, run *metadata.Run) (changed bool) {
	c := phases.ToPropose(w.Plan, *run)
	if c == nil || !d.In.Pull || d.Expired() {
		return false
	}
	p := proposal{Delivery: d, base: w.Source.DefaultBranch, change: *c}
	if d.Branch != "" {
		p.base = d.Branch
	}
	p.change.Add, _ = clean.Text(c.Add) // who decides sees all that is added
	p.change.Done = phases.NotesDigest(*c)
	p.branch = fmt.Sprintf("%s%s-%s", phases.NotesBranch, run.IssueNumber, p.change.Done[:8])
	if err := p.deliver(ctx, *run); err != nil {
		d.Voice.Warn(err)
		return false
	}
	next := *c
	next.Number, next.URL, next.Done = p.change.Number, p.change.URL, p.change.Done
	run.NotesChange = &next
	return true
}

// deliver proposes the change, unless the notes have it already.
func (p *proposal) deliver(ctx context.Context, run metadata.Run) error {
	open, err := p.opened(ctx)
	if err != nil || open {
		return err
	}
	old, _, err := p.read(ctx, p.base)
	if err != nil {
		return err
	}
	text := phases.ApplyNotes(old, p.change)
	if text == old {
		return nil
	}
	if len(text) > phases.MostNotes {
		return exit.NotAllowed(metadata.Because("notes_too_long", "path", pipelines.NotesFile, "bytes", len(text), "most", phases.MostNotes))
	}
	if err := p.branchOff(ctx); err != nil {
		return err
	}
	if err := p.write(ctx, text, run); err != nil {
		return err
	}
	title, body := page.NotesPull(run, p.change)
	if p.change.Number != 0 {
		return p.GitHub.UpdatePull(ctx, p.Owner, p.Name, p.change.Number, github.PullText{Title: title, Body: body})
	}
	pull, err := p.GitHub.OpenPull(ctx, p.Owner, p.Name, github.Pull{Head: p.branch, Base: p.base, Title: title, Body: body})
	if err != nil {
		return err
	}
	p.change.Number, p.change.URL = pull.Number, pull.URL
	_, err = p.GitHub.Ask(ctx, p.Owner, p.Name, github.Request{
		What: fmt.Sprintf("put the label %q on pull request %d", notesLabel, pull.Number), Needs: "pull-requests: write", Method: http.MethodPost, Repeatable: true,
		Path: fmt.Sprintf("/issues/%d/labels", pull.Number), Body: map[string]any{"labels": []string{notesLabel}},
	}, nil)
	p.Voice.warnOf(err)
	return nil
}

// opened looks for a pull request of the run. One that proposes this very change is found
// by its branch, whatever became of it. One that proposes another change is the one to go
// on with while it is open; after that it was decided.
func (p *proposal) opened(ctx context.Context) (done bool, err error) {
	var found []struct {
		Number int    `json:"number"`
		URL    string `json:"html_url"`
		Head   struct {
			Ref string `json:"ref"`
		} `json:"head"`
	}
	_, err = p.GitHub.Ask(ctx, p.Owner, p.Name, github.Request{
		What: "find the pull request of " + p.branch, Needs: "pull-requests: read", Method: http.MethodGet,
		Path: "/pulls?state=all&head=" + url.QueryEscape(p.Owner+":"+p.branch),
	}, &found)
	if err != nil {
		return false, err
	}
	for _, f := range found {
		if f.Head.Ref == p.branch { // not every forge looks at the query
			p.change.Number, p.change.URL = f.Number, f.URL
			return true, nil
		}
	}
	if p.change.Number == 0 {
		return false, nil
	}
	pull, err := p.GitHub.Pull(ctx, p.Owner, p.Name, p.change.Number)
	if unlessKind(err, github.NotFound, github.Gone) != nil {
		return false, err
	}
	if err == nil && pull.State == "open" && strings.HasPrefix(pull.Head, phases.NotesBranch) {
		p.branch = pull.Head
	} else {
		p.change.Number, p.change.URL = 0, ""
	}
	return false, nil
}

// read gives the notes as they are on a branch, and the blob that they are; both are empty
// where there are none.
func (p *proposal) read(ctx context.Context, branch string) (text, blob string, err error) {
	data, err := p.GitHub.File(ctx, p.Owner, p.Name, branch, pipelines.NotesFile)
	if errors.Is(err, fs.ErrNotExist) {
		return "", "", nil
	}
	if err != nil {
		return "", "", err
	}
	return string(data), fmt.Sprintf("%x", sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(data), data))), nil
}

// branchOff makes the branch, if it is not there.
func (p *proposal) branchOff(ctx context.Context) error {
	if _, err := p.tip(ctx, p.branch); unlessKind(err, github.NotFound) != nil || err == nil {
		return err
	}
	at, err := p.tip(ctx, p.base)
	if err != nil {
		return err
	}
	_, err = p.GitHub.Ask(ctx, p.Owner, p.Name, github.Request{
		What: "make the branch " + p.branch, Needs: "contents: write", Method: http.MethodPost,
		Path: "/git/refs", Body: map[string]any{"ref": "refs/heads/" + p.branch, "sha": at},
	}, nil)
	if _, unmade := p.tip(ctx, p.branch); err != nil && unmade == nil {
		return nil // the answer was lost
	}
	return err
}

// tip gives the newest commit of a branch.
func (p *proposal) tip(ctx context.Context, branch string) (string, error) {
	var ref struct {
		Object struct {
			SHA string `json:"sha"`
		} `json:"object"`
	}
	_, err := p.GitHub.Ask(ctx, p.Owner, p.Name, github.Request{
		What: "find the newest commit of " + branch, Needs: "contents: read", Method: http.MethodGet,
		Path: "/git/ref/heads/" + (&url.URL{Path: branch}).EscapedPath(),
	}, &ref)
	return ref.Object.SHA, err
}

// write has the branch say what the notes are to be. The one file is all that it changes.
func (p *proposal) write(ctx context.Context, text string, run metadata.Run) error {
	is, blob, err := p.read(ctx, p.branch)
	if err != nil || is == text {
		return err
	}
	body := map[string]any{
		"message": fmt.Sprintf("Change the notes on the repository\n\nProposed by the phase %s of the run of issue %s.", p.change.Phase, run.IssueNumber),
		"content": base64.StdEncoding.EncodeToString([]byte(text)), "branch": p.branch,
	}
	if blob != "" {
		body["sha"] = blob
	}
	_, err = p.GitHub.Ask(ctx, p.Owner, p.Name, github.Request{
		What: fmt.Sprintf("write %s on %s", pipelines.NotesFile, p.branch), Needs: "contents: write", Method: http.MethodPut,
		Path: "/contents/" + pipelines.NotesFile, Body: body,
	}, nil)
	if is, _, unread := p.read(ctx, p.branch); err != nil && unread == nil && is == text {
		return nil // the answer was lost
	}
	return err
}

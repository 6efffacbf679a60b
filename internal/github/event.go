package github

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/google/go-github/v60/github"
)

// maxEvent is the largest payload that GitHub delivers, in bytes.
const maxEvent = 25_000_000

// Event is what woke reprise: something that happened on the forge. What the forge did not say is zero.
type Event struct {
	Name       string // of the kind of event, such as issue_comment
	Action     string // such as created; of a repository_dispatch its event type
	Repository string // owner/name

	DefaultBranch string

	Sender  User              // who did it
	Issue   *Issue            // of issues and issue_comment; for other events nil
	Comment *Comment          // of issue_comment; for other events nil
	Label   string            // of issues: the label that was put on or taken off
	Inputs  map[string]string // of workflow_dispatch, and of repository_dispatch its client payload; never nil
	Pull    *Pull             // of the events of a pull request; for other events nil
	Ran     json.RawMessage   // of workflow_run and check_suite: what has run, as it was sent; of status: all that was
	Review  json.RawMessage   // of pull_request_review: the review as it was sent; of pull_request_review_comment: the comment
}

// sentEvent is what is read of any payload.
type sentEvent struct {
	Action     string `json:"action"`
	Repository struct {
		FullName      string `json:"full_name"`
		DefaultBranch string `json:"default_branch"`
	} `json:"repository"`
	Sender        *github.User    `json:"sender"`
	Issue         json.RawMessage `json:"issue"`
	Comment       json.RawMessage `json:"comment"`
	Label         json.RawMessage `json:"label"`
	Pull          json.RawMessage `json:"pull_request"`
	Review        json.RawMessage `json:"review"`
	Inputs        json.RawMessage `json:"inputs"`
	ClientPayload json.RawMessage `json:"client_payload"`
	WorkflowRun   json.RawMessage `json:"workflow_run"`
	CheckSuite    json.RawMessage `json:"check_suite"`
}

// ReadEvent reads the payload of an event, which is the JSON that GitHub keeps for a workflow or sends to a webhook.
func ReadEvent(name string, payload []byte) (Event, error) {
	e := Event{Name: name, Inputs: map[string]string{}}
	var w sentEvent
	err := e.read(payload, &w)
	if err != nil {
		err = fmt.Errorf("read the event: %w", err)
	}
	return e, err
}

func (e *Event) read(payload []byte, w *sentEvent) error {
	if len(payload) > maxEvent {
		return fmt.Errorf("it has %d bytes; GitHub sends at most %d", len(payload), maxEvent)
	}
	if !strings.HasPrefix(strings.TrimLeft(string(payload[:min(len(payload), 100)]), " \t\r\n"), "{") {
		return errors.New("it is no JSON object: give the file that GITHUB_EVENT_PATH names")
	}
	if err := json.Unmarshal(payload, w); err != nil {
		return fmt.Errorf("it is no event as GitHub sends it: %w", err)
	}
	r := w.Repository
	e.Action, e.Sender, e.Repository, e.DefaultBranch = w.Action, userOf(w.Sender), r.FullName, r.DefaultBranch
	if err := checkName(e.Repository); err != nil {
		return err
	}
	switch e.Name {
	case "issues", "issue_comment":
		return e.readThread(w)
	case "workflow_dispatch":
		return e.readInputs("inputs", w.Inputs)
	case "repository_dispatch":
		return e.readInputs("client_payload", w.ClientPayload)
	case "workflow_run":
		e.Ran = w.WorkflowRun
	case "check_suite":
		e.Ran = w.CheckSuite
	case "status":
		e.Ran = payload
	}
	if !strings.HasPrefix(e.Name, "pull_request") {
		return nil
	}
	var sent github.PullRequest
	err := part("pull_request", w.Pull, &sent)
	pull := pullOf(&sent)
	if e.Pull, e.Review = &pull, w.Review; e.Name == "pull_request_review_comment" {
		e.Review = w.Comment
	}
	return errors.Join(err, checkName(pull.HeadRepository))
}

// readThread reads the issue, and what was written or put on it.
func (e *Event) readThread(w *sentEvent) error {
	var sent typedIssue
	var comment github.IssueComment
	var label github.Label
	err := part("issue", w.Issue, &sent)
	if is := sent.issue(); is.Number > 0 {
		e.Issue = &is
	}
	if e.Name == "issues" {
		err = errors.Join(err, part("label", w.Label, &label))
		e.Label = label.GetName()
		return err
	}
	err = errors.Join(err, part("comment", w.Comment, &comment))
	if c := commentOf(&comment); c.ID > 0 {
		e.Comment = &c
	}
	return err
}

// readInputs keeps text as it is, and anything else as it stands in the payload.
func (e *Event) readInputs(name string, data json.RawMessage) error {
	var given map[string]json.RawMessage
	if err := part(name, data, &given); err != nil {
		return err
	}
	for key, raw := range given {
		var text string
		switch {
		case string(raw) == "null":
		case json.Unmarshal(raw, &text) == nil:
			e.Inputs[key] = text
		default: // it is something, and must not count as nothing
			e.Inputs[key] = string(raw)
		}
	}
	return nil
}

// checkName refuses what is no owner/name of a repository; nothing is one, too.
func checkName(full string) error {
	if owner, name, _ := strings.Cut(full, "/"); full != "" && (!isName(owner) || !isName(name)) {
		return fmt.Errorf("%.200q is no name of a repository: it takes OWNER/NAME", full)
	}
	return nil
}

// part reads one part of a payload; what is not there stays zero.
func part(name string, data json.RawMessage, into any) error {
	if len(data) == 0 {
		return nil
	}
	if err := json.Unmarshal(data, into); err != nil {
		return fmt.Errorf("%s is not as GitHub sends it: %w", name, err)
	}
	return nil
}

package wire

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"strings"
)

// Event is what woke reprise: something that happened on the forge. What the
// forge did not say is zero.
type Event struct {
	Name       string // of the kind of event, such as issue_comment
	Action     string // such as created; of a repository_dispatch its event type
	Repository string // owner/name

	DefaultBranch string
	Private, Fork bool // of the repository

	Sender  User              // who did it
	Issue   *Issue            // of issues and issue_comment; for other events nil
	Comment *Comment          // of issue_comment; for other events nil
	Label   string            // of issues: the label that was put on or taken off
	Inputs  map[string]string // of workflow_dispatch, and of repository_dispatch its client payload; never nil
	Pull    *Pull             // of the events of a pull request; for other events nil
	Ran     json.RawMessage   // of workflow_run and check_suite: what has run, as it was sent; of status: all that was
	Review  json.RawMessage   // of pull_request_review: the review as it was sent; of pull_request_review_comment: the comment
}

// maxEvent is the largest payload that GitHub delivers, in bytes.
const maxEvent = 25_000_000

// ReadEvent reads the payload of an event, which is the JSON that GitHub keeps
// for a workflow or sends to a webhook. Any event can be read; of those that
// do not concern issues only who did what where. Forges differ, so fields may
// be missing and unknown ones are ignored. An error says what does not fit.
func ReadEvent(name string, payload []byte) (Event, error) {
	e := Event{Name: name, Inputs: map[string]string{}}
	if len(payload) > maxEvent {
		return e, fmt.Errorf("read the event: it has %d bytes; GitHub sends at most %d", len(payload), maxEvent)
	}
	if first := bytes.TrimLeft(payload, " \t\r\n"); len(first) == 0 || first[0] != '{' {
		return e, errors.New("read the event: it is no JSON object: give the file that GITHUB_EVENT_PATH names")
	}
	var w wireEvent
	if err := json.Unmarshal(payload, &w); err != nil {
		return e, fmt.Errorf("read the event: %w", unfit("", err))
	}
	e.Action, e.Sender = w.Action, w.Sender.User()
	var err error
	if e.Repository, err = w.Repository.name(); err != nil {
		return e, fmt.Errorf("read the event: %w", err)
	}
	if name == "status" {
		e.Ran = payload
	}
	e.DefaultBranch, e.Private, e.Fork = w.Repository.DefaultBranch, w.Repository.Private, w.Repository.Fork
	if err := e.details(w); err != nil {
		return e, fmt.Errorf("read the event: %w", err)
	}
	return e, nil
}

// details reads what only some events have.
func (e *Event) details(w wireEvent) error {
	switch e.Name {
	case "issues", "issue_comment":
		return e.thread(w)
	case "workflow_dispatch":
		return e.inputs("inputs", w.Inputs)
	case "workflow_run":
		e.Ran = w.WorkflowRun
	case "check_suite":
		e.Ran = w.CheckSuite
	case "repository_dispatch":
		return e.inputs("client_payload", w.ClientPayload)
	}
	if strings.HasPrefix(e.Name, "pull_request") {
		var pull PullForm
		if err := part("pull_request", w.Pull, &pull); err != nil {
			return err
		}
		p := pull.Pull()
		if _, err := (wireRepository{FullName: p.HeadRepository}).name(); err != nil {
			return err
		}
		e.Pull, e.Review = &p, w.Review
		if e.Name == "pull_request_review_comment" {
			e.Review = w.Comment
		}
	}
	return nil
}

// thread reads the issue, and what was written or put on it.
func (e *Event) thread(w wireEvent) error {
	var issue IssueForm
	if err := part("issue", w.Issue, &issue); err != nil {
		return err
	}
	if issue.Number > 0 {
		is := issue.Issue()
		e.Issue = &is
	}
	if e.Name == "issues" {
		var label wireLabel
		err := part("label", w.Label, &label)
		e.Label = label.Name
		return err
	}
	var comment CommentForm
	if err := part("comment", w.Comment, &comment); err != nil {
		return err
	}
	if comment.ID > 0 {
		c := comment.Comment()
		e.Comment = &c
	}
	return nil
}

// inputs keeps text, numbers, and yes or no as they are written on one line of
// a form, and anything else as it stands in the payload.
func (e *Event) inputs(name string, data json.RawMessage) error {
	var given map[string]json.RawMessage
	if err := part(name, data, &given); err != nil {
		return err
	}
	for key, raw := range given {
		var value any
		decoder := json.NewDecoder(bytes.NewReader(raw))
		decoder.UseNumber()
		if err := decoder.Decode(&value); err != nil {
			return fmt.Errorf("%s: %w", name, unfit(key, err)) // unreachable: the whole was read before
		}
		switch v := value.(type) {
		case string:
			e.Inputs[key] = v
		case json.Number:
			e.Inputs[key] = v.String()
		case bool:
			e.Inputs[key] = strconv.FormatBool(v)
		case nil:
		default: // it is something, and must not count as nothing
			e.Inputs[key] = string(raw)
		}
	}
	return nil
}

// wireEvent is what is read of any payload. Of its parts, only those that the
// event is about are looked into.
type wireEvent struct {
	Action        string          `json:"action"`
	Repository    wireRepository  `json:"repository"`
	Sender        AccountForm     `json:"sender"`
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

// wireRepository is a repository as events have it.
type wireRepository struct {
	FullName      string      `json:"full_name"`
	Name          string      `json:"name"`
	Owner         AccountForm `json:"owner"`
	DefaultBranch string      `json:"default_branch"`
	Private       bool        `json:"private"`
	Fork          bool        `json:"fork"`
}

// name gives owner/name; "" if the payload has no repository.
func (w wireRepository) name() (string, error) {
	full := w.FullName
	if full == "" && w.Owner.Login != "" && w.Name != "" {
		full = w.Owner.Login + "/" + w.Name
	}
	if owner, name, _ := strings.Cut(full, "/"); full != "" && (!isName(owner) || !isName(name)) {
		return "", fmt.Errorf("%.200q is no name of a repository: it takes OWNER/NAME", full)
	}
	return full, nil
}

// part reads one part of a payload; what is not there stays zero.
func part(name string, data json.RawMessage, into any) error {
	if len(data) == 0 {
		return nil
	}
	if err := json.Unmarshal(data, into); err != nil {
		return unfit(name, err)
	}
	return nil
}

// unfit says what is wrong with a payload, and where.
func unfit(name string, err error) error {
	var field *json.UnmarshalTypeError
	var syntax *json.SyntaxError
	switch {
	case errors.As(err, &field):
		where := strings.Trim(name+"."+field.Field, ".")
		if where == "" {
			where = "the event"
		}
		return fmt.Errorf("%s is %s, not %s", where, sent(field.Value), wanted(field.Type.Kind()))
	case errors.As(err, &syntax):
		return fmt.Errorf("it is broken JSON at byte %d: %w", syntax.Offset, err)
	}
	return err
}

// sent names what stands in a payload as people do.
func sent(value string) string {
	switch value {
	case "array":
		return "a list"
	case "object":
		return "an object"
	case "string":
		return "text"
	}
	return "a " + value // number, perhaps with its digits, or bool
}

// wanted names what a field takes.
func wanted(kind reflect.Kind) string {
	switch kind {
	case reflect.Int, reflect.Int64:
		return "a whole number"
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "a list"
	}
	return "an object"
}

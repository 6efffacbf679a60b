package shape

import (
	"encoding/json"
	"fmt"
	"maps"

	"github.com/reprise-ci/reprise/internal/github/githubtest/state"
)

// Events are what GitHub sends when something happens.
type Events struct{ Objects }

// Event is one that somebody has caused in a repository: these parts, and what stands in
// all of them.
func (e Events) Event(r *state.Repository, sender string, parts map[string]any) ([]byte, error) {
	repo := e.Repository(r)
	repo["custom_properties"] = object{}
	out := object{"repository": repo, "sender": e.simpleUser(sender)}
	if e.State.Accounts.Of(r.Owner).Kind == "Organization" {
		out["organization"] = e.organization(r.Owner)
	}
	maps.Copy(out, parts)
	data, err := json.Marshal(out)
	if err != nil {
		return nil, fmt.Errorf("encode a payload: %w", err)
	}
	return data, nil
}

// Comment is the event issue_comment: a comment was created, edited or deleted. The sender
// is who wrote the comment, unless another one is named.
func (e Events) Comment(r *state.Repository, c *state.Posted, action, sender string) ([]byte, error) {
	if sender == "" {
		sender = c.Author
	}
	out := object{"action": action, "issue": e.Objects.Issue(r, r.Issues[c.Issue]), "comment": e.Objects.Comment(r, c)}
	if action == "edited" {
		out["changes"] = object{"body": object{"from": "what it was before"}}
	}
	return e.Event(r, sender, out)
}

// Label is the event issues, labeled: somebody has added a label to an issue.
func (e Events) Label(r *state.Repository, is *state.Issue, label, sender string) ([]byte, error) {
	return e.Event(r, sender, object{"action": "labeled", "issue": e.Objects.Issue(r, is), "label": e.Labels(r, []string{label})[0]})
}

// Issue is the event issues: something else has happened to an issue, such as opened or
// closed.
func (e Events) Issue(r *state.Repository, is *state.Issue, action, sender string) ([]byte, error) {
	return e.Event(r, sender, object{"action": action, "issue": e.Objects.Issue(r, is)})
}

// Workflow is the event workflow_dispatch: somebody starts a workflow by hand. Without
// inputs they are null.
func (e Events) Workflow(r *state.Repository, workflow, sender string, inputs map[string]string) ([]byte, error) {
	out := object{"ref": "refs/heads/" + r.DefaultBranch, "workflow": workflow, "inputs": nil}
	if inputs != nil {
		out["inputs"] = inputs
	}
	return e.Event(r, sender, out)
}

// Dispatch is the event repository_dispatch: a program starts workflows. GitHub calls its
// type the action.
func (e Events) Dispatch(r *state.Repository, kind, sender string, payload map[string]any) ([]byte, error) {
	out := object{"action": kind, "branch": r.DefaultBranch, "client_payload": nil, "installation": object{"id": 1, "node_id": state.Node("II", 1)}}
	if payload != nil {
		out["client_payload"] = payload
	}
	return e.Event(r, sender, out)
}

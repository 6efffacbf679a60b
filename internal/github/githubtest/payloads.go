package githubtest

import "github.com/reprise-ci/reprise/internal/github/githubtest/shape"

// payloads are what GitHub sends when something happens.
type payloads struct {
	in     *world
	events shape.Events
}

func (p payloads) made(data []byte, err error) []byte {
	if err != nil {
		p.in.host.Errorf("githubtest: %v", err)
	}
	return data
}

// CommentPayload is what GitHub sends when a comment is created, edited or
// deleted: the event issue_comment. The sender is who wrote the comment,
// unless another one is named.
func (p payloads) CommentPayload(repo string, id int64, action, sender string) []byte {
	p.in.Lock()
	defer p.in.Unlock()
	c := p.in.comment(repo, id)
	if c == nil {
		return nil
	}
	return p.made(p.events.Comment(p.in.repository(repo), c, action, sender))
}

// LabelPayload is what GitHub sends when somebody adds a label to an issue:
// the event issues, labeled. The label is on the issue if it was added there
// before.
func (p payloads) LabelPayload(repo string, number int, label, sender string) []byte {
	p.in.Lock()
	defer p.in.Unlock()
	return p.made(p.events.Label(p.in.repository(repo), p.in.thread(repo, number), label, sender))
}

// IssuePayload is what GitHub sends when something else happens to an issue,
// such as opened or closed: the event issues.
func (p payloads) IssuePayload(repo string, number int, action, sender string) []byte {
	p.in.Lock()
	defer p.in.Unlock()
	return p.made(p.events.Issue(p.in.repository(repo), p.in.thread(repo, number), action, sender))
}

// WorkflowPayload is what GitHub sends when somebody starts a workflow by
// hand: the event workflow_dispatch. The workflow is the path of its file.
// Without inputs they are null.
func (p payloads) WorkflowPayload(repo, workflow, sender string, inputs map[string]string) []byte {
	p.in.Lock()
	defer p.in.Unlock()
	return p.made(p.events.Workflow(p.in.repository(repo), workflow, sender, inputs))
}

// DispatchPayload is what GitHub sends when a program starts workflows: the
// event repository_dispatch. GitHub calls its type the action.
func (p payloads) DispatchPayload(repo, kind, sender string, payload map[string]any) []byte {
	p.in.Lock()
	defer p.in.Unlock()
	return p.made(p.events.Dispatch(p.in.repository(repo), kind, sender, payload))
}

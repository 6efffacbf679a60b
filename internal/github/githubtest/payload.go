package githubtest

import (
	"encoding/json"
	"maps"
)

// CommentPayload is what GitHub sends when a comment is created, edited or
// deleted: the event issue_comment. The sender is who wrote the comment,
// unless another one is named.
func (s *Server) CommentPayload(repo string, id int64, action, sender string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, c := s.repository(repo), s.commentNamed(repo, id)
	if c == nil {
		return nil
	}
	if sender == "" {
		sender = c.Author
	}
	out := object{"action": action, "issue": s.issueObject(r, s.thread(repo, c.issue)), "comment": s.commentObject(r, c)}
	if action == "edited" {
		out["changes"] = object{"body": object{"from": "what it was before"}}
	}
	return s.payload(r, sender, out)
}

// LabelPayload is what GitHub sends when somebody adds a label to an issue:
// the event issues, labeled. The label is on the issue if it was added there
// before.
func (s *Server) LabelPayload(repo string, number int, label, sender string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.repository(repo)
	labels := s.labelObjects(r, []string{label})
	return s.payload(r, sender, object{"action": "labeled", "issue": s.issueObject(r, s.thread(repo, number)), "label": labels[0]})
}

// IssuePayload is what GitHub sends when something else happens to an issue,
// such as opened or closed: the event issues.
func (s *Server) IssuePayload(repo string, number int, action, sender string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.repository(repo)
	return s.payload(r, sender, object{"action": action, "issue": s.issueObject(r, s.thread(repo, number))})
}

// WorkflowPayload is what GitHub sends when somebody starts a workflow by
// hand: the event workflow_dispatch. The workflow is the path of its file.
// Without inputs they are null.
func (s *Server) WorkflowPayload(repo, workflow, sender string, inputs map[string]string) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.repository(repo)
	out := object{"ref": "refs/heads/" + r.DefaultBranch, "workflow": workflow, "inputs": nil}
	if inputs != nil {
		out["inputs"] = inputs
	}
	return s.payload(r, sender, out)
}

// DispatchPayload is what GitHub sends when a program starts workflows: the
// event repository_dispatch. GitHub calls its type the action.
func (s *Server) DispatchPayload(repo, kind, sender string, payload map[string]any) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.repository(repo)
	out := object{"action": kind, "branch": r.DefaultBranch, "client_payload": nil, "installation": object{"id": 1, "node_id": node("II", 1)}}
	if payload != nil {
		out["client_payload"] = payload
	}
	return s.payload(r, sender, out)
}

// payload adds what stands in all of them.
func (s *Server) payload(r *repository, sender string, parts object) []byte {
	out := object{"repository": s.repositoryObject(r), "sender": s.simpleUser(sender)}
	out["repository"].(object)["custom_properties"] = object{}
	if s.account(r.owner).kind == "Organization" {
		out["organization"] = s.organization(r.owner)
	}
	maps.Copy(out, parts)
	data, err := json.Marshal(out)
	if err != nil {
		s.host.Errorf("githubtest: encode a payload: %v", err)
	}
	return data
}

func (s *Server) organization(login string) object {
	api := s.URL + "/orgs/" + login
	return object{
		"login": login, "id": UserID(login), "node_id": node("O", UserID(login)), "url": api, "repos_url": api + "/repos", "events_url": api + "/events",
		"hooks_url": api + "/hooks", "issues_url": api + "/issues", "members_url": api + "/members{/member}",
		"public_members_url": api + "/public_members{/member}", "avatar_url": "https://avatars.githubusercontent.com/u/1?v=4", "description": nil,
	}
}

// Payload is what GitHub sends of an event about the repository.
func (d *Desk) Payload(sender string, parts map[string]any) []byte {
	return d.s.payload(d.r, sender, parts)
}

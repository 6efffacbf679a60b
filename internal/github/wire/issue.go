package wire

import (
	"encoding/json"
	"time"
)

// Issue is an issue as it read when it was asked for.
type Issue struct {
	ID        int64 // in the whole forge; 0 if it gave none
	Number    int
	Title     string
	Body      string // Markdown; line ends may be \r\n
	URL       string // for people; empty if the forge gave none that is safe to keep
	Author    string // login; empty if the account is gone
	Labels    []string
	Type      string // such as "Bug", where issues have types
	State     string // "open" or "closed"
	Locked    bool   // only collaborators may comment
	IsPull    bool   // it is a pull request; every pull request is an issue, too
	UpdatedAt time.Time
}

// IssueForm is what is read of an answer. Forges differ, so nothing that can
// be done without has to be there.
type IssueForm struct {
	ID        int64       `json:"id"`
	Number    int         `json:"number"`
	Title     string      `json:"title"`
	Body      string      `json:"body"`
	URL       string      `json:"html_url"`
	User      AccountForm `json:"user"`
	Labels    []wireLabel `json:"labels"`
	Type      wireLabel   `json:"type"`
	State     string      `json:"state"`
	Locked    bool        `json:"locked"`
	IsLocked  bool        `json:"is_locked"` // so called by Gitea and Forgejo
	Pull      *struct{}   `json:"pull_request"`
	UpdatedAt time.Time   `json:"updated_at"`
}

// Issue gives the issue, with an address that is safe to keep.
func (w IssueForm) Issue() Issue {
	is := Issue{
		ID: w.ID, Number: w.Number, Title: w.Title, Body: w.Body, URL: SafeURL(w.URL), Author: w.User.Login,
		Type: w.Type.Name, State: w.State, Locked: w.Locked || w.IsLocked, IsPull: w.Pull != nil, UpdatedAt: w.UpdatedAt,
	}
	for _, l := range w.Labels {
		if l.Name != "" {
			is.Labels = append(is.Labels, l.Name)
		}
	}
	return is
}

// wireLabel is an object with a name or, in some answers, the name itself; null
// has none.
type wireLabel struct{ Name string }

// UnmarshalJSON reads either form.
func (l *wireLabel) UnmarshalJSON(data []byte) error {
	if len(data) > 0 && data[0] == '"' {
		return json.Unmarshal(data, &l.Name)
	}
	var object struct {
		Name string `json:"name"`
	}
	err := json.Unmarshal(data, &object)
	l.Name = object.Name
	return err
}

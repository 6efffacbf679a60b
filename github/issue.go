package github

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
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

// wireIssue is what is read of an answer. Forges differ, so nothing that can
// be done without has to be there.
type wireIssue struct {
	ID        int64       `json:"id"`
	Number    int         `json:"number"`
	Title     string      `json:"title"`
	Body      string      `json:"body"`
	URL       string      `json:"html_url"`
	User      wireAccount `json:"user"`
	Labels    []wireLabel `json:"labels"`
	Type      wireLabel   `json:"type"`
	State     string      `json:"state"`
	Locked    bool        `json:"locked"`
	IsLocked  bool        `json:"is_locked"` // so called by Gitea and Forgejo
	Pull      *struct{}   `json:"pull_request"`
	UpdatedAt time.Time   `json:"updated_at"`
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

// Issue reads an issue or a pull request. Errors are an *Error, or why ctx was
// cancelled.
func (c *Client) Issue(ctx context.Context, owner, repo string, number int) (Issue, error) {
	t := c.Thread(owner, repo, number)
	path, err := t.path()
	if err != nil {
		return Issue{}, err
	}
	var w wireIssue
	if err := c.get(ctx, "read "+t.String(), "issues: read", path, &w); err != nil {
		return Issue{}, err
	}
	asked := &call{what: "read " + t.String(), tries: 1}
	switch {
	case w.Number == 0:
		return Issue{}, c.manners.unreadable(asked, "what it sent is no issue", nil)
	case w.Number != number: // a redirect led to where it was moved
		return Issue{}, c.manners.problem(asked, Gone, fmt.Sprintf("moved it to number %d of another repository", w.Number), "use that one: "+safeURL(w.URL), nil)
	}
	return w.issue(), nil
}

func (w wireIssue) issue() Issue {
	is := Issue{
		ID: w.ID, Number: w.Number, Title: w.Title, Body: w.Body, URL: safeURL(w.URL), Author: w.User.Login,
		Type: w.Type.Name, State: w.State, Locked: w.Locked || w.IsLocked, IsPull: w.Pull != nil, UpdatedAt: w.UpdatedAt,
	}
	for _, l := range w.Labels {
		if l.Name != "" {
			is.Labels = append(is.Labels, l.Name)
		}
	}
	return is
}

// safeURL lets an address pass that can be shown and kept.
func safeURL(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil {
		return ""
	}
	u.RawQuery, u.Fragment = "", ""
	return u.String()
}

// Package checktest is what runs on the commits of a GitHub in memory: workflow
// runs with their jobs, check runs of other programs, statuses, and logs, which are
// kept on another host.
package checktest

import (
	"cmp"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/github/githubtest"
)

// Check is something that runs on a commit.
type Check struct {
	Name       string
	Workflow   string // the file of the workflow that it is a job of, such as ci.yml; empty: another program made it
	Title      string // of that workflow; empty: as the file
	Status     string // a commit status with this context is meant: success, pending, failure, error; empty: a check run is
	Conclusion string // of a check run: success, failure and so on; empty: it has not ended
	Says       string // of a status
	Notes      []Note
	Log        string // of a job
}

// Note is an annotation.
type Note struct {
	Path           string
	Line           int
	Level, Message string // notice, warning or failure
}

// Checks are those of one repository.
type Checks struct {
	server *githubtest.Server
	repo   string
	logs   *httptest.Server
	// Of the commits; the server's lock guards it.
	on map[string][]*made
	// Posted are the statuses that were given by requests, in their order.
	Posted []Status
	// Tokens are those that were sent to the host of the logs.
	Tokens []string
}

// Status is a commit status as a request has given it.
type Status struct{ Commit, Context, State, Says, Link string }

// made is a check that is there.
type made struct {
	Check
	id, run int64 // its own number, and that of the run of its workflow
	at      time.Time
}

// New has a server keep the checks of a repository.
func New(s *githubtest.Server, repo string, cleanup func(func())) *Checks {
	c := &Checks{server: s, repo: repo, on: map[string][]*made{}}
	c.logs = httptest.NewServer(http.HandlerFunc(c.log))
	cleanup(c.logs.Close)
	s.Extend(http.MethodGet, "/commits/{ref}/check-runs", c.checks)
	s.Extend(http.MethodGet, "/commits/{ref}/status", c.statuses)
	s.Extend(http.MethodPost, "/statuses/{sha}", c.post)
	s.Extend(http.MethodGet, "/check-runs/{check_run_id}/annotations", c.notes)
	s.Extend(http.MethodGet, "/actions/runs", c.runs)
	s.Extend(http.MethodGet, "/actions/jobs/{job_id}/logs", c.found)
	return c
}

// Set says how a check of a commit stands, whether it is there already or not, and
// gives its number.
func (c *Checks) Set(commit string, check Check) (id int64) {
	c.server.With(c.repo, func(d *githubtest.Desk) {
		run := int64(0)
		for _, m := range c.on[commit] {
			if m.Workflow != "" && m.Workflow == check.Workflow {
				run = m.run
			}
			if m.Name == check.Name && m.Workflow == check.Workflow {
				m.Check, id = check, m.id
				return
			}
		}
		if run == 0 && check.Workflow != "" {
			run = d.ID()
		}
		id = d.ID()
		c.on[commit] = append(c.on[commit], &made{check, id, run, d.Now()})
	})
	return id
}

// Asked reports whether somebody has asked for the checks of a commit.
func (c *Checks) Asked(commit string) bool {
	return slices.ContainsFunc(c.server.Requests(), func(r githubtest.Request) bool {
		return strings.Contains(r.Path, "/commits/"+commit+"/check-runs")
	})
}

// RunPayload is what GitHub sends when the run of a workflow has ended: the event
// workflow_run.
func (c *Checks) RunPayload(branch, commit, workflow, sender string) (out []byte) {
	c.server.With(c.repo, func(d *githubtest.Desk) {
		run := c.runOf(commit, workflow, branch)
		out = d.Payload(sender, map[string]any{"action": "completed", "workflow_run": d.RunObject(run), "workflow": map[string]any{"name": run.Name, "path": run.Path}})
	})
	return out
}

// SuitePayload is what GitHub sends when the check runs of another program have
// ended: the event check_suite.
func (c *Checks) SuitePayload(branch, commit, sender string) (out []byte) {
	c.server.With(c.repo, func(d *githubtest.Desk) {
		suite := map[string]any{"id": 1, "head_branch": branch, "head_sha": commit, "status": "completed", "conclusion": "success", "pull_requests": []any{}}
		out = d.Payload(sender, map[string]any{"action": "completed", "check_suite": suite})
	})
	return out
}

// StatusPayload is what GitHub sends when a program has given a commit a status: the event
// status, which names the branches whose newest commit that is.
func (c *Checks) StatusPayload(branch, commit, name, state, sender string) (out []byte) {
	c.server.With(c.repo, func(d *githubtest.Desk) {
		at := map[string]any{"name": branch, "commit": map[string]any{"sha": commit}, "protected": false}
		out = d.Payload(sender, map[string]any{"id": 1, "sha": commit, "state": state, "context": name, "branches": []any{at}})
	})
	return out
}

// runOf makes one run of the jobs of a workflow on a commit.
func (c *Checks) runOf(commit, workflow, branch string) *githubtest.Run {
	run := &githubtest.Run{Attempt: 1, Status: "completed", Conclusion: "success", Branch: branch, Event: "push", Path: ".github/workflows/" + workflow, Name: workflow, Commit: commit}
	for _, m := range c.on[commit] {
		if m.Workflow != workflow {
			continue
		}
		run.ID, run.Name = m.run, cmp.Or(m.Title, workflow)
		switch {
		case m.Conclusion == "":
			run.Status, run.Conclusion = "in_progress", ""
		case m.Conclusion != "success" && run.Status == "completed":
			run.Conclusion = m.Conclusion
		}
	}
	return run
}

func (c *Checks) runs(d *githubtest.Desk) githubtest.Result {
	commit, seen, all := d.Text("head_sha"), map[string]bool{}, []any{}
	for _, m := range c.on[commit] {
		if m.Workflow != "" && !seen[m.Workflow] {
			seen[m.Workflow] = true
			all = append(all, d.RunObject(c.runOf(commit, m.Workflow, "work")))
		}
	}
	return d.PageAs("workflow_runs", all, nil)
}

func (c *Checks) checks(d *githubtest.Desk) githubtest.Result {
	commit, all := d.Text("ref"), []any{}
	for _, m := range c.on[commit] {
		if m.Status == "" {
			all = append(all, c.object(d, commit, m))
		}
	}
	return d.PageAs("check_runs", all, nil)
}

// object is a check run as GitHub sends it.
func (c *Checks) object(d *githubtest.Desk, commit string, m *made) map[string]any {
	repo := d.RepositoryObject()
	at, status, slug := stamp(m.at), "in_progress", "other-ci"
	if m.Workflow != "" {
		slug = "github-actions"
	}
	var conclusion, ended any
	if m.Conclusion != "" {
		status, conclusion, ended = "completed", m.Conclusion, at
	}
	self := fmt.Sprintf("%s/check-runs/%d", repo["url"], m.id)
	return map[string]any{
		"id": m.id, "node_id": fmt.Sprintf("CR_%d", m.id), "head_sha": commit, "name": m.Name, "url": self, "external_id": "",
		"html_url": fmt.Sprintf("%s/runs/%d", repo["html_url"], m.id), "details_url": fmt.Sprintf("%s/runs/%d", repo["html_url"], m.id),
		"status": status, "conclusion": conclusion, "started_at": at, "completed_at": ended, "check_suite": map[string]any{"id": m.run}, "pull_requests": []any{},
		"output": map[string]any{"title": nil, "summary": nil, "text": nil, "annotations_count": len(m.Notes), "annotations_url": self + "/annotations"},
		"app": map[string]any{
			"id": 1, "slug": slug, "node_id": "A_1", "name": slug, "description": nil, "external_url": "https://example.com", "html_url": "https://github.com/apps/" + slug,
			"owner": repo["owner"], "created_at": at, "updated_at": at, "permissions": map[string]any{"checks": "write"}, "events": []any{},
		},
	}
}

func (c *Checks) statuses(d *githubtest.Desk) githubtest.Result {
	commit, repo, all, state := d.Text("ref"), d.RepositoryObject(), []any{}, "pending"
	for _, m := range c.on[commit] {
		if m.Status == "" {
			continue
		}
		all, state = append(all, map[string]any{
			"id": m.id, "node_id": fmt.Sprintf("SC_%d", m.id), "url": fmt.Sprintf("%s/statuses/%s", repo["url"], commit), "avatar_url": nil, "state": m.Status,
			"description": m.Says, "target_url": "https://ci.example.com/" + m.Name, "context": m.Name, "created_at": stamp(m.at), "updated_at": stamp(m.at),
		}), m.Status
	}
	self := fmt.Sprintf("%s/commits/%s", repo["url"], commit)
	return d.PageAs("statuses", all, map[string]any{"state": state, "sha": commit, "repository": repo, "commit_url": self, "url": self + "/status"})
}

// post gives a commit a status, over one of the same context.
func (c *Checks) post(d *githubtest.Desk) githubtest.Result {
	word := func(name string) string { s, _ := d.Input(name).(string); return s }
	p := Status{d.Text("sha"), cmp.Or(word("context"), "default"), word("state"), word("description"), word("target_url")}
	if len([]rune(p.Says)) > 140 {
		return d.Refuse(http.StatusUnprocessableEntity, "Validation Failed")
	}
	c.Posted = append(c.Posted, p)
	i := slices.IndexFunc(c.on[p.Commit], func(m *made) bool { return m.Status != "" && m.Name == p.Context })
	if i < 0 {
		i = len(c.on[p.Commit])
		c.on[p.Commit] = append(c.on[p.Commit], &made{id: d.ID()})
	}
	m := c.on[p.Commit][i]
	m.Check, m.at = Check{Name: p.Context, Status: p.State, Says: p.Says}, d.Now()
	repo, at := d.RepositoryObject(), stamp(m.at)
	return d.Created(map[string]any{
		"id": m.id, "node_id": fmt.Sprintf("SC_%d", m.id), "url": fmt.Sprintf("%s/statuses/%s", repo["url"], p.Commit), "avatar_url": nil, "state": p.State,
		"description": p.Says, "target_url": p.Link, "context": p.Context, "created_at": at, "updated_at": at, "creator": repo["owner"],
	})
}

func (c *Checks) notes(d *githubtest.Desk) githubtest.Result {
	m := c.number(d.Param("check_run_id"))
	if m == nil {
		return d.Refuse(http.StatusNotFound, "Not Found")
	}
	all := []any{}
	for _, n := range m.Notes {
		all = append(all, map[string]any{
			"path": n.Path, "start_line": n.Line, "end_line": n.Line, "start_column": nil, "end_column": nil, "annotation_level": n.Level,
			"title": "", "message": n.Message, "raw_details": "", "blob_href": "https://github.com/" + c.repo + "/blob/" + n.Path,
		})
	}
	return d.Page(all)
}

// found says where a log is: on another host, for whoever knows the address.
func (c *Checks) found(d *githubtest.Desk) githubtest.Result {
	if m := c.number(d.Param("job_id")); m != nil && m.Workflow != "" && m.Conclusion != "" {
		return d.Found(fmt.Sprintf("%s/logs/%d?signature=hush", c.logs.URL, m.id))
	}
	return d.Refuse(http.StatusNotFound, "Not Found")
}

// log answers as the host of the logs.
func (c *Checks) log(w http.ResponseWriter, r *http.Request) {
	var id int64
	_, err := fmt.Sscanf(r.URL.Path, "/logs/%d", &id)
	text := ""
	c.server.With(c.repo, func(*githubtest.Desk) {
		if token := r.Header.Get("Authorization"); token != "" {
			c.Tokens = append(c.Tokens, token)
		}
		if m := c.number(id); m != nil {
			text = m.Log
		}
	})
	if err != nil || r.URL.Query().Get("signature") != "hush" {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	_, _ = w.Write([]byte(text)) // the client may be gone
}

func (c *Checks) number(id int64) *made {
	for _, all := range c.on {
		for _, m := range all {
			if m.id == id {
				return m
			}
		}
	}
	return nil
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

package github

import (
	"cmp"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"time"
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

// Checks are what runs on the commits of one repository: workflow runs with their jobs, check
// runs of other programs, statuses, and logs, which are kept on another host.
type Checks struct {
	repo *repository
	logs *httptest.Server
	// Of the commits; the server's lock guards it.
	on map[string][]*made
	// Posted are the statuses that were given by requests, in their order.
	Posted []CommitStatus
	// Tokens are those that were sent to the host of the logs.
	Tokens []string
}

// CommitStatus is a commit status as a request has given it.
type CommitStatus struct{ Commit, Context, State, Says, Link string }

// made is a check that is there.
type made struct {
	Check
	id, run int64 // its own number, and that of the run of its workflow
	at      time.Time
}

// NewChecks has a server keep the checks of a repository. Without it, there are no lists of them.
func NewChecks(s *Server, repo string, cleanup func(func())) *Checks {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &Checks{repo: s.repository(repo), on: map[string][]*made{}}
	c.logs = httptest.NewServer(http.HandlerFunc(c.log))
	cleanup(c.logs.Close)
	c.repo.checks = c
	return c
}

func (c *Checks) locked(do func()) {
	c.repo.server.mu.Lock()
	defer c.repo.server.mu.Unlock()
	do()
}

// Says is Set for a check of the workflow ci.yml; without a conclusion it is at work.
func (c *Checks) Says(commit, name, conclusion string) {
	c.Set(commit, Check{Name: name, Workflow: "ci.yml", Conclusion: conclusion})
}

// Set says how a check of a commit stands, whether it is there already or not, and
// gives its number.
func (c *Checks) Set(commit string, check Check) (id int64) {
	c.locked(func() {
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
			run = c.repo.server.newID()
		}
		id = c.repo.server.newID()
		c.on[commit] = append(c.on[commit], &made{check, id, run, c.repo.server.tick()})
	})
	return id
}

// Asked reports whether somebody has asked for the checks of a commit.
func (c *Checks) Asked(commit string) bool {
	return slices.ContainsFunc(c.repo.server.Requests(), func(r Request) bool { return strings.Contains(r.Path, "/commits/"+commit+"/check-runs") })
}

// RunPayload is what GitHub sends when the run of a workflow has ended: the event
// workflow_run.
func (c *Checks) RunPayload(branch, commit, workflow, sender string) (out []byte) {
	c.locked(func() {
		run := c.runOf(commit, workflow, branch)
		out = c.repo.event(sender, object{"action": "completed", "workflow_run": c.repo.runObject(run), "workflow": object{"name": run.Name, "path": run.Path}})
	})
	return out
}

// SuitePayload is what GitHub sends when the check runs of another program have
// ended: the event check_suite.
func (c *Checks) SuitePayload(branch, commit, sender string) (out []byte) {
	c.locked(func() {
		suite := object{"id": 1, "head_branch": branch, "head_sha": commit, "status": "completed", "conclusion": "success", "pull_requests": []any{}}
		out = c.repo.event(sender, object{"action": "completed", "check_suite": suite})
	})
	return out
}

// StatusPayload is what GitHub sends when a program has given a commit a status: the event
// status, which names the branches whose newest commit that is.
func (c *Checks) StatusPayload(branch, commit, name, state, sender string) (out []byte) {
	c.locked(func() {
		at := object{"name": branch, "commit": object{"sha": commit}, "protected": false}
		out = c.repo.event(sender, object{"id": 1, "sha": commit, "state": state, "context": name, "branches": []any{at}})
	})
	return out
}

// runOf makes one run of the jobs of a workflow on a commit.
func (c *Checks) runOf(commit, workflow, branch string) *Run {
	run := &Run{Attempt: 1, Status: "completed", Conclusion: "success", Branch: branch, Event: "push", Path: ".github/workflows/" + workflow, Name: workflow, Commit: commit}
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

// kept are the checks of the commit of a request that are of a kind; there is no list if
// nobody keeps them.
func (v *visit) kept(commit string, is func(*made) bool) (all []*made, listed bool) {
	if v.repo.checks == nil {
		return nil, false
	}
	for _, m := range v.repo.checks.on[commit] {
		if is(m) {
			all = append(all, m)
		}
	}
	return all, true
}

func (v *visit) listRuns() reply {
	commit, seen := v.query.Get("head_sha"), map[string]bool{"": true}
	all, listed := v.kept(commit, func(m *made) bool {
		first := !seen[m.Workflow]
		seen[m.Workflow] = true
		return first
	})
	if !listed {
		return notFound()
	}
	return pageAs(v, "workflow_runs", all, func(m *made) object { return v.repo.runObject(v.repo.checks.runOf(commit, m.Workflow, "work")) })
}

func (v *visit) listChecks() reply {
	commit := v.params["ref"]
	all, listed := v.kept(commit, func(m *made) bool { return m.Status == "" })
	if !listed {
		return notFound()
	}
	return pageAs(v, "check_runs", all, func(m *made) object { return v.checkObject(commit, m) })
}

// checkObject is a check run as GitHub sends it.
func (v *visit) checkObject(commit string, m *made) object {
	slug, self := "other-ci", fmt.Sprintf("%s/runs/%d", v.repo.web(), m.id)
	if m.Workflow != "" {
		slug = "github-actions"
	}
	out := object{
		"id": m.id, "head_sha": commit, "name": m.Name, "html_url": self, "details_url": self, "status": "in_progress", "conclusion": nil,
		"started_at": stamp(m.at), "check_suite": object{"id": m.run}, "app": object{"slug": slug, "name": slug, "owner": v.user(v.repo.owner)},
		"output": object{"annotations_count": len(m.Notes)},
	}
	if m.Conclusion != "" {
		out["status"], out["conclusion"], out["completed_at"] = "completed", m.Conclusion, stamp(m.at)
	}
	return out
}

func (v *visit) listStatuses() reply {
	commit := v.params["ref"]
	all, listed := v.kept(commit, func(m *made) bool { return m.Status != "" })
	if !listed {
		return notFound()
	}
	state := "pending"
	if len(all) > 0 {
		state = all[len(all)-1].Status
	}
	r := pageAs(v, "statuses", all, func(m *made) object { return statusObject(m, "https://ci.example.com/"+m.Name) })
	out := r.value.(object)
	out["state"], out["sha"], out["repository"] = state, commit, v.repo.object()
	return r
}

func statusObject(m *made, link string) object {
	return object{
		"id": m.id, "state": m.Status, "description": m.Says, "target_url": link, "context": m.Name, "created_at": stamp(m.at), "updated_at": stamp(m.at),
	}
}

// postStatus gives a commit a status, over one of the same context.
func (v *visit) postStatus() reply {
	c := v.repo.checks
	if c == nil {
		return notFound()
	}
	p := CommitStatus{v.params["sha"], cmp.Or(v.text("context"), "default"), v.text("state"), v.text("description"), v.text("target_url")}
	if len([]rune(p.Says)) > 140 {
		return refuse(http.StatusUnprocessableEntity, "Validation Failed")
	}
	c.Posted = append(c.Posted, p)
	i := slices.IndexFunc(c.on[p.Commit], func(m *made) bool { return m.Status != "" && m.Name == p.Context })
	if i < 0 {
		i = len(c.on[p.Commit])
		c.on[p.Commit] = append(c.on[p.Commit], &made{id: v.newID()})
	}
	m := c.on[p.Commit][i]
	m.Check, m.at = Check{Name: p.Context, Status: p.State, Says: p.Says}, v.tick()
	return created(statusObject(m, p.Link))
}

func (v *visit) listNotes() reply {
	m := v.repo.checks.number(v.number("check_run_id"))
	if m == nil {
		return notFound()
	}
	return page(v, m.Notes, func(n Note) object {
		return object{"path": n.Path, "start_line": n.Line, "end_line": n.Line, "annotation_level": n.Level, "title": "", "message": n.Message}
	})
}

// findLog says where a log is: on another host, for whoever knows the address.
func (v *visit) findLog() reply {
	m := v.repo.checks.number(v.number("job_id"))
	if m == nil || m.Workflow == "" || m.Conclusion == "" {
		return notFound()
	}
	return reply{status: http.StatusFound, header: map[string]string{"Location": fmt.Sprintf("%s/logs/%d?signature=hush", v.repo.checks.logs.URL, m.id)}}
}

// log answers as the host of the logs.
func (c *Checks) log(w http.ResponseWriter, r *http.Request) {
	var id int64
	_, err := fmt.Sscanf(r.URL.Path, "/logs/%d", &id)
	text := ""
	c.locked(func() {
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
	if c == nil {
		return nil
	}
	for _, all := range c.on {
		for _, m := range all {
			if m.id == id {
				return m
			}
		}
	}
	return nil
}

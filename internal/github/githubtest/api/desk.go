package api

import (
	"cmp"
	"maps"
	"net/http"
	"time"

	"github.com/reprise-ci/reprise/internal/github/githubtest/shape"
	"github.com/reprise-ci/reprise/internal/github/githubtest/state"
)

// Desk is a repository while the state is locked, for a package that keeps a part of GitHub
// which is not kept here, such as reviews.
type Desk struct{ v *visit }

// OK answers with a value.
func (d *Desk) OK(value any) Result { return ok(value) }

// Created answers with a value that was made.
func (d *Desk) Created(value any) Result { return created(value) }

// Found answers with where something is.
func (d *Desk) Found(to string) Result {
	return Result{status: http.StatusFound, header: map[string]string{"Location": to}}
}

// Refuse answers with an error.
func (d *Desk) Refuse(status int, message string) Result { return refuse(status, message) }

// Page answers with a part of a list.
func (d *Desk) Page(all []any) Result { return page(d.v, all, func(v any) any { return v }) }

// PageAs answers with a part of a list that is in an object under a name, beside what else is
// in there and how long the list is.
func (d *Desk) PageAs(name string, all []any, rest map[string]any) Result {
	r := d.Page(all)
	object := map[string]any{name: r.value, "total_count": len(all)}
	maps.Copy(object, rest)
	r.value = object
	return r
}

// Param reads a number in the path.
func (d *Desk) Param(name string) int64 { return d.v.number(name) }

// Text reads what stands in the path, or in the query.
func (d *Desk) Text(name string) string { return cmp.Or(d.v.in.params[name], d.v.in.Query.Get(name)) }

// Input reads what was sent under a name.
func (d *Desk) Input(name string) any { value, _ := field[any](d.v, name); return value }

// Login is who asks.
func (d *Desk) Login() string { return d.v.login() }

// ID is a new number.
func (d *Desk) ID() int64 { return d.v.NewID() }

// Now is the time of a change.
func (d *Desk) Now() time.Time { return d.v.Tick() }

// Head is the commit of a branch.
func (d *Desk) Head(branch string) string { return d.v.repo.Head(branch) }

// Pull is a pull request.
func (d *Desk) Pull(number int) *state.Pull { return d.v.repo.Pulls[number] }

// Association is how GitHub calls who writes there.
func (d *Desk) Association(login string) string { return d.v.repo.Association(login) }

// User is an account as GitHub sends it.
func (d *Desk) User(login string) any { return d.v.show.User(login) }

// RepositoryObject is the repository as GitHub sends it.
func (d *Desk) RepositoryObject() map[string]any { return d.v.show.Repository(d.v.repo) }

// IssueObject is an issue, or a pull request as one.
func (d *Desk) IssueObject(number int) map[string]any {
	return d.v.show.Issue(d.v.repo, d.v.repo.Issues[number])
}

// PullObject is a pull request.
func (d *Desk) PullObject(number int) map[string]any {
	return d.v.show.Pull(d.v.repo, d.v.repo.Pulls[number], false)
}

// RunObject is a run of a workflow.
func (d *Desk) RunObject(run *state.Run) map[string]any {
	return shape.Runs{Objects: d.v.show}.Run(d.v.repo, run)
}

// Payload is what GitHub sends of an event about the repository.
func (d *Desk) Payload(sender string, parts map[string]any) []byte {
	data, err := shape.Events{Objects: d.v.show}.Event(d.v.repo, sender, parts)
	if err != nil {
		d.v.report.Errorf("githubtest: %v", err)
	}
	return data
}

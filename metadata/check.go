package metadata

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Check holds the record against every invariant of the format. It reports all
// that is wrong at once: the error is one or more *mistake.Error, joined.
func (r Run) Check() error { return JoinMistakes(check(&r)) }

// check is Check without copying the record.
func check(r *Run) []*Mistake {
	c := &checker{phases: map[string]bool{}, tasks: map[string]bool{}, attempts: len(r.Attempts), comments: map[int64]int{}}
	for _, p := range r.Phases {
		if c.phases[p.Name] {
			c.root().bad("phases", "has two of the name %q", p.Name)
		}
		c.phases[p.Name] = true
	}
	c.tasksOf(r)
	c.identity(r)
	c.state(r)
	for i := range r.Phases {
		c.phase(&r.Phases[i])
	}
	for i := range r.Attempts {
		c.attempt(i, &r.Attempts[i])
	}
	for i := range r.RollbackHistory {
		c.rollback(i, &r.RollbackHistory[i])
	}
	for i := range r.Decisions {
		c.decision(i, &r.Decisions[i])
	}
	c.results("setup", r.Setup)
	c.results("baseline", r.Baseline)
	if r.CI != nil {
		count(c.root(), "ci.after", r.CI.After)
		c.root().commit("ci.commit", r.CI.Commit)
	}
	for i, m := range r.Merges {
		c.merge(i, m)
	}
	c.people(r)
	return c.mistakes
}

// merge checks one entry.
func (c *checker) merge(i int, m Merge) {
	at := c.element("merges", i)
	at.time("at", m.At)
	at.commit("commit", m.Commit)
	if count(at, "attempt", m.Attempt); m.Attempt > c.attempts {
		at.bad("attempt", "%d is more than the %d attempts that there are", m.Attempt, c.attempts)
	}
}

// identity checks what a run is about.
func (c *checker) identity(r *Run) {
	at := c.root()
	if r.Schema != Schema {
		at.bad("schema", "%d is not the version that is written, %d", r.Schema, Schema)
	}
	count(at, "revision", r.Revision)
	at.must("issue_number", CheckID(r.IssueNumber))
	at.link("issue_url", r.IssueURL)
	if r.Repository != "" {
		at.must("repository", CheckRepository(r.Repository))
	}
	oneOf(at, "language", r.Language, Languages()...)
	at.must("branch_name", CheckBranch(r.BranchName))
	at.commit("base_commit", r.BaseCommit)
	if r.BaseBranch != "" {
		at.must("base_branch", CheckBranch(r.BaseBranch))
	}
	count(at, "pr_number", r.PRNumber)
	at.link("pr_url", r.PRURL)
	count(at, "github_integration.progress_comment_id", r.GitHubIntegration.ProgressCommentID)
	count(at, "github_integration.notice_comment_id", r.GitHubIntegration.NoticeCommentID)
	at.link("github_integration.progress_comment_url", r.GitHubIntegration.ProgressCommentURL)
	for _, name := range slices.Sorted(maps.Keys(r.ExternalDocuments)) {
		document := r.ExternalDocuments[name]
		if strings.Contains(document, "://") {
			at.link("external_documents."+name, document)
		} else if Absolute(document) {
			at.bad("external_documents."+name, "%q is an absolute path", document)
		}
	}
	at.filled("pipeline.name", r.Pipeline.Name)
	at.digest("pipeline.digest", r.Pipeline.Digest)
	at.digest("pipeline.definition", r.Pipeline.Definition)
	if Absolute(r.Pipeline.Source) {
		at.bad("pipeline.source", "%q is an absolute path", r.Pipeline.Source)
	}
	at.time("created_at", r.CreatedAt)
	at.time("updated_at", r.UpdatedAt)
}

// state checks where a run stands and what it has spent.
func (c *checker) state(r *Run) {
	at := c.root()
	oneOf(at, "status", r.Status, statuses()...)
	at.known("current_phase", r.CurrentPhase)
	switch needs := r.Status != Running && r.Status != Completed; {
	case r.Stop == nil && needs:
		at.bad("stop", "is missing: a run that is %s says why", r.Status)
	case r.Stop != nil && !needs:
		at.bad("stop", "is set, but the run is %s", r.Status)
	case r.Stop != nil:
		oneOf(at, "stop.code", r.Stop.Code, codes()...)
		at.filled("stop.why", string(r.Stop.Why))
		at.known("stop.phase", r.Stop.Phase)
		optional(at, "stop.step", r.Stop.Step, Steps()...)
		at.time("stop.at", r.Stop.At)
	}
	count(at, "cost_tracking.total_input_tokens", r.Cost.InputTokens)
	count(at, "cost_tracking.total_output_tokens", r.Cost.OutputTokens)
	count(at, "cost_tracking.total_cached_tokens", r.Cost.CachedTokens)
	at.amount("cost_tracking.total_cost_usd", r.Cost.USD)

	at.filled("run.id", r.Execution.ID)
	count(at, "run.attempt", r.Execution.Attempt)
	if lease := r.Execution.Lease; lease != nil {
		at.filled("run.lease.owner", lease.Owner)
		count(at, "run.lease.fence", lease.Fence)
		at.time("run.lease.expires", lease.Expires)
	}
	for i, u := range r.Execution.Untold {
		c.untold(i, u)
	}
	at.amount("budget.usd", r.Budget.USD)
	count(at, "budget.tokens", r.Budget.Tokens)
	count(at, "budget.seconds", r.Budget.Seconds)
	count(at, "budget.attempts", r.Budget.Attempts)
	at.amount("budget.issue_usd", r.Budget.IssueUSD)
	at.amount("budget.earlier_usd", r.Budget.EarlierUSD)
	at.amount("budget.since.usd", r.Budget.Since.USD)
	count(at, "budget.since.tokens", r.Budget.Since.Tokens)
	count(at, "budget.since.seconds", r.Budget.Since.Seconds)
	count(at, "budget.since.attempts", r.Budget.Since.Attempts)
	c.allowed(at, r.AllowanceFrom)
}

// untold checks an event that a hook has not taken. Its phase may be one that the run had
// before its pipeline was taken anew.
func (c *checker) untold(i int, u Untold) {
	at := c.element("run.untold", i)
	at.filled("hook", u.Hook)
	at.filled("event", u.Kind)
	at.filled("id", u.ID)
	at.time("at", u.At)
	oneOf(at, "status", u.Status, statuses()...)
	optional(at, "code", u.Code, codes()...)
	count(at, "attempts", u.Attempts)
	at.amount("cost_usd", u.USD)
}

// checker collects what is wrong with one record.
type checker struct {
	mistakes []*Mistake
	phases   map[string]bool // the names there are
	tasks    map[string]bool // their ids
	attempts int             // how many there are
	comments map[int64]int   // which decision took the command of which comment
}

// place is where in the record a check looks. Its path is put together only
// when there is something to say about it: a long history must stay cheap.
type place struct {
	c      *checker
	prefix string
	index  int // of the element of a list, or -1
}

func (c *checker) root() place { return place{c, "", -1} }

func (c *checker) element(list string, i int) place { return place{c, list, i} }

// mostMistakes is how many mistakes are worth telling.
const mostMistakes = 50

func (at place) bad(field, format string, args ...any) {
	if len(at.c.mistakes) == mostMistakes {
		return
	}
	path := at.prefix
	if at.index >= 0 {
		path = fmt.Sprintf("%s[%d]", path, at.index)
	}
	if path != "" && field != "" {
		path += "."
	}
	at.c.mistakes = append(at.c.mistakes, &Mistake{Path: path + field, Message: fmt.Sprintf(format, args...)})
}

func (at place) must(field string, err error) {
	if err != nil {
		at.bad(field, "%v", err)
	}
}

func (at place) filled(field, value string) {
	if strings.TrimSpace(value) == "" {
		at.bad(field, "is missing")
	}
}

// link checks a link that may be left out.
func (at place) link(field, value string) {
	if value != "" {
		at.must(field, CheckURL(value))
	}
}

// path checks a path that may be left out, and that nobody opens by the record alone.
func (at place) path(field, value string) {
	if value != "" {
		at.must(field, checkMention(value))
	}
}

// known checks the name of a phase that may be left out.
func (at place) known(field, phase string) {
	if phase != "" && !at.c.phases[phase] {
		at.bad(field, "there is no phase %q", phase)
	}
}

// digest checks a SHA-256 sum.
func (at place) digest(field, sum string) {
	if !strings.HasPrefix(sum, "sha256:") || !hex(sum[len("sha256:"):], 64) {
		at.bad(field, "%q is not \"sha256:\" and 64 hex digits", sum)
	}
}

// commit checks the full id of a commit, which may be left out.
func (at place) commit(field, id string) {
	if id != "" && !hex(id, 40) && !hex(id, 64) {
		at.bad(field, "%q is not the full id of a commit", id)
	}
}

func (at place) time(field string, t time.Time) {
	switch {
	case t.IsZero():
		at.bad(field, "is missing")
	case t.Location() != time.UTC:
		at.bad(field, "%s is not in UTC", t.Format(time.RFC3339))
	case t.Year() < 1970 || t.Year() > 9999:
		at.bad(field, "the year %d cannot be", t.Year())
	}
}

func (at place) timeOrNil(field string, t *time.Time) {
	if t != nil {
		at.time(field, *t)
	}
}

// The most that one number of a record may be, so that the sum of all runs is a number, too.
const (
	mostAmount = 1e12
	mostCount  = 1_000_000_000_000_000
)

func (at place) amount(field string, v float64) {
	if !(v >= 0 && v <= mostAmount) { // not v < 0, which NaN is not
		at.bad(field, "%v is not an amount", v)
	}
}

func count[N int | int64](at place, field string, n N) {
	switch {
	case n < 0:
		at.bad(field, "%d is less than 0", n)
	case int64(n) > mostCount:
		at.bad(field, "%d is more than can be", n)
	}
}

func oneOf[T ~string](at place, field string, v T, valid ...T) {
	if !slices.Contains(valid, v) {
		at.bad(field, "%s", NotOneOf(v, valid...))
	}
}

func optional[T ~string](at place, field string, v T, valid ...T) {
	if v != "" {
		oneOf(at, field, v, valid...)
	}
}

func hex(s string, length int) bool {
	return len(s) == length && strings.Trim(s, "0123456789abcdef") == ""
}

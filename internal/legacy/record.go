package legacy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/reprise-ci/reprise/metadata"
)

// Imported is what a record of the older system says. Its field names are the
// ones that Run kept; it knows no pipeline, no attempts and no issue text.
type Imported struct {
	// Run holds what could be taken over and is no valid record yet. Phases are
	// in the order of their names; their OutputFiles, and every other path, are
	// as the older branch has them. WorkflowVersion and BranchName are the older
	// ones. Phases that are pending hold nothing but a RollbackContext.
	Run metadata.Run
	// Dropped says what was not taken over as it stands, and why, in the order
	// of the file. It never repeats a value: one may hold a secret.
	Dropped []*metadata.Mistake
}

// Import reads a metadata.json of the older system. It takes numbers that are
// written as text, null for nothing, and spelling variants of names, times and
// verdicts; what it does not know is named in Dropped. What is wrong is refused,
// every mistake at once: the error is one or more *mistake.Error, joined. Times that the
// file lacks and a record needs become the nearest one it has, else at, the time
// of the import.
func Import(data []byte, filename string, at time.Time) (Imported, error) {
	if len(data) > metadata.MaxSize {
		return Imported{}, &metadata.Mistake{File: filename, Message: fmt.Sprintf("has %d bytes, more than the %d that a run can need", len(data), metadata.MaxSize)}
	}
	var fields map[string]any
	if err := json.Unmarshal(data, &fields); err != nil {
		return Imported{}, metadata.DecodingMistake(data, filename, err)
	}
	r := &olderFile{}
	top := &olderObject{file: r, fields: fields}
	if _, ours := fields["schema"]; ours {
		top.bad("schema", "this is a record of reprise already: continue it with run")
	}
	run := top.run(at.UTC())
	top.dropUnread()
	for _, list := range [][]*metadata.Mistake{r.mistakes, r.dropped} {
		metadata.LocateMistakes(data, list)
		for _, e := range list {
			e.File = filename
		}
		slices.SortStableFunc(list, func(a, b *metadata.Mistake) int { return cmp.Or(a.Line-b.Line, a.Column-b.Column) })
	}
	if len(r.mistakes) > 0 {
		return Imported{}, metadata.JoinMistakes(r.mistakes)
	}
	return Imported{Run: run, Dropped: r.dropped}, nil
}

// run reads the whole record.
func (o *olderObject) run(at time.Time) metadata.Run {
	r := metadata.Run{
		IssueNumber: o.text("issue_number"), IssueURL: o.link("issue_url"), IssueTitle: o.text("issue_title"),
		WorkflowVersion: o.text("workflow_version"), BranchName: o.text("branch_name"), CurrentPhase: phaseName(o.text("current_phase")),
		PRNumber: int(o.count("pr_number")), PRURL: o.link("pr_url"), ExternalDocuments: o.documents(), UpdatedAt: at,
	}
	o.must("issue_number", metadata.CheckID(r.IssueNumber))
	if r.Language = strings.ToLower(o.text("language")); r.Language != "" && !slices.Contains(metadata.Languages(), r.Language) {
		o.drop("language", "is neither "+strings.Join(metadata.Languages(), " nor "))
		r.Language = ""
	}
	r.Repository = o.repository()
	if d := o.object("design_decisions"); d != nil {
		r.DesignDecisions = metadata.DesignDecisions{
			ImplementationStrategy: d.text("implementation_strategy"), TestStrategy: d.text("test_strategy"), TestCodeStrategy: d.text("test_code_strategy"),
		}
		d.dropUnread()
	}
	if c := o.object("cost_tracking"); c != nil {
		r.Cost = metadata.Cost{
			InputTokens: c.count("total_input_tokens"), OutputTokens: c.count("total_output_tokens"),
			CachedTokens: c.count("total_cached_tokens"), USD: c.amount("total_cost_usd"),
		}
		c.dropUnread()
	}
	if g := o.object("github_integration"); g != nil {
		r.GitHubIntegration = metadata.GitHubIntegration{ProgressCommentID: g.count("progress_comment_id"), ProgressCommentURL: g.link("progress_comment_url")}
		g.dropUnread()
	}
	if o.text("base_commit") != "" {
		o.drop("base_commit", "the run goes on from where the older branch ends, and starts there")
	}
	if r.BranchName != "" && metadata.CheckBranch(r.BranchName) != nil {
		o.drop("branch_name", "is no name of a branch")
		r.BranchName = ""
	}
	latest := or(o.time("updated_at"), &at)
	r.CreatedAt = or(o.time("created_at"), &latest)
	o.phases(&r, latest)
	r.RollbackHistory = o.rollbacks(&r)
	return r
}

// repository gives owner/name, from wherever the file says it.
func (o *olderObject) repository() string {
	name := o.text("repository")
	if t := o.object("target_repository"); t != nil {
		if other := t.text("github_name"); name == "" {
			name = other
		}
		if t.text("path") != "" {
			t.drop("path", "is a folder of the machine that the older run was on")
		}
		for _, known := range []string{"remote_url", "owner", "repo"} {
			delete(t.fields, known) // they say the same once more
		}
		t.dropUnread()
	}
	if name != "" {
		o.must("repository", metadata.CheckRepository(name))
	}
	return name
}

// documents reads the references that people gave to the older run.
func (o *olderObject) documents() map[string]string {
	d := o.object("external_documents")
	if d == nil {
		return nil
	}
	out := map[string]string{}
	for _, name := range d.names() {
		if _, isText := d.fields[name].(string); !isText {
			continue // named by left
		}
		value := d.text(name)
		if strings.Contains(value, "://") {
			d.fields[name] = value
			value = d.link(name)
		} else if value = olderPath(value); metadata.Absolute(value) {
			d.drop(name, "is an absolute path of another machine")
			value = ""
		}
		if value != "" {
			out[name] = value
		}
	}
	d.dropUnread()
	return out
}

// or gives the first time that there is.
func or(times ...*time.Time) time.Time {
	for _, t := range times {
		if t != nil {
			return *t
		}
	}
	return time.Time{}
}

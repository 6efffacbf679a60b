package workspace

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/issue"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// DefineFunc chooses the pipeline and the prompts for a new run, as definition.Define does.
type DefineFunc func(context.Context, *git.Source, issue.Issue, Choice) (Definition, error)

const (
	trustKnown = "trusted" // the file in a run's folder with the digests of the pipelines that this machine has worked with
	mostKnown  = 100       // of those
	mostSaid   = 12        // things that a pipeline does besides
)

// MarkTrusted notes in the folder that a run has on this machine that it is worked on with the
// pipeline of that digest.
func MarkTrusted(root, digest string) error {
	marks := marks(root)
	if slices.Contains(marks, digest) {
		return nil
	}
	marks = append(marks, digest)
	marks = marks[max(0, len(marks)-mostKnown):]
	if err := os.WriteFile(filepath.Join(root, trustKnown), []byte(strings.Join(marks, "\n")+"\n"), 0o600); err != nil {
		return fmt.Errorf("note the pipeline of the run: %w", err)
	}
	return nil
}

func marks(root string) []string {
	data, err := os.ReadFile(filepath.Join(root, trustKnown))
	if err != nil {
		return nil // then none is known, and the pipelines are compared
	}
	return strings.Fields(string(data))
}

// CheckTrust refuses to go on with a run, whose folder on this machine is root, if its pipeline
// lets programs do more than the pipelines of the default branch do, as they are now or
// were when the run began.
func CheckTrust(ctx context.Context, define DefineFunc, src *git.Source, root string, run metadata.Run, plan *pipelines.Pipeline) error {
	if slices.Contains(marks(root), run.Pipeline.Digest) {
		return nil
	}
	why, err := wider(ctx, define, src, run, plan)
	if err != nil || len(why) == 0 {
		return err
	}
	more := ""
	if n := len(why) - mostSaid; n > 0 {
		why, more = why[:mostSaid], fmt.Sprintf("\n- and %d more", n)
	}
	return exit.Usagef("this machine has not worked on the run of issue %s with the pipeline that is on %s, and whoever can push to that branch can have written it:\n- %s%s\nLook at it with `reprise explain --issue %[1]s`. To go on with it all the same: `reprise run --issue %[1]s --trust-branch`; with the pipeline as it is defined now: `reprise run --issue %[1]s --refresh`",
		run.IssueNumber, run.BranchName, strings.Join(why, "\n- "), more)
}

// wider says what the pipeline of a run lets programs do and none of the same name does
// that can be trusted.
func wider(ctx context.Context, define DefineFunc, src *git.Source, run metadata.Run, plan *pipelines.Pipeline) ([]string, error) {
	if !IsFindable(run.Pipeline.Source) || !IsFindable(plan.Source) {
		return []string{fmt.Sprintf("it comes from the file %.100q, which the default branch does not have", run.Pipeline.Source)}, nil
	}
	sources := []*git.Source{src}
	if began := asItBegan(ctx, src, run.BaseCommit); began != nil {
		sources = append(sources, began)
	}
	var trusted []*pipelines.Pipeline
	for _, s := range sources {
		d, err := define(ctx, s, issue.Issue{ID: run.IssueNumber}, Choice{Pipeline: run.Pipeline.Name, Language: run.Language})
		var mistakes pipelines.Mistakes
		var usage exit.UsageError
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.As(err, &mistakes), errors.As(err, &usage):
			continue // it has none that could be compared
		case err != nil:
			return nil, err
		}
		trusted = append(trusted, d.Plan)
	}
	if len(trusted) == 0 {
		return []string{fmt.Sprintf("the default branch has no pipeline %.100q without mistakes", run.Pipeline.Name)}, nil
	}
	return Wider(plan, trusted), nil
}

// asItBegan gives a repository in whose history of the default branch a commit is, with
// that commit for the default branch; nil where that cannot be shown.
func asItBegan(ctx context.Context, src *git.Source, base string) *git.Source {
	if src.DefaultBranch == "" || !hash().MatchString(base) {
		return nil
	}
	for _, ref := range []string{"refs/heads/", "refs/remotes/origin/"} {
		// A branch or commit that is not here shows nothing.
		if is, err := src.Contains(ctx, ref+src.DefaultBranch, base); err == nil && is {
			then := *src
			then.DefaultBranch = base
			return &then
		}
	}
	return nil
}

var hash = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})$`) })

// powers are the things that a pipeline lets programs do, in words for people.
type powers map[string]bool

func (p powers) add(format string, args ...any) { p[fmt.Sprintf(format, args...)] = true }

// Wider says what a pipeline lets programs do and a trusted one does not, or where it holds
// them back less; nothing if there is one of which neither is true. What it says is of the first.
func Wider(plan *pipelines.Pipeline, trusted []*pipelines.Pipeline) (first []string) {
	for i, t := range trusted {
		out := widerThan(plan, t)
		if len(out) == 0 {
			return nil
		}
		if i == 0 {
			first = out
		}
	}
	return first
}

func widerThan(plan, trusted *pipelines.Pipeline) []string {
	have := of(trusted)
	var out []string
	for _, what := range slices.Sorted(maps.Keys(of(plan))) {
		if !have[what] {
			out = append(out, what)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(plan.Agents)) {
		choice := plan.Agents[name].Tools
		if !slices.ContainsFunc(slices.Collect(maps.Values(trusted.Agents)), func(a pipelines.Agent) bool { return choice.Within(a.Tools) }) {
			out = append(out, "an agent has more tools, by the choice "+said(choice))
		}
	}
	out = append(out, chosen(plan, trusted)...)
	for _, pattern := range trusted.Protect {
		if !slices.Contains(plan.Protect, pattern) {
			out = append(out, fmt.Sprintf("it does not protect %.100q", pattern))
		}
	}
	for _, ph := range trusted.Phases {
		if same := plan.Phase(ph.Name); ph.Approve != "" && same != nil && (same.Approve != ph.Approve || same.Approvers < ph.Approvers) {
			out = append(out, fmt.Sprintf("phase %.100q is not approved as it would be, by %s", ph.Name, ph.Approve))
		}
	}
	for _, limit := range []struct {
		name string
		of   func(*pipelines.Pipeline) float64
	}{
		{"usd", func(p *pipelines.Pipeline) float64 { return p.Budget.USD }},
		{"tokens", func(p *pipelines.Pipeline) float64 { return float64(p.Budget.Tokens) }},
		{"time", func(p *pipelines.Pipeline) float64 { return float64(p.Budget.Time) }},
		{"attempts", func(p *pipelines.Pipeline) float64 { return float64(p.Budget.Attempts) }},
		{"issue_usd", func(p *pipelines.Pipeline) float64 { return p.Budget.IssueUSD }},
		{"day_usd", func(p *pipelines.Pipeline) float64 { return p.Budget.DayUSD }},
		{"repo_day_usd", func(p *pipelines.Pipeline) float64 { return p.Budget.RepoDayUSD }},
	} {
		if has, most := limit.of(plan), limit.of(trusted); most > 0 && (has <= 0 || has > most) {
			out = append(out, "its budget for "+limit.name+" is larger, or there is none")
		}
	}
	return out
}

// chosen says which steps leave an agent more tools than in a trusted pipeline.
func chosen(plan, trusted *pipelines.Pipeline) (out []string) {
	for _, ph := range slices.Concat(plan.Phases, plan.Spare) {
		same := trusted.Phase(ph.Name)
		if same == nil {
			continue
		}
		for _, step := range []struct {
			name        string
			mine, other pipelines.Step
		}{{"execute", ph.Execute, same.Execute}, {"review", ph.Review, same.Review}, {"revise", ph.Revise, same.Revise}} {
			if !step.mine.Tools.Within(step.other.Tools) {
				out = append(out, fmt.Sprintf("%s of phase %.100q has more tools, by the choice %s", step.name, ph.Name, said(step.mine.Tools)))
			}
		}
	}
	return out
}

// of gives what a pipeline lets programs do. Which of the agents it names do what is no
// question: a person may have said so when the run began.
func of(plan *pipelines.Pipeline) powers {
	p := powers{}
	for _, a := range plan.Agents {
		who := "an agent"
		if len(a.Command) > 0 { // which may be a script of the branch: what another agent has is not for it
			who = "the agent " + said(a.Command)
			p.add("an agent is the program %s", said(a.Command))
		}
		for _, name := range a.Env {
			p.add("%s sees the variable %.100q", who, name)
		}
		for _, server := range a.MCP {
			p.add("%s has the server of tools %s", who, said(server))
		}
		for _, arg := range a.Args {
			p.add("%s is started with the argument %s", who, said(arg))
		}
	}
	for _, s := range plan.Setup {
		p.check("the setup", s.Check)
	}
	for _, h := range plan.Hooks {
		p.add("it has the hook %s", said(h))
	}
	for _, ph := range slices.Concat(plan.Phases, plan.Spare) {
		p.phase(ph)
	}
	for model, price := range plan.Prices {
		p.add("the model %.100q costs %s", model, said(price))
	}
	for _, pattern := range plan.Open {
		p.add("agents may ask to change %.100q", pattern)
	}
	for _, pattern := range plan.Secrets.Allow {
		p.add("what looks like a secret may stand in %.100q", pattern)
	}
	if plan.Sandbox != (pipelines.Sandbox{}) {
		p.add("the sandbox leaves to programs %s", said(plan.Sandbox))
	}
	return p
}

func (p powers) phase(ph pipelines.Phase) {
	p.add("phase %.100q may change %q", ph.Name, ph.Access)
	for name, step := range map[string]pipelines.Step{"execute": ph.Execute, "review": ph.Review, "revise": ph.Revise} {
		p.network(fmt.Sprintf("%s of phase %.100q", name, ph.Name), step.Network)
		p.add("%s of phase %.100q has access %q", name, ph.Name, cmp.Or(step.Access, "as usual"))
	}
	for _, c := range ph.Checks {
		p.check("a check", c)
	}
}

func (p powers) check(who string, c pipelines.Check) {
	p.add("%s runs %s", who, said(c.Run))
	p.network(fmt.Sprintf("%s, %s,", who, said(c.Run)), c.Network)
	for name, value := range c.Env {
		p.add("%s, %s, has the variable %s", who, said(c.Run), said(name+"="+value))
	}
}

func (p powers) network(who string, n pipelines.Network) {
	if !n.Closed {
		p.add("%s reaches the whole network", who)
		return
	}
	for _, host := range n.Allow {
		p.add("%s reaches %.100q", who, host)
	}
	if n.Listen {
		p.add("%s may have servers", who)
	}
}

// said is a value as JSON, in which no character can deceive whoever reads it. It is whole: what
// is cut off could be the same only in the part that is shown.
func said(v any) string {
	data, _ := json.Marshal(v) // texts, numbers and lists of them
	return fmt.Sprintf("%+q", data)
}

// TrustCommits tells the commits of a run from those that others have put on its branch. Anybody can
// write the trailers of a run or copy them with a message, so they alone say nothing.
type TrustCommits struct {
	Branch TrustBranch
	Issue  string
	Record string // the file of the record
}

// TrustBranch is the branch of a run.
type TrustBranch interface {
	// ReadFile reads a file as it is in a commit; the error wraps fs.ErrNotExist where there is none.
	ReadFile(ctx context.Context, commit, path string) ([]byte, error)
	// Recorded reports whether the record may be from a commit or lead on from it.
	Recorded(ctx context.Context, c git.LogEntry) (bool, error)
	// SameWork reports whether two commits are the same but for the folder of the run.
	SameWork(ctx context.Context, one, other string) (bool, error)
}

// Newest gives the place of the newest commit in a log that a step of the run has made and that
// is one of those wanted; -1 if there is none. With nil all are wanted.
func (o TrustCommits) Newest(ctx context.Context, log []git.LogEntry, wanted func(git.LogEntry) bool) (int, error) {
	for i, c := range log {
		if wanted != nil && !wanted(c) {
			continue
		}
		if is, err := o.step(ctx, c); is || err != nil {
			return i, err
		}
	}
	return -1, nil
}

// Has reports whether a commit is one of the run: one in which its record went on, or one
// that takes its folder off the branch and nothing else.
func (o TrustCommits) Has(ctx context.Context, c git.LogEntry) (bool, error) {
	for _, t := range c.Trailers {
		if t.Key == git.RecordTrailer && hash().MatchString(t.Value) {
			return o.takesOff(ctx, c, t.Value)
		}
	}
	return o.step(ctx, c)
}

// step reports whether the record went on in a commit that has the trailer of the run.
func (o TrustCommits) step(ctx context.Context, c git.LogEntry) (bool, error) {
	if !slices.Contains(c.Trailers, git.Trailer{Key: "Reprise-Issue", Value: o.Issue}) {
		return false, nil
	}
	if len(c.Parents) > 0 {
		now, err := o.Branch.ReadFile(ctx, c.Commit, o.Record)
		before, none := o.Branch.ReadFile(ctx, c.Parents[0], o.Record)
		for _, err := range []error{err, none} {
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return false, err
			}
		}
		if bytes.Equal(now, before) {
			return false, nil
		}
	}
	return o.Branch.Recorded(ctx, c)
}

// takesOff reports whether a commit has the work of the one that it names for the record, and
// the record leads on from that.
func (o TrustCommits) takesOff(ctx context.Context, c git.LogEntry, named string) (bool, error) {
	switch _, err := o.Branch.ReadFile(ctx, named, o.Record); {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil // it is not here, or another commit
	case err != nil:
		return false, err
	}
	if is, err := o.Branch.Recorded(ctx, git.LogEntry{Commit: named}); !is || err != nil {
		return false, err
	}
	return o.Branch.SameWork(ctx, named, c.Commit)
}

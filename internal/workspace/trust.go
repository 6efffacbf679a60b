package workspace

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/issue"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

const (
	trustKnown = "trusted" // the file in a run's folder with the digests of the pipelines that this machine has worked with
	mostKnown  = 100       // of those
	mostSaid   = 12        // things that a pipeline does besides
)

// MarkTrusted notes in a run's folder on this machine that it is worked on with the pipeline of that digest.
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

// checkTrust refuses a run whose pipeline lets programs do what the default branch's does not, now or when it began.
func (w *opening) checkTrust(ctx context.Context) error {
	run := w.Run
	if slices.Contains(marks(filepath.Dir(w.Repo.Dir())), run.Pipeline.Digest) {
		return nil
	}
	why, err := w.wider(ctx)
	if err != nil || len(why) == 0 {
		return err
	}
	more := ""
	if n := len(why) - mostSaid; n > 0 {
		why, more = why[:mostSaid], fmt.Sprintf("\n- and %d more", n)
	}
	return exit.Usagef("this machine has not worked on the run of issue %s with the pipeline that is on %s, and whoever can push to that branch can have written it:\n- %s%s\nLook at it with `reprise explain --issue %[1]s`. To go on with it all the same, add --trust-branch: `reprise run --issue %[1]s --trust-branch`; with the pipeline as it is defined now: `reprise run --issue %[1]s --refresh`",
		run.IssueNumber, run.BranchName, strings.Join(why, "\n- "), more)
}

// wider says what the run's pipeline and first command line let programs do that no trusted pipeline does.
func (w *opening) wider(ctx context.Context) ([]string, error) {
	run, plan := w.Run, w.Plan
	if !isFindable(run.Pipeline.Source) || !isFindable(plan.Source) {
		return []string{fmt.Sprintf("it comes from the file %.100q, which the default branch does not have", run.Pipeline.Source)}, nil
	}
	first := []string{fmt.Sprintf("the default branch has no pipeline %.100q without mistakes", run.Pipeline.Name)}
	found := false
	for _, src := range []*git.Source{w.Source, asItBegan(ctx, w.Source, run.BaseCommit)} {
		if src == nil {
			continue
		}
		trusted, err := w.backend.Define(ctx, src, issue.Issue{ID: run.IssueNumber}, Choice{
			Pipeline: pipelineOption(run, plan.Preset), Language: run.Language, Part: plan.Part, Agent: plan.Given.Agent, Model: plan.Given.Model, Weight: plan.Given.Weight,
		})
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.As(err, new(pipelines.Mistakes)), errors.As(err, new(exit.UsageError)): // it has none that could be compared
			continue
		case err != nil:
			return nil, err
		}
		more := widerThan(plan, trusted.Plan)
		if len(more) == 0 {
			return nil, nil
		}
		if !found {
			first, found = more, true
		}
	}
	return first, nil
}

// asItBegan gives the repository with base for the default branch, in whose history it is; nil where not shown.
func asItBegan(ctx context.Context, src *git.Source, base string) *git.Source {
	if src.DefaultBranch == "" || !hash().MatchString(base) {
		return nil
	}
	for _, ref := range []string{"refs/heads/", "refs/remotes/origin/"} {
		// A branch or commit that is not here shows nothing.
		if is, err := src.Contains(ctx, ref+src.DefaultBranch, base); err == nil && is {
			return src.At(base)
		}
	}
	return nil
}

var hash = text.Pattern(`^([0-9a-f]{40}|[0-9a-f]{64})$`)

// widerThan says what plan has that trusted lacks, of what decides what programs may do, and what it leaves unprotected.
func widerThan(plan, trusted *pipelines.Pipeline) (out []string) {
	has, had := powers(plan), powers(trusted)
	for _, what := range slices.Sorted(maps.Keys(has)) {
		if !had[what] {
			out = append(out, what)
		}
	}
	for _, pattern := range trusted.Protect {
		if !slices.Contains(plan.Protect, pattern) {
			out = append(out, fmt.Sprintf("it does not protect %.100q", pattern))
		}
	}
	return out
}

// powers are the settings that decide what programs may do; not which agent does what: a person may have said so.
func powers(plan *pipelines.Pipeline) map[string]bool {
	all := map[string]bool{}
	add := func(what string, value any) { all[what+": "+said(value)] = true }
	for _, a := range plan.Agents {
		who := "an agent"
		if len(a.Command) > 0 { // which may be a script of the branch: what another agent has is not for it
			who = "the agent " + said(a.Command)
			add("an agent is a program", a.Command)
		}
		for _, name := range a.Env {
			add(who+" sees a variable", name)
		}
		for _, server := range a.MCP {
			add(who+" has a server of tools", server)
		}
		for _, arg := range a.Args {
			add(who+" is started with an argument", arg)
		}
		add("an agent has the choice of tools", a.Tools)
	}
	for model, price := range plan.Prices {
		add(fmt.Sprintf("prices of %.100q", model), price)
	}
	for _, pattern := range plan.Open {
		add("open", pattern)
	}
	for _, setup := range plan.Setup {
		add("setup", setup)
	}
	for _, hook := range plan.Hooks {
		add("hooks", hook)
	}
	add("budget", plan.Budget)
	add("sandbox", plan.Sandbox)
	add("secrets", plan.Secrets)
	for _, ph := range slices.Concat(plan.Phases, plan.Spare) {
		phase := fmt.Sprintf("phase %.100q", ph.Name)
		add(phase+" may change", ph.Access)
		add(phase+" is approved by", []any{ph.Approve, ph.Approvers})
		for _, check := range ph.Checks {
			add("a check", check)
		}
		for name, s := range map[string]pipelines.Step{"execute": ph.Execute, "review": ph.Review, "revise": ph.Revise} {
			add(name+" of "+phase+" reaches", s.Network)
			add(name+" of "+phase+" has access", s.Access)
			add(name+" of "+phase+" has the choice of tools", s.Tools)
		}
	}
	return all
}

// said is a value as JSON in which no character can deceive, and whole: what was cut off could be what differs.
func said(v any) string {
	data, _ := json.Marshal(v) // texts, numbers and lists of them
	return fmt.Sprintf("%+q", data)
}

// newest gives the place in a log of the newest commit made by a step of the run and wanted (nil: any); -1 if none.
// Anybody can write a run's trailers or copy them, so they alone say nothing.
func (w *Workspace) newest(ctx context.Context, log []git.LogEntry, wanted func(git.LogEntry) bool) (int, error) {
	for i, c := range log {
		if wanted != nil && !wanted(c) {
			continue
		}
		if is, err := w.step(ctx, c); is || err != nil {
			return i, err
		}
	}
	return -1, nil
}

// Made reports whether a commit is the run's: its record went on, or it takes its folder off the branch, no more.
func (w *Workspace) Made(ctx context.Context, c git.LogEntry) (bool, error) {
	for _, t := range c.Trailers {
		if t.Key == git.RecordTrailer && hash().MatchString(t.Value) {
			return w.takesOff(ctx, c, t.Value)
		}
	}
	return w.step(ctx, c)
}

// step reports whether the record went on in a commit that has the trailer of the run.
func (w *Workspace) step(ctx context.Context, c git.LogEntry) (bool, error) {
	if !slices.Contains(c.Trailers, git.Trailer{Key: "Reprise-Issue", Value: w.Run.IssueNumber}) {
		return false, nil
	}
	if len(c.Parents) > 0 {
		now, err := w.Repo.ReadFile(ctx, c.Commit, phases.RecordFile(w.Issue.ID))
		before, none := w.Repo.ReadFile(ctx, c.Parents[0], phases.RecordFile(w.Issue.ID))
		for _, err := range []error{err, none} {
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				return false, err
			}
		}
		if bytes.Equal(now, before) {
			return false, nil
		}
	}
	return w.Repo.Recorded(ctx, c)
}

// takesOff reports whether a commit has the work of the one that it names, and the record leads on from that.
func (w *Workspace) takesOff(ctx context.Context, c git.LogEntry, named string) (bool, error) {
	switch _, err := w.Repo.ReadFile(ctx, named, phases.RecordFile(w.Issue.ID)); {
	case errors.Is(err, fs.ErrNotExist):
		return false, nil // it is not here, or another commit
	case err != nil:
		return false, err
	}
	if is, err := w.Repo.Recorded(ctx, git.LogEntry{Commit: named}); !is || err != nil {
		return false, err
	}
	return w.Repo.SameWork(ctx, named, c.Commit)
}

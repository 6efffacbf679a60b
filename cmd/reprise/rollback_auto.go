package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/internal/issue"
	"github.com/reprise-ci/reprise/internal/page"
	"github.com/reprise-ci/reprise/internal/terminal"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/prompts"
)

// automatic is what became of a rollback that an agent was asked about.
type automatic struct {
	DryRun    bool               `json:"dry_run"`
	Diagnosis *phases.Diagnosis  `json:"diagnosis"`     // nil: no agent was asked, see Why
	Why       string             `json:"why,omitempty"` // in English
	Agent     string             `json:"agent,omitempty"`
	CostUSD   float64            `json:"cost_usd"`
	Acted     bool               `json:"acted"`             // the run was taken back
	Command   string             `json:"command,omitempty"` // that takes the run back as proposed
	Entry     *metadata.Rollback `json:"entry,omitempty"`
	Moves     map[string]string  `json:"moves,omitempty"`
	Comment   string             `json:"comment,omitempty"` // address of the comment on the issue that proposes it
	back      phases.RollbackPlan
	not       metadata.Reason // why nobody is asked, or the run is not taken back
}

// rollbackByDiagnosis lets an agent find out whether a run has to go back, and takes it back if the
// agent is sure. Changed says which flags were given.
func rollbackByDiagnosis(ctx context.Context, env environ.Env, o rollbackRequest, changed func(flag string) bool) (err error) {
	if err := issue.CheckID(o.Id); err != nil {
		return err
	}
	for _, flag := range []string{"to-phase", "to-step", "from-phase", "attempt", "reason-file", "interactive"} {
		if changed(flag) {
			return exit.Usagef("--auto finds out by itself where to go back to, and why: leave out --%s", flag)
		}
	}
	if o.Reason = strings.TrimSpace(o.Reason); changed("reason") {
		if n := utf8.RuneCountInString(o.Reason); n > command.MaxReason {
			return exit.Usagef("--reason has %d characters; with --auto the limit is %d", n, command.MaxReason)
		}
		if err := command.CheckReason(o.Reason); err != nil {
			return err
		}
		o.Reason = env.Finder().Mask(o.Reason)
	}
	w, err := openClaimed(ctx, env, o.Options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	a := automatic{DryRun: o.Dry, not: phases.WhyNoDiagnosis(phases.On(w.Plan, w.Run), o.Reason)}
	switch {
	case a.not != "" && (w.Run.Status == metadata.Running || w.Run.Status == metadata.Interrupted):
		return exit.Usagef("no agent is asked: %s; go on with: reprise run --issue %s, say what you have seen with --reason, or also where to go back to with --to-phase", a.not.In(prompts.Words("en")), o.Id)
	case a.not == "":
		err = diagnose(ctx, w, o, &a)
	}
	if err == nil && a.Acted {
		err = commitRollback(ctx, w, o, &a.back)
	}
	if err != nil {
		return err
	}
	a.Why = a.not.In(prompts.Words("en"))
	return a.tell(o, w)
}

// diagnose asks the agent, commits what that cost, and works out what the answer would do.
func diagnose(ctx context.Context, w *workspace.Workspace, o rollbackRequest, a *automatic) error {
	opts, err := workspace.AgentOptions(w, o.Options)
	if err != nil {
		return err
	}
	a.Agent = phases.Diagnosing(phases.On(w.Plan, w.Run)).Agent
	if why := w.Missing(a.Agent, opts); len(why) > 0 {
		return phases.Refuse(metadata.Because("no_doctor", "missing", workspace.Lined(why)))
	}
	w.SayLacking()
	e, err := w.Engine(o.Options, engine.Quiet{})
	if err != nil {
		return err
	}
	before := w.Run.Cost.USD
	run, d, err := e.Diagnose(ctx, w.Run, o.Reason)
	w.Run = run
	if err != nil {
		return undiagnosed(w, *a, err)
	}
	a.Diagnosis, a.CostUSD = &d, metadata.Rounded(run.Cost.USD-before)
	if !d.NeedsRollback {
		return nil
	}
	a.Command = commandFor(o, d)
	a.back, err = phases.FollowDiagnosis(phases.On(w.Plan, run), d, phases.Rollback{By: w.Source.UserName, At: w.Env.Now(), Restore: o.Restore})
	if err != nil {
		return fmt.Errorf("the rollback that was proposed cannot be carried out: %w", err)
	}
	a.Entry, a.Moves, a.not = &a.back.Entry, a.back.Moves, command.Reluctance(d, run, o.Dry)
	if a.Acted = a.not == ""; !a.Acted && !o.Dry {
		a.Comment = propose(ctx, w, metadata.Decision{
			At: w.Env.Now(), By: w.Source.UserName, Why: command.Proposal(command.LastWhy(run), d, a.not),
			Command: command.Command{Name: "rollback", Auto: true, Restore: o.Restore}.String(),
		})
	}
	return nil
}

// propose posts what an agent proposes on the issue of the run, and gives the address of the comment; "" where the
// run is not one of an issue on GitHub, is not pushed, or there is no token. That it cannot be posted is told.
func propose(ctx context.Context, w *workspace.Workspace, about metadata.Decision) string {
	f, err := issue.ForgeOf(w.Env)
	if err != nil || f.Token == "" || !w.Push || w.Run.IssueURL == "" {
		return ""
	}
	r, err := f.Parse(w.Run.IssueURL)
	said, ok := page.OpinionOf(about)
	if err != nil || !ok || strconv.Itoa(r.Number) != w.Run.IssueNumber || !strings.EqualFold(w.Source.GitHub, r.Repository) || !f.Serves(w.Source.RemoteURL) {
		return ""
	}
	marker := page.OpinionMarker(about)
	gh, err := issue.Client(w.Env, f, f.Token, w.Env.Stderr)
	var c github.Comment
	if err == nil {
		c, err = gh.In(r.Repository).Thread(r.Number).Post(ctx, marker, page.OpinionReply(marker, phases.On(w.Plan, w.Run), said), page.Since(about.At))
	}
	if err != nil {
		_, _ = fmt.Fprintf(w.Env.Stderr, "reprise: %s\n", w.Shown("not proposed there", "where", fmt.Sprintf("%s#%d", r.Repository, r.Number), "why", err.Error()))
		return ""
	}
	return c.URL
}

// undiagnosed says why there is no diagnosis, and what to do instead.
func undiagnosed(w *workspace.Workspace, a automatic, err error) error {
	if over, is := errors.AsType[*engine.OverBudget](err); is {
		more := text.If(over.Limit != "", fmt.Sprintf(", or more budget with: reprise run --issue %s %s", w.Issue.ID, over.Limit.Flag()))
		_, _ = fmt.Fprintf(w.Env.Stderr, "reprise: no diagnosis: %s; give a reason yourself with --to-phase and --reason%s\n", over, more)
		return exit.Code(exit.Budget)
	}
	return fmt.Errorf("no diagnosis: %s: %w; the run is as it was, but for what the call cost; give a reason yourself with --to-phase and --reason", a.Agent, err)
}

// commandFor is the command by which a person does what is proposed.
func commandFor(o rollbackRequest, d phases.Diagnosis) string {
	words := []string{"reprise", "rollback"}
	if o.Repo != "." {
		words = append(words, "--repo", text.QuoteShell(o.Repo))
	}
	words = append(words, "--issue", o.Id, "--to-phase", d.ToPhase, "--to-step", string(d.ToStep))
	if o.Restore {
		words = append(words, "--restore")
	}
	return strings.Join(append(words, "--reason="+text.QuoteShell(text.Flat(d.Reason))), " ")
}

// tell prints what became of it.
func (a automatic) tell(o rollbackRequest, w *workspace.Workspace) error {
	if o.JSON {
		if err := text.PrintJSON(w.Env.Stdout, a); err != nil {
			return err
		}
	} else {
		a.show(w)
	}
	switch {
	case a.Diagnosis == nil || !a.Diagnosis.NeedsRollback || a.Acted:
		return nil
	case o.Dry:
		_, _ = fmt.Fprintln(w.Env.Stderr, w.Shown("dry call"))
		return nil
	}
	return exit.Code(exit.Waiting)
}

func (a automatic) show(w *workspace.Workspace) {
	r := terminal.NewReport(w.Env.Stdout, terminal.ShowOptions(w.Env)).In(w.Run.Language)
	if a.Diagnosis == nil {
		r.Line("%s", r.Shown("nobody asked", "why", text.Flat(a.not.In(r.Catalogue))))
		return
	}
	d := *a.Diagnosis
	r.Text(r.Shown("proposes", "agent", text.Flat(a.Agent), "diagnosis", text.Flat(d.Proposes().In(r.Catalogue)), "cost", text.USD(a.CostUSD)), "")
	r.Heading(r.Shown("saw"))
	r.Text(d.Analysis, "  | ") // in Actions a line that begins with :: would be a command
	if !d.NeedsRollback {
		return
	}
	r.Line("")
	terminal.ShowRollback(w.Env.Stdout, w.Plan, a.back, true, terminal.ShowOptions(w.Env))
	if a.Acted {
		return
	}
	r.Heading(r.Shown("reluctant", "why", a.not.In(r.Catalogue)))
	r.Line("%s", a.Command)
	if a.Comment != "" {
		r.Line("%s", r.Shown("proposed there", "url", a.Comment))
	}
}

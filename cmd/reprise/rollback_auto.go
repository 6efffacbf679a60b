package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// automatic is what became of a rollback that an agent was asked about.
type automatic struct {
	DryRun    bool               `json:"dry_run"`
	Diagnosis *phases.Diagnosis  `json:"diagnosis"` // nil: no agent was asked, see Why
	Why       string             `json:"why,omitempty"`
	Agent     string             `json:"agent,omitempty"`
	CostUSD   float64            `json:"cost_usd"`
	Acted     bool               `json:"acted"`             // the run was taken back
	Command   string             `json:"command,omitempty"` // that takes the run back as proposed
	Entry     *metadata.Rollback `json:"entry,omitempty"`
	Moves     map[string]string  `json:"moves,omitempty"`

	back phases.Rewound
}

// runAuto lets an agent find out whether a run has to go back, and takes it
// back if the agent is sure.
func runAuto(ctx context.Context, env environment, o rollbackOptions, changed func(flag string) bool) (err error) {
	if err := checkID(o.id); err != nil {
		return err
	}
	for _, flag := range []string{"to-phase", "to-step", "from-phase", "reason", "reason-file", "interactive"} {
		if changed(flag) {
			return usagef("--auto finds out by itself where to go back to, and why: leave out --%s", flag)
		}
	}
	w, err := openWorkspace(ctx, env, o.opening)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	if err := w.busy(env.now()); err != nil {
		return err
	}
	a := automatic{DryRun: o.dry, Why: phases.Say("en", phases.Quiet(w.plan, w.run))}
	switch {
	case w.run.Status == metadata.Running, w.run.Status == metadata.Interrupted:
		return usagef("no agent is asked: %s; go on with: reprise run --issue %s, or give a reason yourself with --to-phase and --reason", a.Why, o.id)
	case a.Why == "":
		err = w.diagnose(ctx, env, o, &a)
	}
	if err != nil {
		return err
	}
	if a.Acted {
		err = w.rewind(ctx, env, o, &a.back)
	}
	if err != nil {
		return err
	}
	return a.tell(env, o, w)
}

// diagnose asks the agent, commits what that cost, and works out what the answer
// would do.
func (w *workspace) diagnose(ctx context.Context, env environment, o rollbackOptions, a *automatic) error {
	opts, err := agentOptions(env, w, o.opening)
	if err != nil {
		return err
	}
	a.Agent = phases.Doctor(w.plan, w.run)
	if why := w.missing(a.Agent, opts); len(why) > 0 {
		return fmt.Errorf("nobody can look at this run:\n%s\nInstall it, or name another: --agent NAME", strings.Join(why, "\n"))
	}
	w.sayLacking(env)
	e, err := w.engine(env, o.opening, quiet{})
	if err != nil {
		return err
	}
	before := w.run.Cost.USD
	run, d, err := e.Diagnose(ctx, w.run)
	w.run, a.Agent = run, cmp.Or(d.By, a.Agent)
	if err != nil {
		return w.undiagnosed(env, *a, err)
	}
	a.Diagnosis, a.CostUSD = &d, phases.Rounded(run.Cost.USD-before)
	if !d.NeedsRollback {
		return nil
	}
	a.Command = rollbackCommandFor(o, d)
	a.back, err = phases.Follow(w.plan, run, d, phases.Rewind{At: env.now(), Restore: o.restore})
	if err != nil {
		return fmt.Errorf("the rollback that was proposed cannot be carried out: %w", err)
	}
	a.Entry, a.Moves = &a.back.Entry, a.back.Moves
	a.Why = phases.Say("en", phases.Alone(run))
	a.Acted = d.Confidence == phases.High && a.Why == "" && !o.dry
	return nil
}

// undiagnosed says why there is no diagnosis, and what to do instead.
func (w *workspace) undiagnosed(env environment, a automatic, err error) error {
	var over *phases.OverBudget
	if errors.As(err, &over) {
		_, _ = fmt.Fprintf(env.stderr, "reprise: no diagnosis: %s; give a reason yourself with --to-phase and --reason, or more budget with: reprise run --issue %s %s\n", over, w.issue.ID, over.Limit.Flag())
		return exitCode(exitBudget)
	}
	return fmt.Errorf("no diagnosis: %s: %w; the run is as it was, but for what the call cost; give a reason yourself with --to-phase and --reason", a.Agent, err)
}

// rollbackCommandFor is the command by which a person does what is proposed.
func rollbackCommandFor(o rollbackOptions, d phases.Diagnosis) string {
	words := []string{"reprise", "rollback"}
	if o.repo != "." {
		words = append(words, "--repo", quoteShell(o.repo))
	}
	words = append(words, "--issue", o.id, "--to-phase", d.ToPhase, "--to-step", string(d.ToStep))
	if o.restore {
		words = append(words, "--restore")
	}
	return strings.Join(append(words, "--reason="+quoteShell(flat(d.Reason))), " ")
}

// quoteShell makes a text one word of a shell's command line.
func quoteShell(text string) string {
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// tell prints what became of it. The run waits for a person if a rollback is
// proposed and was not carried out.
func (a automatic) tell(env environment, o rollbackOptions, w *workspace) error {
	if o.json {
		if err := printJSON(env.stdout, a); err != nil {
			return err
		}
	} else {
		a.show(env, w)
	}
	switch {
	case a.Diagnosis == nil || !a.Diagnosis.NeedsRollback || a.Acted:
		return nil
	case o.dry:
		_, _ = fmt.Fprintln(env.stderr, "Dry run: nothing was taken back; what the call cost is recorded.")
		return nil
	}
	return exitCode(exitWaiting)
}

// show prints it for people.
func (a automatic) show(env environment, w *workspace) {
	r := newReport(env.stdout, viewOptions{})
	if a.Diagnosis == nil {
		r.line("No agent was asked: %s", flat(a.Why))
		return
	}
	d := *a.Diagnosis
	r.line("%s proposes: %s, for %s", flat(a.Agent), flat(phases.Say("en", d.Proposes())), usd(a.CostUSD))
	r.heading("What it saw")
	r.text(d.Analysis, "  | ") // in Actions a line that begins with :: would be a command
	if !d.NeedsRollback {
		return
	}
	r.line("")
	showRewound(env.stdout, w.plan, a.back)
	if a.Acted {
		return
	}
	r.heading("Not taken back: " + a.reluctance())
	r.line("%s", a.Command)
}

// reluctance says why a proposal was not carried out.
func (a automatic) reluctance() string {
	whys := slices.DeleteFunc([]string{
		when(a.DryRun, "it is a dry run"), when(a.Diagnosis.Confidence != phases.High, "the agent is not sure"), a.Why,
	}, func(s string) bool { return s == "" })
	return strings.Join(whys, "; ") + ". This does it:"
}

package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/folders"
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

func rollbackCommand(env environ.Env) *cobra.Command {
	var o rollbackRequest
	c := &cobra.Command{
		Use:   "rollback --issue ID (--to-phase PHASE (--reason TEXT | --reason-file FILE | --interactive) | --auto)",
		Short: "Take a run back to a phase, with a reason",
		Long: `Take a run back to a step of a phase. The reason reaches the next agent, first
thing in its prompt; later phases run again. Nothing is deleted: what later
phases wrote is kept under superseded/, and the history of the branch only grows.
Continue afterwards with: reprise run --issue ID

With --auto an agent, the reviewer of the phase that the run is at, reads the
record and the newest reviews and says where to go back to, and why. If it is
sure, the run is taken back; otherwise the command that does it is printed, and
the exit code is 3. If the issue is on GitHub and there is a token, the command
is proposed in a comment on it, too. With --reason the agent is told what you
have seen; then it is asked even if there is no open finding and no failed check.
What the call costs counts against the budget of the run.`,
		RunE: func(c *cobra.Command, _ []string) error {
			if o.Auto {
				return rollbackByDiagnosis(c.Context(), env, o, c.Flags().Changed)
			}
			for _, flag := range []string{"agent", "stubs", "sandbox"} {
				if c.Flags().Changed(flag) {
					return exit.Usagef("--%s goes with --auto: without it no agent is asked", flag)
				}
			}
			return rollBack(c.Context(), env, o, c.Flags().Changed("reason"))
		},
	}
	f := c.Flags()
	repoFlag(c, &o.Repo)
	issueFlag(c, &o.Id)
	f.StringVar(&o.To, "to-phase", "", "phase to take the run back to")
	f.StringVar(&o.Step, "to-step", string(metadata.Revise), "step to go on with: execute, review or revise")
	f.StringVar(&o.From, "from-phase", "", "phase the run comes from (default: where it is)")
	f.StringVar(&o.Reason, "reason", "", "why, in at most 10,000 characters; with --auto: what you have seen, if anything")
	f.StringVar(&o.ReasonFile, "reason-file", "", "file that says why, at most 100 KB")
	f.BoolVar(&o.Interactive, "interactive", false, "type the reason")
	f.BoolVar(&o.Restore, "restore", false, "also take the code back to what it was when the phase ended")
	f.BoolVar(&o.Force, "force", false, "do not ask")
	f.BoolVar(&o.Dry, "dry-run", false, "show what would change, and change nothing (with --auto: but what the call costs is recorded)")
	f.BoolVar(&o.Auto, "auto", false, "let an agent find out whether to go back, where to, and why")
	f.StringVar(&o.Agent, "agent", "", "with --auto: agent to ask (default: the reviewer of the phase that the run is at)")
	f.StringVar(&o.Stubs, "stubs", "", "with --auto: file of scripted answers, for the rehearsal agent")
	sandboxFlag(f, &o.Sandbox)
	pushFlag(f, &o.Push)
	f.BoolVar(&o.JSON, "json", false, "print what changed as one JSON object")
	return c
}

// rollBack takes a run back to where o says. Reasoned is whether a reason was given as text,
// be it empty.
func rollBack(ctx context.Context, env environ.Env, o rollbackRequest, reasoned bool) (err error) {
	switch {
	case issue.CheckID(o.Id) != nil:
		return issue.CheckID(o.Id)
	case o.To == "":
		return exit.Usagef("back to which phase? Give --to-phase PHASE")
	case countFlags(reasoned, o.ReasonFile != "", o.Interactive) != 1:
		return exit.Usagef("a rollback needs one reason, it is what the next agent is told: give --reason TEXT, --reason-file FILE or --interactive")
	}
	r, w, err := o.open(ctx, env)
	if err != nil {
		return err
	}
	if w != nil {
		defer func() { err = errors.Join(err, w.Close()) }()
	}
	reason, review, err := o.readReason(env, r)
	if err != nil {
		return err
	}
	if reason = env.Finder().MaskKnown(reason); !o.Dry { // reading the rules would take longer than all the rest
		reason = env.Finder().Mask(reason)
	}
	back, err := phases.PlanRollback(r.Plan, r.Run, phases.Rollback{
		To: o.To, Step: metadata.Step(o.Step), From: cmp.Or(o.From, command.StandsAt(r.Plan, r.Run, o.To)), Reason: reason, ReviewResult: review,
		By: r.Source.UserName, Trigger: metadata.Manual, Restore: o.Restore, At: env.Now(),
	})
	if err != nil {
		return exit.AsUsage(command.WithNearest(err))
	}
	if o.Dry && o.Restore {
		if _, err := w.Restore(ctx, &back); err != nil {
			return err
		}
	}
	if o.JSON {
		defer func() {
			if err == nil {
				err = text.PrintJSON(env.Stdout, map[string]any{"dry_run": o.Dry, "entry": back.Entry, "moves": back.Moves, "restored": text.List(back.Paths)})
			}
		}()
	} else {
		terminal.ShowRollback(env.Stdout, r.Plan, back, terminal.ShowOptions(env))
	}
	if o.Dry {
		_, _ = fmt.Fprintln(env.Stderr, r.Catalogue().Shown("dry"))
		return nil
	}
	if ok, err := o.confirmed(env, r.Catalogue()); err != nil || !ok {
		return err
	}
	return commitRollback(ctx, w, env, o, &back)
}

// open takes the run, or for a dry run only looks at it: then there is no
// workspace, but a scratch one where the code has to be gone back with.
func (o rollbackRequest) open(ctx context.Context, env environ.Env) (*workspace.Recorded, *workspace.Workspace, error) {
	if o.Dry && !o.Restore {
		r, err := workspace.Look(ctx, env, o.Repo, o.Id)
		return r, nil, err
	}
	o.Scratch, o.Still = o.Dry, true
	opens := openClaimed
	if o.Dry {
		opens = workspace.Open
	}
	w, err := opens(ctx, env, o.Options)
	if err != nil {
		return nil, nil, err
	}
	return &workspace.Recorded{Definition: w.Definition, Source: w.Source, Issue: w.Issue, Run: w.Run}, w, nil
}

// confirmed asks on a terminal, unless told not to. Nobody is asked in CI.
func (o rollbackRequest) confirmed(env environ.Env, c prompts.Catalogue) (bool, error) {
	if o.Force || env.Getenv("CI") != "" || !environ.IsTerminal(env.Stdin) {
		return true, nil
	}
	_, _ = fmt.Fprint(env.Stderr, c.Shown("ask"))
	answer, err := bufio.NewReader(env.Stdin).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return false, err
	}
	if a := strings.ToLower(strings.TrimSpace(answer)); a == "y" || a == "yes" {
		return true, nil
	}
	_, _ = fmt.Fprintln(env.Stderr, c.Shown("unchanged"))
	return false, exit.Code(exit.Cancelled)
}

// rollbackRequest is what is asked of a rollback: the flags of the command.
type rollbackRequest struct {
	workspace.Options
	To, Step, From     string
	Reason, ReasonFile string
	Interactive        bool // the reason is typed
	Restore            bool // the code goes back, too
	Force              bool // nobody is asked
	Dry                bool
	JSON               bool
	Auto               bool // an agent finds out where to
}

// commitRollback commits the rollback, and after it the restored code where asked.
func commitRollback(ctx context.Context, w *workspace.Workspace, env environ.Env, o rollbackRequest, r *phases.RollbackPlan) error {
	e, err := w.Engine(env, o.Options, engine.Quiet{})
	if err != nil {
		return err
	}
	var code engine.StagedTree
	if o.Restore {
		if code, err = w.Restore(ctx, r); err != nil {
			return err
		}
	}
	if err := e.Rollback(ctx, *r, code); err != nil {
		return err
	}
	warnOfSteering(w, env)
	terminal.Tell(env.Stderr, w.Shown("taken back", "phase", r.Entry.ToPhase, "step", terminal.WordFor(w.Catalogue(), "steps", string(r.Entry.ToStep)),
		"commit", fmt.Sprintf("%.12s", w.Repo.Tip()), "next", goOnCommand(w, r.Run)))
	return nil
}

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
	for _, flag := range []string{"to-phase", "to-step", "from-phase", "reason-file", "interactive"} {
		if changed(flag) {
			return exit.Usagef("--auto finds out by itself where to go back to, and why: leave out --%s", flag)
		}
	}
	if o.Reason = strings.TrimSpace(o.Reason); changed("reason") {
		if err := checkSeen(o.Reason); err != nil {
			return err
		}
		o.Reason = env.Finder().Mask(o.Reason)
	}
	w, err := openClaimed(ctx, env, o.Options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	a := automatic{DryRun: o.Dry, not: phases.WhyNoDiagnosis(w.Plan, w.Run, o.Reason)}
	switch {
	case a.not != "" && (w.Run.Status == metadata.Running || w.Run.Status == metadata.Interrupted):
		return exit.Usagef("no agent is asked: %s; go on with: reprise run --issue %s, say what you have seen with --reason, or also where to go back to with --to-phase", a.not.In(prompts.Words("en")), o.Id)
	case a.not == "":
		err = diagnose(ctx, w, env, o, &a)
	}
	if err == nil && a.Acted {
		err = commitRollback(ctx, w, env, o, &a.back)
	}
	if err != nil {
		return err
	}
	a.Why = a.not.In(prompts.Words("en"))
	return a.tell(env, o, w)
}

// diagnose asks the agent, commits what that cost, and works out what the answer
// would do.
func diagnose(ctx context.Context, w *workspace.Workspace, env environ.Env, o rollbackRequest, a *automatic) error {
	opts, err := workspace.AgentOptions(env, w, o.Options)
	if err != nil {
		return err
	}
	a.Agent = phases.Diagnostician(w.Plan, w.Run)
	if why := w.Missing(a.Agent, opts); len(why) > 0 {
		return exit.NotAllowed(metadata.Because("no_doctor", "missing", workspace.Lined(why)))
	}
	w.SayLacking(env)
	e, err := w.Engine(env, o.Options, engine.Quiet{})
	if err != nil {
		return err
	}
	before := w.Run.Cost.USD
	run, d, err := e.Diagnose(ctx, w.Run, o.Reason)
	w.Run = run
	if err != nil {
		return undiagnosed(w, env, *a, err)
	}
	a.Diagnosis, a.CostUSD = &d, metadata.Rounded(run.Cost.USD-before)
	if !d.NeedsRollback {
		return nil
	}
	a.Command = commandFor(o, d)
	a.back, err = phases.FollowDiagnosis(w.Plan, run, d, phases.Rollback{By: w.Source.UserName, At: env.Now(), Restore: o.Restore})
	if err != nil {
		return fmt.Errorf("the rollback that was proposed cannot be carried out: %w", exit.InEnglish{Err: err})
	}
	a.Entry, a.Moves, a.not = &a.back.Entry, a.back.Moves, command.Reluctance(d, run, o.Dry)
	if a.Acted = a.not == ""; !a.Acted && !o.Dry {
		a.Comment = propose(ctx, w, env, metadata.Decision{
			At: env.Now(), By: w.Source.UserName, Why: command.Proposal(command.LastWhy(run), d, a.not),
			Command: command.Command{Name: "rollback", Auto: true, Restore: o.Restore}.String(),
		})
	}
	return nil
}

// propose posts what an agent proposes on the issue of the run, and gives the
// address of the comment; "" where the run is not one of an issue on GitHub, is
// not pushed, or there is no token. That it cannot be posted is told.
func propose(ctx context.Context, w *workspace.Workspace, env environ.Env, about metadata.Decision) string {
	f, err := issue.ForgeOf(env)
	if err != nil || f.Token == "" || !w.Push || w.Run.IssueURL == "" {
		return ""
	}
	r, err := f.Parse(w.Run.IssueURL)
	said, ok := page.OpinionOf(about)
	if err != nil || !ok || strconv.Itoa(r.Number) != w.Run.IssueNumber || !strings.EqualFold(w.Source.GitHub, r.Repository()) || !f.Serves(w.Source.RemoteURL) {
		return ""
	}
	marker := page.OpinionMarker(about)
	gh, err := issue.Client(env, f, f.Token, env.Stderr)
	var c github.Comment
	if err == nil {
		c, err = gh.Thread(r.Owner, r.Name, r.Number).Post(ctx, marker, page.OpinionReply(marker, w.Plan, w.Run, said), page.OpinionSince(about))
	}
	if err != nil {
		_, _ = fmt.Fprintf(env.Stderr, "reprise: %s\n", w.Shown("not proposed there", "where", fmt.Sprintf("%s#%d", r.Repository(), r.Number), "why", err.Error()))
		return ""
	}
	return c.URL
}

// undiagnosed says why there is no diagnosis, and what to do instead.
func undiagnosed(w *workspace.Workspace, env environ.Env, a automatic, err error) error {
	var over *engine.OverBudget
	if errors.As(err, &over) {
		_, _ = fmt.Fprintf(env.Stderr, "reprise: no diagnosis: %s; give a reason yourself with --to-phase and --reason, or more budget with: reprise run --issue %s %s\n", over, w.Issue.ID, over.Limit.Flag())
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

// tell prints what became of it. The run waits for a person if a rollback is
// proposed and was not carried out.
func (a automatic) tell(env environ.Env, o rollbackRequest, w *workspace.Workspace) error {
	if o.JSON {
		if err := text.PrintJSON(env.Stdout, a); err != nil {
			return err
		}
	} else {
		a.show(env, w)
	}
	switch {
	case a.Diagnosis == nil || !a.Diagnosis.NeedsRollback || a.Acted:
		return nil
	case o.Dry:
		_, _ = fmt.Fprintln(env.Stderr, w.Shown("dry call"))
		return nil
	}
	return exit.Code(exit.Waiting)
}

// show prints it for people.
func (a automatic) show(env environ.Env, w *workspace.Workspace) {
	r := terminal.NewReport(env.Stdout, terminal.ShowOptions(env)).In(w.Run.Language)
	if a.Diagnosis == nil {
		r.Line("%s", r.Shown("nobody asked", "why", text.Flat(a.not.In(r.C))))
		return
	}
	d := *a.Diagnosis
	r.Text(r.Shown("proposes", "agent", text.Flat(a.Agent), "diagnosis", text.Flat(d.Proposes().In(r.C)), "cost", text.USD(a.CostUSD)), "")
	r.Heading(r.Shown("saw"))
	r.Text(d.Analysis, "  | ") // in Actions a line that begins with :: would be a command
	if !d.NeedsRollback {
		return
	}
	r.Line("")
	terminal.ShowRollback(env.Stdout, w.Plan, a.back, terminal.ShowOptions(env))
	if a.Acted {
		return
	}
	r.Heading(r.Shown("reluctant", "why", a.not.In(r.C)))
	r.Line("%s", a.Command)
	if a.Comment != "" {
		r.Line("%s", r.Shown("proposed there", "url", a.Comment))
	}
}

const maxReasonFile = 100 * 1024 // bytes, from a file

const mostTyped = 1 << 20 // bytes that are read to say how long a typed one is

// readReason gives the reason, and the path of the review it came from if it
// came from one.
func (o rollbackRequest) readReason(env environ.Env, r *workspace.Recorded) (reason, review string, err error) {
	switch {
	case o.ReasonFile != "":
		return o.readReasonFile(env, r)
	case o.Interactive:
		_, _ = fmt.Fprintln(env.Stderr, r.Catalogue().Shown("ask why"))
		data, err := io.ReadAll(io.LimitReader(env.Stdin, mostTyped+1))
		if err != nil {
			return "", "", err
		}
		if len(data) > mostTyped {
			return "", "", exit.Usagef("the reason has more than %d bytes; the limit is %d characters (put a longer one into a file: --reason-file)", mostTyped, command.MaxReason)
		}
		o.Reason = string(data)
	}
	reason = strings.TrimSpace(o.Reason)
	if n := utf8.RuneCountInString(reason); n > command.MaxReason {
		return "", "", exit.Usagef("the reason has %d characters; the limit is %d (put a longer one into a file: --reason-file)", n, command.MaxReason)
	}
	return reason, "", command.CheckReason(reason)
}

// readReasonFile reads a reason from a regular file. One inside the repository, or inside the work
// tree of the run, must not be reached through a symbolic link: others may have put it there, and
// the text goes to agents and onto the branch. The path is taken as it is written, so ".." takes away
// the name before it, wherever that would lead.
func (o rollbackRequest) readReasonFile(env environ.Env, r *workspace.Recorded) (string, string, error) {
	name := filepath.Clean(o.ReasonFile)
	info, err := os.Lstat(name)
	if err != nil {
		return "", "", exit.Usagef("reason file: %w", err)
	}
	full, err := filepath.Abs(".")
	if err == nil {
		full, err = filepath.EvalSymlinks(full) // as the system finds a relative name
	}
	if err != nil {
		return "", "", err
	}
	if full = filepath.Join(full, name); filepath.IsAbs(name) {
		full = name
	}
	if link, top, err := r.LinkTo(env, full); err != nil {
		return "", "", err
	} else if link != "" {
		return "", "", exit.Usagef("reason file %s: %s is a symbolic link, and none inside %s is followed, since it could lead to any file, whose text would go to agents and onto the branch; name the file that is meant by its own path", o.ReasonFile, link, top)
	}
	if !info.Mode().IsRegular() {
		return "", "", exit.Usagef("reason file %s is not a regular file", o.ReasonFile)
	}
	data, err := folders.ReadRegular(name, maxReasonFile)
	if err != nil {
		return "", "", exit.Usagef("reason file: %w", err)
	}
	if full, err = filepath.EvalSymlinks(full); err != nil {
		return "", "", err
	}
	reason := strings.TrimSpace(string(data))
	rel, err := r.InsideRun(env, full)
	if err != nil {
		return "", "", err
	}
	if rel == "" {
		_, _ = fmt.Fprintln(env.Stderr, "reprise: "+r.Catalogue().Shown("outside", "file", o.ReasonFile))
	}
	return reason, rel, command.CheckReason(reason)
}

// checkSeen says what is wrong with what somebody has seen, for --auto.
func checkSeen(text string) error {
	if n := utf8.RuneCountInString(text); n > command.MaxReason {
		return exit.Usagef("--reason has %d characters; with --auto the limit is %d", n, command.MaxReason)
	}
	return command.CheckReason(text)
}

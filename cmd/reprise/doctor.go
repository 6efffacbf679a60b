package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/reprise-ci/reprise/git"
	"github.com/reprise-ci/reprise/pipelines"
)

// condition says how a thing is that a run needs.
type condition string

// The conditions.
const (
	isFine    condition = "ok"
	isHint    condition = "hint"    // a run goes on without it, or it could not be found out
	isMissing condition = "missing" // it would stop a run
)

// check is one thing that a run needs.
type check struct {
	Name   string    `json:"name"`
	Status condition `json:"status"`
	Found  string    `json:"found"`
	Do     string    `json:"do"` // what a person can do; "" where all is well
}

// well, hinted and lacking make a check of each condition.
func well(name, found string) check        { return check{name, isFine, found, ""} }
func hinted(name, found, do string) check  { return check{name, isHint, found, do} }
func lacking(name, found, do string) check { return check{name, isMissing, found, do} }

// doctor looks at all that a run needs, and changes nothing.
type doctor struct {
	env  environment
	o    doctorOptions
	src  *git.Source // nil: there is no repository
	plan *pipelines.Pipeline
	is   issue  // that the run would be of; its ID is "none" without one
	run  string // how the run of the issue is; "" without one
}

// doctorOptions is what the command line of doctor says.
type doctorOptions struct {
	repo, id, pipeline, agent string
	json                      bool
}

func doctorCommand(env environment) *cobra.Command {
	var o doctorOptions
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Say what a run would lack, before anything is spent",
		Long: `doctor looks at all that a run needs: git, the repository, the workflow, the
pipelines, the agent programs and their keys, the sandbox, GitHub and what the
token may do there. It names everything that is missing at once, and what to do.
It changes nothing, asks no model, and prints no secret.

✓ is well, ! is a hint, ✗ would stop a run. Exit code 1 if there is any ✗.`,
		Example: "  reprise doctor\n  reprise doctor --issue 7 --agent codex",
		RunE: func(c *cobra.Command, _ []string) error {
			checks, err := newDoctor(env, o).examine(c.Context())
			if err != nil {
				return err
			}
			return o.show(env, checks)
		},
	}
	repoFlag(c, &o.repo)
	c.Flags().StringVar(&o.id, "issue", "", "id of an issue that a run is, or would be, of")
	c.Flags().StringVar(&o.pipeline, "pipeline", "", "pipeline that the run would take (default: chosen by the issue)")
	c.Flags().StringVar(&o.agent, "agent", "", "agent that would do all the work (default: as the pipeline says)")
	c.Flags().BoolVar(&o.json, "json", false, "print one JSON object")
	return c
}

func newDoctor(env environment, o doctorOptions) *doctor {
	return &doctor{env: env, o: o, is: issue{ID: "none"}}
}

// examine makes all checks, those first that others need. Errors are mistakes
// in the command line, and why ctx was cancelled.
func (d *doctor) examine(ctx context.Context) ([]check, error) {
	if d.o.id != "" {
		if err := checkID(d.o.id); err != nil {
			return nil, err
		}
		d.is.ID = d.o.id
	}
	var checks []check
	for _, look := range []func(context.Context) []check{
		d.git, d.repository, d.writable, d.folder, d.lost, d.values, d.workflow, d.forge, d.pipelines, d.sandbox, d.agents,
	} {
		checks = append(checks, look(ctx)...)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	return checks, nil
}

// show prints the checks, and gives the exit code.
func (o doctorOptions) show(env environment, checks []check) error {
	missing := countOf(checks, isMissing)
	if o.json {
		err := printJSON(env.stdout, struct {
			OK     bool    `json:"ok"`
			Checks []check `json:"checks"`
		}{missing == 0, checks})
		if err != nil {
			return err
		}
	} else {
		showChecks(newReport(env.stdout, showOptions(env)), checks)
	}
	if missing > 0 {
		return exitCode(exitFailed)
	}
	return nil
}

func countOf(checks []check, c condition) int {
	n := 0
	for _, k := range checks {
		if k.Status == c {
			n++
		}
	}
	return n
}

// showChecks prints a line for each check, below it what to do, and the sum.
func showChecks(r report, checks []check) {
	rows := table{}
	for _, k := range checks {
		rows.add(k.Name, flat(k.Found))
	}
	for i, line := range rows.lines() {
		k := checks[i]
		switch k.Status {
		case isFine:
			r.line("%s %s", r.green("✓"), line)
		case isHint:
			r.line("%s %s", r.yellow("!"), line)
		default:
			r.line("%s %s", r.red("✗"), line)
		}
		if k.Do != "" {
			r.line("    %s", r.faint("→ ")+flat(k.Do))
		}
	}
	r.line("")
	r.line("%s", r.bold(inSum(countOf(checks, isMissing), countOf(checks, isHint))))
}

// inSum says the result in a sentence.
func inSum(missing, hints int) string {
	switch {
	case missing == 0 && hints == 0:
		return "Nothing is missing."
	case missing == 0:
		return fmt.Sprintf("Nothing is missing; %s.", plural(hints, "hint"))
	case hints == 0:
		return fmt.Sprintf("%s would stop a run.", plural(missing, "thing"))
	}
	return fmt.Sprintf("%s would stop a run; %s.", plural(missing, "thing"), plural(hints, "hint"))
}

// isNoRepository tells a folder without a repository, or with an empty one,
// from other trouble.
func isNoRepository(err error) bool {
	var none *git.NotARepository
	var unborn *git.NoCommits
	return errors.As(err, &none) || errors.As(err, &unborn)
}

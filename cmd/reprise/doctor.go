package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-ci/reprise/internal/doctor"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/terminal"
	"github.com/reprise-ci/reprise/internal/text"
)

func doctorCommand(env environ.Env) *cobra.Command {
	var o doctor.Options
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Say what a run would lack, before anything is spent",
		Long: `doctor looks at all that a run needs: git, the repository, the workflow, the
pipelines, the agent programs and their keys, the sandbox, GitHub and what the
token may do there. It names everything that is missing at once, and what to do.
It changes nothing, asks no model, and prints no secret. With --online it also asks
the services of the agents whether they take the keys: for a list of models, which
costs nothing.

✓ is well, ! is a hint, ✗ would stop a run. Exit code 1 if there is any ✗.`,
		Example: "  reprise doctor\n  reprise doctor --issue 7 --agent codex",
		RunE: func(c *cobra.Command, _ []string) error {
			checks, err := doctor.Examine(c.Context(), env, o)
			if err != nil {
				return err
			}
			return showDoctor(o, env, checks)
		},
	}
	repoFlag(c, &o.Repo)
	c.Flags().StringVar(&o.Id, "issue", "", "id of the issue of a run, whether that has begun or not")
	c.Flags().StringVar(&o.Pipeline, "pipeline", "", "pipeline that the run would take (default: chosen by the issue)")
	c.Flags().StringVar(&o.Agent, "agent", "", "agent that would do all the work (default: as the pipeline says)")
	c.Flags().BoolVar(&o.Online, "online", false, "also try the keys of agents at their services, which costs nothing")
	c.Flags().BoolVar(&o.Json, "json", false, "print one JSON object")
	return c
}

// showDoctor prints the checks, and gives the exit code.
func showDoctor(o doctor.Options, env environ.Env, checks []doctor.Check) error {
	missing := countOf(checks, doctor.Missing)
	if o.Json {
		err := text.PrintJSON(env.Stdout, struct {
			OK     bool           `json:"ok"`
			Checks []doctor.Check `json:"checks"`
		}{missing == 0, checks})
		if err != nil {
			return err
		}
	} else {
		showChecks(terminal.NewReport(env.Stdout, terminal.ShowOptions(env)), checks)
	}
	if missing > 0 {
		return exit.Code(exit.Failed)
	}
	return nil
}

func countOf(checks []doctor.Check, c doctor.Condition) int {
	n := 0
	for _, k := range checks {
		if k.Status == c {
			n++
		}
	}
	return n
}

// showChecks prints a line for each check, below it what to do, and the sum.
func showChecks(r terminal.Report, checks []doctor.Check) {
	rows := text.Table{}
	for _, k := range checks {
		rows.Add(k.Name, text.Flat(k.Found))
	}
	for i, line := range rows.Lines() {
		k, sign := checks[i], r.Red("✗")
		switch k.Status {
		case doctor.Fine:
			sign = r.Green("✓")
		case doctor.Hint:
			sign = r.Yellow("!")
		}
		found := rows.Rows[i][1]
		r.Hung(sign+" "+strings.TrimSuffix(line, found), found)
		if k.Do != "" {
			r.Hung("    "+r.Faint("→ "), text.Flat(k.Do))
		}
	}
	r.Line("")
	r.Line("%s", r.Bold(inSum(countOf(checks, doctor.Missing), countOf(checks, doctor.Hint))))
}

// inSum says the result in a sentence.
func inSum(missing, hints int) string {
	said := "Nothing is missing"
	if missing > 0 {
		said = text.Plural(missing, "thing") + " would stop a run"
	}
	if hints > 0 {
		said += "; " + text.Plural(hints, "hint")
	}
	return said + "."
}

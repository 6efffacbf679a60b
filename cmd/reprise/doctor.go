package main

import (
	"bufio"
	"fmt"
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
costs nothing. A login that only the program itself can use is tried by an answer of
one word, which costs some cents.

✓ is well, ! is a hint, ✗ would stop a run. Exit code 1 if there is any ✗.`,
		Example: "  reprise doctor\n  reprise doctor --issue 7 --agent codex",
		RunE: func(c *cobra.Command, _ []string) error {
			if agreed, err := agreesToAsk(o, env); err != nil || !agreed {
				return err
			}
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
	c.Flags().BoolVar(&o.Online, "online", false, "also try the keys and logins of agents; asks first, and says what it costs")
	c.Flags().BoolVar(&o.Yes, "yes", false, "try them without asking")
	c.Flags().BoolVar(&o.Json, "json", false, "print one JSON object")
	return c
}

// agreesToAsk asks the person at the terminal whether the services of agents may be asked
// about their keys.
func agreesToAsk(o doctor.Options, env environ.Env) (bool, error) {
	hosts, programs := doctor.OnlineTargets(env.Environ)
	switch {
	case !o.Online || o.Yes || len(hosts)+len(programs) == 0:
		return true, nil
	case !environ.IsTerminal(env.Stdin):
		return false, exit.Usagef("--online sends the keys of agents to their services, and asks a model where there is a login: to have that done without being asked, add --yes")
	}
	if len(hosts) > 0 {
		_, _ = fmt.Fprintf(env.Stderr, "Keys are sent to %s, for a list of models each, which costs nothing.\n", text.Flat(strings.Join(hosts, ", ")))
	}
	if len(programs) > 0 {
		_, _ = fmt.Fprintf(env.Stderr, "Only the program itself can use its login, so it is asked for an answer of one word: %s. That costs some cents each, or counts against a subscription.\n", strings.Join(programs, ", "))
	}
	_, _ = fmt.Fprint(env.Stderr, "Go on? [y/N] ")
	answer, _ := bufio.NewReader(env.Stdin).ReadString('\n') // no answer is no
	if a := strings.ToLower(strings.TrimSpace(answer)); a == "y" || a == "yes" {
		return true, nil
	}
	_, _ = fmt.Fprintln(env.Stderr, "Nothing was sent.")
	return false, exit.Code(exit.Cancelled)
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
	switch {
	case missing == 0 && hints == 0:
		return "Nothing is missing."
	case missing == 0:
		return fmt.Sprintf("Nothing is missing; %s.", text.Plural(hints, "hint"))
	case hints == 0:
		return fmt.Sprintf("%s would stop a run.", text.Plural(missing, "thing"))
	}
	return fmt.Sprintf("%s would stop a run; %s.", text.Plural(missing, "thing"), text.Plural(hints, "hint"))
}

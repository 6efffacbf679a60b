package main

import (
	"github.com/spf13/cobra"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/phases"
)

// budgetFlags adds the flags that say how much a run may spend, one for each of
// its limits. A limit stays as it is unless its flag is given: nobody can ask for
// a run that may spend nothing.
func budgetFlags(c *cobra.Command, to *phases.Allowance) {
	flag := func(limit phases.Limit, usage string, read func(text string) error) {
		c.Flags().Func(string(limit), usage, read)
	}
	flag(phases.LimitUSD, "money in `USD` that this run may spend from here on", func(text string) (err error) {
		to.USD, err = command.Dollars(text)
		return err
	})
	flag(phases.LimitTokens, "`N` tokens, in and out, that it may use from here on", func(text string) (err error) {
		to.Tokens, err = command.WholeNumber(text)
		return err
	})
	flag(phases.LimitTime, "`TIME` that agents and checks may work from here on, such as 90m or 2h", func(text string) (err error) {
		to.Time, err = command.WorkTime(text)
		return err
	})
	flag(phases.LimitAttempts, "`N` calls of agents that it may make from here on", func(text string) (err error) {
		n, err := command.WholeNumber(text)
		to.Attempts = int(min(n, command.MostAttempts))
		return err
	})
}

package main

import (
	"errors"
	"regexp"
	"strconv"
	"time"

	"github.com/spf13/cobra"

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
		to.USD, err = dollars(text)
		return err
	})
	flag(phases.LimitTokens, "`N` tokens, in and out, that it may use from here on", func(text string) (err error) {
		to.Tokens, err = wholeNumber(text)
		return err
	})
	flag(phases.LimitTime, "`TIME` that agents and checks may work from here on, such as 90m or 2h", func(text string) (err error) {
		to.Time, err = workTime(text)
		return err
	})
	flag(phases.LimitAttempts, "`N` calls of agents that it may make from here on", func(text string) (err error) {
		n, err := wholeNumber(text)
		to.Attempts = int(min(n, mostAttempts))
		return err
	})
}

// dollars reads an amount that a run may spend.
func dollars(text string) (float64, error) {
	usd, err := strconv.ParseFloat(text, 64)
	if err != nil || !(usd > 0) || usd > 1e6 {
		return 0, errors.New("it is an amount of US dollars above 0, such as 5 or 2.50; leave it out to keep the pipeline's")
	}
	return usd, nil
}

var countForm = regexp.MustCompile(`^[1-9][0-9]{0,11}$`)

// mostAttempts is as many calls as a pipeline can allow.
const mostAttempts = 1_000_000

// wholeNumber reads how many tokens a run may use, or how many calls it may make.
func wholeNumber(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || !countForm.MatchString(text) {
		return 0, errors.New("it is a whole number above 0, such as 20; leave it out to keep the pipeline's")
	}
	return n, nil
}

var timeForm = regexp.MustCompile(`^([0-9]{1,4}h)?([0-9]{1,6}m)?([0-9]{1,8}s)?$`)

// workTime reads how long a run may work.
func workTime(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || !timeForm.MatchString(text) || d < time.Second {
		return 0, errors.New("it is a time of at least a second, such as 90m or 2h; leave it out to keep the pipeline's")
	}
	return d, nil
}

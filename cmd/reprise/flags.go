package main

import (
	"errors"
	"strconv"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/reprise-ci/reprise/internal/sandbox"
)

// repoFlag adds the flag that names the repository.
func repoFlag(c *cobra.Command, to *string) {
	c.Flags().StringVar(to, "repo", ".", "any folder of the git repository")
}

// issueFlag adds the flag that names the issue of a run.
func issueFlag(c *cobra.Command, to *string) {
	c.Flags().StringVar(to, "issue", "", "id of the issue: its number, or the name of the file it came from")
}

// anyIssueFlag adds the flag to a command that only reads, which takes the run at
// hand if none is named.
func anyIssueFlag(c *cobra.Command, to *string) {
	issueFlag(c, to)
	c.Flags().Lookup("issue").Usage += " (default: the run whose branch is checked out, or the only one)"
}

// pushFlag adds the flag that says whether commits go to origin. It stays nil
// unless it is given.
func pushFlag(f *pflag.FlagSet, to **bool) {
	f.BoolFunc("push", "push every commit to origin (default: as the run was started; at its start, if the issue comes from GitHub)", func(s string) error {
		v, err := strconv.ParseBool(s)
		if err != nil {
			return errors.New("it is true or false")
		}
		*to = &v
		return nil
	})
}

// sandboxFlag adds the flag that says how much depends on the sandbox.
func sandboxFlag(f *pflag.FlagSet, to *string) {
	f.StringVar(to, "sandbox", string(sandbox.BestEffort), "sandbox around agents and checks: required, best-effort or off")
}

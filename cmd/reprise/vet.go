package main

import (
	"github.com/spf13/cobra"

	"github.com/reprise-ci/reprise/internal/environ"
)

func vetCommand(env environ.Env) *cobra.Command {
	var repo string
	var asJSON bool
	c := &cobra.Command{
		Use:   "vet [FILE | NAME]...",
		Short: "Check pipelines and prompts, and print every mistake with its place",
		Long: `Check pipelines and print every mistake as file:line:column. Without arguments,
those in .github/reprise of the default branch and all that are built in. In
GitHub Actions mistakes are annotations, too. If there is any, the exit code is 2.`,
		Args: cobra.ArbitraryArgs, ValidArgsFunction: Completes(env, Pipelines, cobra.ShellCompDirectiveDefault),
		RunE: func(c *cobra.Command, args []string) error { return vetPipelines(c.Context(), env, repo, args, asJSON) },
	}
	repoFlag(c, &repo)
	c.Flags().BoolVar(&asJSON, "json", false, "print the mistakes as a JSON array")
	return c
}

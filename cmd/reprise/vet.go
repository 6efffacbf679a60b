package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/pipelines"
)

func vetCommand(env environ.Env) *cobra.Command {
	var repo string
	var asJSON, schema bool
	c := &cobra.Command{
		Use:   "vet [FILE | NAME]...",
		Short: "Check pipelines and prompts, and print every mistake with its place",
		Long: `Check pipelines and print every mistake as file:line:column. Without arguments,
those in .github/reprise of the default branch and all that are built in. In
GitHub Actions mistakes are annotations, too. If there is any, the exit code is 2.

With --schema, print the JSON Schema of pipelines, by which editors complete names,
explain fields and mark mistakes in YAML and JSON. In a pipeline in YAML, name the file
that you have saved it in on the first line:

  # yaml-language-server: $schema=../pipeline.schema.json`,
		Example: `  reprise vet
  reprise vet .github/reprise/pipelines/own.cue
  reprise vet --schema >.github/reprise/pipeline.schema.json`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			if schema && len(args) > 0 {
				return exit.Usagef("--schema is the same for all pipelines: leave %s out", args[0])
			}
			if schema {
				_, err := fmt.Fprint(env.Stdout, pipelines.JSONSchema)
				return text.Unread(err)
			}
			return vetPipelines(c.Context(), env, repo, args, asJSON)
		},
	}
	repoFlag(c, &repo)
	c.Flags().BoolVar(&asJSON, "json", false, "print the mistakes as a JSON array")
	c.Flags().BoolVar(&schema, "schema", false, "print the JSON Schema of pipelines, for editors")
	return c
}

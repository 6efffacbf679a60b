package main

import (
	"github.com/spf13/cobra"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/sandbox"
	"github.com/reprise-ci/reprise/internal/workspace"
)

func enterSandbox(env environ.Env) *cobra.Command {
	return &cobra.Command{
		Use: workspace.SandboxCommand + " -- PROGRAM [ARGUMENT...]", Hidden: true, Short: "Become a program within limits (for reprise itself)",
		Args: cobra.ArbitraryArgs, DisableFlagParsing: true,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 || args[0] != "--" {
				args = []string{"--"}
			}
			return exit.AsUsage(sandbox.Enter(args[1:], env.Environ))
		},
	}
}

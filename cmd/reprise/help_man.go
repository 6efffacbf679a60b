//go:build man

package main

import (
	"os"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
)

// ManualPages adds the command that writes a manual page of each command into a folder. Only
// the making of a release needs it, so it is in no release.
func ManualPages(root *cobra.Command) {
	root.AddCommand(&cobra.Command{
		Use: "man FOLDER", Hidden: true, Short: "Write manual pages (for the making of a release)",
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			root.DisableAutoGenTag = true // it has the day on which it was made
			if err := os.MkdirAll(args[0], 0o755); err != nil {
				return exit.AsUsage(err)
			}
			return doc.GenManTree(root, &doc.GenManHeader{Section: "1", Source: "reprise " + environ.VersionText(), Manual: "reprise"}, args[0])
		},
	})
}

package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/reprise-ci/reprise/internal/terminal"
)

// fitHelp has help fit the terminal that it is printed to: the library leaves lines that
// are wider to the terminal, which breaks them within words.
func fitHelp(root *cobra.Command, out io.Writer) {
	plain := root.HelpFunc()
	root.SetHelpFunc(func(c *cobra.Command, args []string) {
		if width := terminal.Width(out); width > 0 {
			c.Long = terminal.Paragraphs(c.Long, width)
			c.SetUsageTemplate(strings.ReplaceAll(c.UsageTemplate(), "Flags.FlagUsages |", fmt.Sprintf("Flags.FlagUsagesWrapped %d |", width)))
		}
		plain(c, args)
	})
}

package main

import (
	"cmp"
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
			c.Long = terminal.Paragraphs(cmp.Or(c.Long, c.Short), width)
			for _, sub := range c.Commands() {
				sub.Short = terminal.Hanging(sub.Short, len("  ")+sub.NamePadding()+len(" "), width)
			}
			const more = `Use "{{.CommandPath}} [command] --help" for more information about a command.`
			c.SetUsageTemplate(strings.NewReplacer(
				"Flags.FlagUsages |", fmt.Sprintf("Flags.FlagUsagesWrapped %d |", width),
				"{{.UseLine}}", terminal.Hanging(c.UseLine(), len("  "), width),
				more, terminal.Fold(strings.ReplaceAll(more, "{{.CommandPath}}", c.CommandPath()), width),
			).Replace(c.UsageTemplate()))
		}
		plain(c, args)
	})
}

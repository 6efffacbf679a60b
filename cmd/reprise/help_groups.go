package main

import (
	"slices"

	"github.com/spf13/cobra"
)

// group is commands that belong together, under a title in the help.
type group struct {
	title    string
	commands []string
}

// groups are all commands that people see, in the order in which they come to need them.
func groups() []group {
	return []group{
		{"Work on an issue:", []string{"run", "retry", "rollback", "answer", "approve", "skip", "update", "pause", "cancel", "finish"}},
		{"Look at runs:", []string{"list", "status", "logs", "history", "diff", "report", "stats"}},
		{"Pipelines:", []string{"explain", "vet", "eval"}},
		{"Set up and tidy up:", []string{"init", "doctor", "import", "clean", "completion", "help"}},
	}
}

// examples are of commands that have none beside their code.
func examples() map[string]string {
	return map[string]string{
		"answer":     "  reprise answer --issue 7 --text \"Yes, keep the table.\"\n  reprise answer --issue 7 --question q2 --text \"Python 3.12\"",
		"approve":    "  reprise approve --issue 7\n  reprise approve --issue 7 --phase design",
		"cancel":     "  reprise cancel --issue 7 --reason \"not needed any more\"",
		"completion": "  source <(reprise completion bash)",
		"doctor":     "  reprise doctor\n  reprise doctor --json",
		"finish":     "  reprise finish --issue 7\n  reprise finish --issue 7 --squash",
		"help":       "  reprise help run",
		"history":    "  reprise history --issue 7\n  reprise history --issue 7 --json | jq .rollbacks",
		"import":     "  reprise import --issue 7 --dry-run",
		"init":       "  reprise init --agent claude",
		"pause":      "  reprise pause --issue 7",
		"retry":      "  reprise retry --issue 7",
		"rollback":   "  reprise rollback --issue 7 --to-phase design --reason \"keep the API REST\"\n  reprise rollback --issue 7 --to-phase design --reason-file why.md --dry-run",
		"skip":       "  reprise skip --issue 7 --phase documentation --reason \"there is none\"",
		"update":     "  reprise update --issue 7",
	}
}

// ArrangeHelp puts the commands into groups, and gives an example to those without one.
func ArrangeHelp(root *cobra.Command) {
	all := examples()
	for _, g := range groups() {
		root.AddGroup(&cobra.Group{ID: g.title, Title: g.title})
	}
	for _, c := range root.Commands() {
		for _, g := range groups() {
			if slices.Contains(g.commands, c.Name()) {
				c.GroupID = g.title
			}
		}
		if c.Example == "" {
			c.Example = all[c.Name()]
		}
	}
}

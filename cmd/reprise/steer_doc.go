package main

import (
	"fmt"
	"strings"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
)

// GoOn says how to go on with a run: with one command on the same line, with one of
// several on lines of their own. A run that nothing takes further is done.
func goOnCommand(w *workspace.Workspace, run metadata.Run) string {
	switch commands := view.NextCommands(w.Plan, run); len(commands) {
	case 0:
		return w.Shown("done")
	case 1:
		return w.Shown("continue", "command", commands[0])
	default:
		return w.Shown("continue one") + "\n  " + strings.Join(commands, "\n  ")
	}
}

// Warn says what went wrong with the repository and stopped nothing.
func warnOfSteering(w *workspace.Workspace, env environ.Env) {
	for _, note := range w.Repo.Warnings() {
		_, _ = fmt.Fprintln(env.Stderr, "reprise: "+note)
	}
}

// Count is how many of the flags are given.
func countFlags(flags ...bool) int {
	n := 0
	for _, f := range flags {
		if f {
			n++
		}
	}
	return n
}

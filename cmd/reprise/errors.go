package main

import (
	"errors"
	"os"
	"strings"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/terminal"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

// explain prints an error the way people read it and gives the exit code.
// Mistakes in pipelines and prompts are one line each, with their place.
func explain(env environ.Env, err error) int {
	var mistakes pipelines.Mistakes
	var words prompts.Mistakes
	var usage exit.UsageError
	var none *git.NotARepository
	switch {
	case errors.As(err, &mistakes):
		for _, m := range mistakes {
			terminal.Tell(env.Stderr, m.Error())
		}
		return exit.Usage
	case errors.As(err, &words):
		for _, m := range words {
			terminal.Tell(env.Stderr, m.Error())
		}
		return exit.Usage
	case errors.As(err, &usage), errors.As(err, &none):
		terminal.Tell(env.Stderr, "reprise: "+err.Error())
		return exit.Usage
	}
	terminal.Tell(env.Stderr, "reprise: "+err.Error())
	if moved := new(git.Moved); errors.As(err, &moved) {
		terminal.Tell(env.Stderr, "reprise: to go on from there, and give up the commits that are only here: "+takingTheirs(env, moved))
	}
	if exit.ReasonFor(err) == metadata.GitFailed {
		terminal.Tell(env.Stderr, "reprise: all that is recorded is still there: once git works again, reprise status shows where the run is, and reprise run --issue ID continues it")
	}
	if errors.Is(err, os.ErrPermission) {
		terminal.Tell(env.Stderr, "reprise: every change is recorded; allow writing the file, then start again")
	}
	return exit.Failed
}

// takingTheirs is the command that goes on from where a branch went elsewhere. A
// run that has pushed nothing so far looks at origin only when it is told to.
func takingTheirs(env environ.Env, moved *git.Moved) string {
	text := "reprise run --issue " + strings.TrimPrefix(moved.Branch, env.Prefix()) + " --take theirs"
	if moved.Where == "origin" {
		text += " --push"
	}
	return text
}

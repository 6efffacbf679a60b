package main

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"

	"github.com/reprise-ci/reprise/git"
	"github.com/reprise-ci/reprise/github"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

// usageError is a mistake in the command line or in what it names. It ends
// the program with exitUsage.
type usageError struct{ err error }

// Error gives the mistake.
func (e usageError) Error() string { return e.err.Error() }

// Unwrap returns the mistake.
func (e usageError) Unwrap() error { return e.err }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// explain prints an error the way people read it and gives the exit code.
// Mistakes in pipelines and prompts are one line each, with their place.
func explain(env environment, err error) int {
	var mistakes pipelines.Errors
	var words prompts.Mistakes
	var usage usageError
	var none *git.NotARepository
	switch {
	case errors.As(err, &mistakes):
		for _, m := range mistakes {
			_, _ = fmt.Fprintln(env.stderr, m)
		}
		return exitUsage
	case errors.As(err, &words):
		for _, m := range words {
			_, _ = fmt.Fprintln(env.stderr, m)
		}
		return exitUsage
	case errors.As(err, &usage), errors.As(err, &none):
		_, _ = fmt.Fprintf(env.stderr, "reprise: %v\n", err)
		return exitUsage
	}
	_, _ = fmt.Fprintf(env.stderr, "reprise: %v\n", err)
	if moved := new(git.Moved); errors.As(err, &moved) {
		_, _ = fmt.Fprintf(env.stderr, "reprise: to go on from there, and give up the commits that are only here: %s\n", takingTheirs(env, moved))
	}
	if errors.Is(err, os.ErrPermission) {
		_, _ = fmt.Fprintln(env.stderr, "reprise: nothing was changed that is not recorded; start again once the file can be written")
	}
	return exitFailed
}

// takingTheirs is the command that goes on from where a branch went elsewhere. A
// run that has pushed nothing so far looks at origin only when it is told to.
func takingTheirs(env environment, moved *git.Moved) string {
	text := "reprise run --issue " + strings.TrimPrefix(moved.Branch, env.prefix()) + " --take-theirs"
	if moved.Where == "origin" {
		text += " --push"
	}
	return text
}

// usage makes an error one about the command line; nil stays nil.
func usage(err error) error {
	if err == nil {
		return nil
	}
	return usageError{err}
}

// codeFor gives the reason code of an error that stopped the process.
func codeFor(err error) metadata.Code {
	switch {
	case errors.As(err, new(pipelines.Errors)), errors.As(err, new(prompts.Mistakes)), errors.As(err, new(usageError)), errors.As(err, new(*git.NotARepository)):
		return metadata.ConfigInvalid
	case errors.As(err, new(*git.PushError)):
		return metadata.PushFailed
	case errors.As(err, new(*git.Moved)):
		return metadata.RefChanged
	case errors.As(err, new(*github.Error)):
		return apiProblem(err)
	case errors.As(err, new(*metadata.Error)):
		return metadata.StateCorrupt
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EROFS), errors.Is(err, syscall.EIO):
		return metadata.DiskFailed
	}
	return metadata.AgentFailed
}

// Package exit is how the program ends: its exit codes, mistakes of the command
// line, and the reason code of an error that stopped a process.
package exit

import (
	"errors"
	"fmt"
	"syscall"

	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/metadata/mistake"
	planmistake "github.com/reprise-ci/reprise/pipelines/mistake"
	"github.com/reprise-ci/reprise/prompts"
)

// ForgeReason gives a reason code for an error of the forge.
func ForgeReason(err error) metadata.Code {
	var problem *github.Error
	if errors.As(err, &problem) && (problem.Kind == github.Forbidden || problem.Kind == github.BadToken) {
		return metadata.CredentialsMissing
	}
	return metadata.APIError
}

// UsageError is a mistake in the command line or in what it names. It ends
// the program with the code Usage.
type UsageError struct{ Err error }

// Error gives the mistake.
func (e UsageError) Error() string { return e.Err.Error() }

// Unwrap returns the mistake.
func (e UsageError) Unwrap() error { return e.Err }

// Usagef makes a UsageError of a message, with the verbs of fmt.Errorf.
func Usagef(format string, args ...any) error { return UsageError{fmt.Errorf(format, args...)} }

// AsUsage makes an error one about the command line; nil stays nil.
func AsUsage(err error) error {
	if err == nil {
		return nil
	}
	return UsageError{err}
}

// ReasonFor gives the reason code of an error that stopped the process.
func ReasonFor(err error) metadata.Code {
	switch {
	case errors.As(err, new(planmistake.Errors)), errors.As(err, new(prompts.Mistakes)), errors.As(err, new(UsageError)), errors.As(err, new(*git.NotARepository)):
		return metadata.ConfigInvalid
	case errors.As(err, new(*git.PushError)):
		return metadata.PushFailed
	case errors.As(err, new(*git.Moved)):
		return metadata.RefChanged
	case errors.As(err, new(*github.Error)):
		return ForgeReason(err)
	case errors.As(err, new(*mistake.Error)):
		return metadata.StateCorrupt
	case errors.Is(err, syscall.ENOSPC), errors.Is(err, syscall.EDQUOT), errors.Is(err, syscall.EROFS), errors.Is(err, syscall.EIO):
		return metadata.DiskFailed
	}
	return metadata.AgentFailed
}

// Exit codes of the program.
const (
	Done      = 0 // what was asked for is done
	Failed    = 1 // the run failed, or something went wrong
	Usage     = 2 // a mistake in the command line or in a pipeline
	Waiting   = 3 // the run waits for a person
	Budget    = 4 // the budget is used up
	Cancelled = 5 // the run was cancelled or interrupted
)

// Code ends a command that has already said everything.
type Code int

// Error exists so that a command can return it.
func (Code) Error() string { return "" }

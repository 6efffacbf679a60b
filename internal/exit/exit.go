// Package exit is how the program ends: its exit codes, mistakes of the command
// line, and the reason code of an error that stopped a process.
package exit

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"

	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// ofForge is an error of the forge, which knows its reason code.
type ofForge interface{ Code() metadata.Code }

// ForgeReason gives a reason code for an error of the forge.
func ForgeReason(err error) metadata.Code {
	if problem := ofForge(nil); errors.As(err, &problem) {
		return problem.Code()
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

// AsUsage makes an error one about the command line. Nil stays nil, and so does what no
// command line is to blame for: git or the disk failed, or the branch is elsewhere by now.
func AsUsage(err error) error {
	if err == nil || ofGit(err) || errors.As(err, new(*git.Moved)) || ofDisk(err) {
		return err
	}
	return UsageError{err}
}

// ofGit reports whether an error is that of a command of git which failed.
func ofGit(err error) bool { return errors.As(err, new(*git.Error)) }

// ofDisk reports whether an error is the disk's: the system said so to this process, or to git.
func ofDisk(err error) bool {
	said := ""
	if failed := (*git.Error)(nil); errors.As(err, &failed) {
		said = strings.ToLower(failed.Last() + " " + fmt.Sprint(failed.Err))
	}
	if strings.Contains(said, syscall.SIGXFSZ.String()) { // git was ended by a limit on the size of files
		return true
	}
	return slices.ContainsFunc([]syscall.Errno{syscall.ENOSPC, syscall.EDQUOT, syscall.EROFS, syscall.EIO}, func(e syscall.Errno) bool {
		return errors.Is(err, e) || strings.Contains(said, e.Error())
	})
}

// Held is an error that says that another process or machine works on a run.
type Held struct{ Err error }

// Error names who does.
func (h Held) Error() string { return h.Err.Error() }

// ReasonFor gives the reason code of an error that stopped the process.
func ReasonFor(err error) metadata.Code {
	switch {
	case errors.As(err, new(pipelines.Mistakes)), errors.As(err, new(UsageError)), errors.As(err, new(*git.NotARepository)):
		return metadata.ConfigInvalid
	case errors.As(err, new(*folders.Held)), errors.As(err, new(Held)):
		return metadata.AlreadyRunning
	case errors.As(err, new(*git.PushError)):
		return metadata.PushFailed
	case errors.As(err, new(*git.Moved)):
		return metadata.RefChanged
	case errors.As(err, new(ofForge)):
		return ForgeReason(err)
	case errors.As(err, new(*metadata.Mistake)):
		return metadata.StateCorrupt
	case ofDisk(err):
		return metadata.DiskFailed
	case ofGit(err):
		return metadata.GitFailed
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

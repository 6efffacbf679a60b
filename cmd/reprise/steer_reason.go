package main

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/internal/workspace"
)

const maxReasonFile = 100 * 1024 // bytes, from a file

const mostTyped = 1 << 20 // bytes that are read to say how long a typed one is

// readReason gives the reason, and the path of the review it came from if it
// came from one.
func (o rollbackRequest) readReason(env environ.Env, r *workspace.Recorded) (reason, review string, err error) {
	switch {
	case o.ReasonFile != "":
		return o.readReasonFile(env, r)
	case o.Interactive:
		_, _ = fmt.Fprintln(env.Stderr, r.Catalogue().Shown("ask why"))
		data, err := io.ReadAll(io.LimitReader(env.Stdin, mostTyped+1))
		if err != nil {
			return "", "", err
		}
		if len(data) > mostTyped {
			return "", "", exit.Usagef("the reason has more than %d bytes; the limit is %d characters (put a longer one into a file: --reason-file)", mostTyped, command.MaxReason)
		}
		o.Reason = string(data)
	}
	reason = strings.TrimSpace(o.Reason)
	if n := utf8.RuneCountInString(reason); n > command.MaxReason {
		return "", "", exit.Usagef("the reason has %d characters; the limit is %d (put a longer one into a file: --reason-file)", n, command.MaxReason)
	}
	return reason, "", command.CheckReason(reason)
}

// readReasonFile reads a reason from a regular file. One inside the repository, or inside the work
// tree of the run, must not be reached through a symbolic link: others may have put it there, and
// the text goes to agents and onto the branch. The path is taken as it is written, so ".." takes away
// the name before it, wherever that would lead.
func (o rollbackRequest) readReasonFile(env environ.Env, r *workspace.Recorded) (string, string, error) {
	name := filepath.Clean(o.ReasonFile)
	info, err := os.Lstat(name)
	if err != nil {
		return "", "", exit.Usagef("reason file: %w", err)
	}
	full, err := filepath.Abs(".")
	if err == nil {
		full, err = filepath.EvalSymlinks(full) // as the system finds a relative name
	}
	if err != nil {
		return "", "", err
	}
	if full = filepath.Join(full, name); filepath.IsAbs(name) {
		full = name
	}
	if link, top, err := r.LinkTo(env, full); err != nil {
		return "", "", err
	} else if link != "" {
		return "", "", exit.Usagef("reason file %s: %s is a symbolic link, and none inside %s is followed, since it could lead to any file, whose text would go to agents and onto the branch; name the file that is meant by its own path", o.ReasonFile, link, top)
	}
	if !info.Mode().IsRegular() {
		return "", "", exit.Usagef("reason file %s is not a regular file", o.ReasonFile)
	}
	data, err := folders.ReadRegular(name, maxReasonFile)
	if err != nil {
		return "", "", exit.Usagef("reason file: %w", err)
	}
	if full, err = filepath.EvalSymlinks(full); err != nil {
		return "", "", err
	}
	reason := strings.TrimSpace(string(data))
	rel, err := r.InsideRun(env, full)
	if err != nil {
		return "", "", err
	}
	if rel == "" {
		_, _ = fmt.Fprintln(env.Stderr, "reprise: "+r.Catalogue().Shown("outside", "file", o.ReasonFile))
	}
	return reason, rel, command.CheckReason(reason)
}

// checkSeen says what is wrong with what somebody has seen, for --auto.
func checkSeen(text string) error {
	if n := utf8.RuneCountInString(text); n > command.MaxReason {
		return exit.Usagef("--reason has %d characters; with --auto the limit is %d", n, command.MaxReason)
	}
	return command.CheckReason(text)
}

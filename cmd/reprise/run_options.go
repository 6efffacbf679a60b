package main

import (
	"io"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/agents"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
)

// runOptions are the flags of run.
type runOptions struct {
	workspace.Options
	dry       bool
	json      bool
	prompts   bool
	verbose   bool
	noInput   bool
	logFormat string
}

// check refuses flags that do not go together.
func (o *runOptions) check() error {
	switch {
	case o.File == "" && o.Url == "" && o.Id == "":
		return exit.Usagef("which issue? Give --issue-file FILE or --issue-url URL to start, or --issue ID to continue")
	case countFlags(o.File != "", o.Url != "", o.Id != "") > 1:
		return exit.Usagef("--issue-file, --issue-url and --issue each name an issue: give one of them")
	case o.Jobs < 0 || o.Jobs > 32:
		return exit.Usagef("--jobs %d: give 1 to 32", o.Jobs)
	case o.dry && o.Push != nil && *o.Push:
		return exit.Usagef("--dry-run never pushes: leave --push out")
	case o.dry && o.Agent != "" && o.Agent != agents.Rehearsal:
		return exit.Usagef("--dry-run calls no model, so it takes no --agent %s", o.Agent)
	case o.prompts && !o.dry:
		return exit.Usagef("--show-prompts goes with --dry-run; for one prompt of a run see: reprise prompt --help")
	case o.logFormat != "text" && o.logFormat != "json":
		return exit.Usagef("--log-format %q is not one of text, json", o.logFormat)
	case o.Language != "" && !slices.Contains(metadata.Languages(), o.Language):
		return exit.Usagef("--language %q is not one of %s", o.Language, strings.Join(metadata.Languages(), ", "))
	}
	if o.dry {
		o.Agent, o.Scratch = agents.Rehearsal, true
	}
	return nil
}

// logOf gives where progress is printed: not among the result for programs.
func logOf(o runOptions, env environ.Env) io.Writer {
	if o.json {
		return env.Stderr
	}
	return env.Stdout
}

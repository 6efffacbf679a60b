package main

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/legacy"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// maxCompletion is how long somebody who pressed a key waits at most.
const maxCompletion = 5 * time.Second

// completeFlags has the shell complete the ids of issues and the names of phases. They are only a hint, so where
// anything goes wrong there are none, and nothing is said. The library keeps what it is given for as long as the
// process lives, so this is for a process that only completes.
func completeFlags(env environ.Env, root *cobra.Command) {
	for _, c := range root.Commands() {
		prefix := env.Prefix()
		if c.Name() == "import" {
			prefix = legacy.OlderPrefix
		}
		for _, flag := range []string{"issue", "phase", "to-phase", "from-phase"} {
			if c.Flags().Lookup(flag) == nil {
				continue
			}
			offered := issuesWith(prefix)
			if flag != "issue" {
				offered = func(c *cobra.Command) []string { return phasesOf(env, c) }
			} else if c.Args != nil {
				c.ValidArgsFunction = completes(offered)
			}
			// unreachable: it fails for a flag that is not there, or has one already
			_ = c.RegisterFlagCompletionFunc(flag, completes(offered))
		}
	}
}

// completes offers words, and no files.
func completes(offered func(*cobra.Command) []string) cobra.CompletionFunc {
	return func(c *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(c.Context(), maxCompletion)
		defer cancel()
		c.SetContext(ctx)
		return slices.DeleteFunc(offered(c), func(word string) bool { return !strings.HasPrefix(word, typed) }), cobra.ShellCompDirectiveNoFileComp
	}
}

// issuesWith offers the ids that have a branch here with a prefix.
func issuesWith(prefix string) func(*cobra.Command) []string {
	return func(c *cobra.Command) []string {
		src := sourceOf(c)
		if src == nil {
			return nil
		}
		ids, err := workspace.RunIDs(c.Context(), src, workspace.BranchesHere, prefix)
		if err != nil {
			return nil
		}
		return ids
	}
}

// phasesOf offers the phases of the run that a command line names, as its record has them.
func phasesOf(env environ.Env, c *cobra.Command) (names []string) {
	id, err := c.Flags().GetString("issue")
	src := sourceOf(c)
	if err != nil || src == nil || metadata.CheckID(id) != nil {
		return nil
	}
	data, err := workspace.RecordReader(c.Context(), src, env.Branch(id), id)(phases.RecordFile(id))
	if err != nil {
		return nil
	}
	run, err := metadata.ParseOf(id, data, phases.RecordFile(id))
	if err != nil {
		return nil
	}
	for _, p := range run.Phases {
		names = append(names, p.Name)
	}
	return names
}

// sourceOf finds the repository that a command line names, or gives nil.
func sourceOf(c *cobra.Command) *git.Source {
	dir, err := c.Flags().GetString("repo")
	if err != nil {
		return nil
	}
	src, err := git.Find(c.Context(), dir)
	if err != nil {
		return nil
	}
	return src
}

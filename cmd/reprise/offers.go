package main

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/reprise-ci/reprise/internal/agents"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/legacy"
	"github.com/reprise-ci/reprise/internal/sandbox"
	"github.com/reprise-ci/reprise/internal/setup"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines/builtin"
	"github.com/reprise-ci/reprise/pipelines/source"
)

// maxCompletion is how long somebody who pressed a key waits at most.
const maxCompletion = 5 * time.Second

// Offer gives the words that may stand for the value of a flag. They are only a
// hint, so where anything goes wrong there are none, and nothing is said.
type Offer func(ctx context.Context, env environ.Env, c *cobra.Command) []string

// byFlag has what is offered for a flag, by its name, or by "COMMAND FLAG"
// where that command differs.
func byFlag() map[string]Offer {
	steps := these(string(metadata.Execute), string(metadata.Review), string(metadata.Revise))
	programs := slices.Sorted(maps.Keys(setup.AgentInstalls()))
	return map[string]Offer{
		"agent":        these(slices.Concat(programs, []string{agents.Rehearsal})...),
		"init agent":   these(programs...),
		"issue":        Issues(environ.Env.Prefix),
		"import issue": Issues(func(environ.Env) string { return legacy.OlderPrefix }),
		"language":     these(metadata.Languages()...),
		"log-format":   these("text", "json"),
		"from-phase":   phasesOfRun, "phase": phasesOfRun, "to-phase": phasesOfRun,
		"pipeline": Pipelines,
		"question": questionsOfRun,
		"sandbox":  these(sandbox.Containments()...),
		"step":     steps, "to-step": steps,
	}
}

// Flags has the shell complete the values of the flags of all commands.
// The library keeps what it is given for as long as the process lives, so this
// is for a process that only completes.
func Flags(env environ.Env, root *cobra.Command) {
	all := byFlag()
	for _, c := range root.Commands() {
		for name, offered := range all {
			if c.Flags().Lookup(name) == nil {
				continue
			}
			if own := all[c.Name()+" "+name]; own != nil {
				offered = own
			}
			otherwise := cobra.ShellCompDirectiveNoFileComp
			if name == "pipeline" {
				otherwise = cobra.ShellCompDirectiveDefault // a file, if it is none of the names
			}
			// unreachable: it fails for a flag that is not there, or has one already
			_ = c.RegisterFlagCompletionFunc(name, Completes(env, offered, otherwise))
		}
	}
}

// Completes gives the words that go on from what is typed already.
func Completes(env environ.Env, offered Offer, otherwise cobra.ShellCompDirective) cobra.CompletionFunc {
	return func(c *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		ctx, cancel := context.WithTimeout(c.Context(), maxCompletion)
		defer cancel()
		var fit []string
		for _, word := range offered(ctx, env, c) {
			if strings.HasPrefix(word, typed) {
				fit = append(fit, word)
			}
		}
		return fit, otherwise
	}
}

// these are always the same words.
func these(words ...string) Offer {
	return func(context.Context, environ.Env, *cobra.Command) []string { return words }
}

// Issues offers the ids that have a branch here with a prefix.
func Issues(prefix func(environ.Env) string) Offer {
	return func(ctx context.Context, env environ.Env, c *cobra.Command) []string {
		src := sourceOf(ctx, c)
		if src == nil {
			return nil
		}
		ids, err := workspace.RunIDs(ctx, src, prefix(env))
		if err != nil {
			return nil
		}
		return ids
	}
}

// Pipelines offers the pipelines of the default branch and those that are
// built in. What the files say is not looked at.
func Pipelines(ctx context.Context, _ environ.Env, c *cobra.Command) []string {
	var s source.Sources
	if src := sourceOf(ctx, c); src != nil {
		var err error
		if s.Repo, err = src.FS(ctx, workspace.TrustedCommit(src), workspace.OwnFolder); err != nil {
			s.Repo = nil
		}
	}
	names, err := s.Names()
	if err != nil {
		return builtin.Names()
	}
	return names
}

// phasesOfRun offers the phases of the run that --issue names.
func phasesOfRun(ctx context.Context, env environ.Env, c *cobra.Command) (names []string) {
	for _, p := range runOf(ctx, env, c).Phases {
		names = append(names, p.Name)
	}
	return names
}

// questionsOfRun offers the questions of the run that are open.
func questionsOfRun(ctx context.Context, env environ.Env, c *cobra.Command) (ids []string) {
	for _, q := range runOf(ctx, env, c).Questions {
		if q.Open() {
			ids = append(ids, q.ID)
		}
	}
	return ids
}

// sourceOf finds the repository that a command line names, or gives nil.
func sourceOf(ctx context.Context, c *cobra.Command) *git.Source {
	dir, err := c.Flags().GetString("repo")
	if err != nil {
		return nil
	}
	src, err := git.Find(ctx, dir)
	if err != nil {
		return nil
	}
	return src
}

// runOf reads the record of the run that a command line names; it is empty if
// there is none. Pipeline and prompts are not read.
func runOf(ctx context.Context, env environ.Env, c *cobra.Command) (none metadata.Run) {
	id, err := c.Flags().GetString("issue")
	if err != nil || metadata.CheckID(id) != nil {
		return none
	}
	src := sourceOf(ctx, c)
	if src == nil {
		return none
	}
	data, err := workspace.RecordReader(ctx, src, env.Branch(id), id)(phases.RecordFile(id))
	if err != nil {
		return none
	}
	run, err := metadata.ParseOf(id, data, phases.RecordFile(id))
	if err != nil {
		return none
	}
	return run
}

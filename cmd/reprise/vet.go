package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/reprise-ci/reprise/git"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

func vetCommand(env environment) *cobra.Command {
	var repo string
	var asJSON bool
	c := &cobra.Command{
		Use:   "vet [FILE | NAME]...",
		Short: "Check pipelines and prompts, and print every mistake with its place",
		Long: `Check pipelines and print every mistake as file:line:column. Without arguments,
those in .github/reprise of the default branch and all that are built in. In
GitHub Actions mistakes are annotations, too. Exit code 2 if there is any.`,
		Args: cobra.ArbitraryArgs, ValidArgsFunction: completes(env, pipelineNames, cobra.ShellCompDirectiveDefault),
		RunE: func(c *cobra.Command, args []string) error { return runVet(c.Context(), env, repo, args, asJSON) },
	}
	repoFlag(c, &repo)
	c.Flags().BoolVar(&asJSON, "json", false, "print the mistakes as a JSON array")
	return c
}

// runVet checks pipelines and reports all mistakes of all of them.
func runVet(ctx context.Context, env environment, repo string, args []string, asJSON bool) error {
	src, err := git.Find(ctx, repo)
	if isNoRepository(err) {
		src, err = nil, nil
	}
	if err != nil {
		return err
	}
	all, plans, err := vetted(ctx, src, args)
	if err != nil {
		return err
	}
	if files := notInForce(ctx, src); len(args) == 0 && len(files) > 0 {
		_, _ = fmt.Fprintf(env.stderr, "reprise: not checked: %s, which %s does not have like that; only what is there counts (to check one: reprise vet FILE)\n",
			flat(strings.Join(files, ", ")), inForce(src))
	}
	if !asJSON && len(all) == 0 {
		for _, note := range changeable(src, plans) {
			_, _ = fmt.Fprintln(env.stderr, "reprise:", note)
		}
	}
	return reportMistakes(env, all, len(plans), asJSON)
}

// changeable says of each program of the repository that a pipeline starts as an
// agent what another agent could change of it: reprise protects that file, and
// not what the file loads.
func changeable(src *git.Source, plans []*pipelines.Pipeline) (notes []string) {
	if src == nil {
		return nil
	}
	for _, plan := range plans {
		for _, agent := range slices.Sorted(maps.Keys(plan.Agents)) {
			for _, file := range phases.Programs(plan.Agents[agent]) {
				dir := path.Dir(file)
				if info, err := os.Stat(filepath.Join(src.Dir, filepath.FromSlash(file))); err != nil || info.IsDir() || phases.Matches(dir+"/x", plan.Protect) {
					continue
				}
				way := fmt.Sprintf("add protect: [%q]", dir+"/**")
				if dir == "." {
					way = "put it into a folder of its own, and protect that"
				}
				notes = append(notes, fmt.Sprintf("pipeline %s: no agent can change %s, which is the agent %s, but any can change what that file loads from the repository; to keep that, %s",
					flat(plan.Name), flat(file), flat(agent), way))
			}
		}
	}
	return notes
}

// vetted gives the mistakes of pipelines and their prompts, and for each that was
// checked what it is, nil if it has mistakes: those that are named, else all there are. Without a repository those
// are the built-in ones.
func vetted(ctx context.Context, src *git.Source, args []string) (pipelines.Errors, []*pipelines.Pipeline, error) {
	s, _, err := sources(ctx, src, "")
	if err != nil {
		return nil, nil, err
	}
	shadowed, err := s.Shadowed()
	if err != nil {
		return nil, nil, err
	}
	if len(args) == 0 {
		if args, err = s.Names(); err != nil {
			return nil, nil, err
		}
	}
	found, plans, err := vetEach(ctx, src, args, vetTime)
	if err != nil {
		return nil, nil, err
	}
	all := pipelines.Errors{}
	for i, name := range args {
		mistakes := found[i]
		for _, m := range shadowed {
			if known, _ := pipelines.IsFile(path.Base(m.File)); known == name {
				mistakes = append(mistakes, m)
			}
		}
		for _, m := range mistakes {
			if !slices.Contains(all, m) { // a prompt is used by many pipelines
				all = append(all, m)
			}
		}
	}
	return all, plans, nil
}

// vetTime is how long the pipelines of one vet may take together. Each has a
// limit of its own besides, which many that are made to take long would add up.
const vetTime = 30 * time.Second

// vetEach gives the mistakes of each of the pipelines, checked side by side, and
// those that have none. One
// for which there was no time left has that for a mistake.
func vetEach(ctx context.Context, src *git.Source, names []string, limit time.Duration) ([]pipelines.Errors, []*pipelines.Pipeline, error) {
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	found, failed, plans := make([]pipelines.Errors, len(names)), make([]error, len(names)), make([]*pipelines.Pipeline, len(names))
	free := make(chan struct{}, runtime.NumCPU())
	var all sync.WaitGroup
	for i, name := range names {
		free <- struct{}{}
		all.Go(func() {
			defer func() { <-free }()
			err := limited.Err()
			if err == nil {
				var def definition
				if def, err = define(limited, src, issue{ID: "none"}, opening{pipeline: name}); err == nil {
					plans[i] = def.plan
				}
			}
			if err != nil && limited.Err() != nil && ctx.Err() == nil {
				found[i] = pipelines.Errors{{Message: fmt.Sprintf("pipeline %s was not checked: all together took longer than %v; check it by itself: reprise vet %s", name, limit, name)}}
				return
			}
			found[i], failed[i] = mistakesOf(ctx, name, err)
		})
	}
	all.Wait()
	return found, plans, errors.Join(failed...)
}

// mistakesOf gives the mistakes that an error of define is about: those in the
// pipeline of that name, or that there is none. Any other error stays one.
func mistakesOf(ctx context.Context, name string, err error) (pipelines.Errors, error) {
	var mistakes pipelines.Errors
	var usage usageError
	var file *fs.PathError
	switch {
	case err == nil || ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.As(err, &mistakes):
		return mistakes, nil
	case !errors.As(err, &usage):
		return nil, err
	case !isPath(name):
		return pipelines.Errors{{Message: err.Error()}}, nil
	case errors.As(err, &file):
		err = file.Err
	}
	return pipelines.Errors{{File: name, Message: strings.TrimPrefix(err.Error(), name+": ")}}, nil
}

// reportMistakes prints mistakes for people, programs and GitHub.
func reportMistakes(env environment, all pipelines.Errors, checked int, asJSON bool) error {
	if asJSON {
		if err := printJSON(env.stdout, all); err != nil {
			return err
		}
	}
	for _, m := range all {
		if !asJSON {
			_, _ = fmt.Fprintln(env.stdout, m)
		}
		if env.getenv("GITHUB_ACTIONS") == "true" {
			text := strings.TrimPrefix(m.Path+": "+m.Message, ": ")
			at := ""
			if m.File != "" {
				at = fmt.Sprintf(" file=%s,line=%d,col=%d", property(m.File), m.Line, m.Column)
			}
			_, _ = fmt.Fprintf(forCommands(env.stderr), "::error%s::%s\n", at, data(text))
		}
	}
	if len(all) > 0 {
		return exitCode(exitUsage)
	}
	if !asJSON {
		_, _ = fmt.Fprintf(env.stdout, "%d checked, no mistakes\n", checked)
	}
	return nil
}

// data and property escape what goes into a workflow command, as GitHub's
// runner reads it.
func data(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func property(s string) string { return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(data(s)) }

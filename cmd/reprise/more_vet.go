package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sethvargo/go-githubactions"

	"github.com/reprise-ci/reprise/internal/doctor"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/terminal"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/workspace"
	"github.com/reprise-ci/reprise/pipelines"
)

// Run checks the pipelines that args name, or those in force if they name none, and
// reports all mistakes of all of them: an exit code as the error if there is one.
func vetPipelines(ctx context.Context, env environ.Env, repo string, args []string, asJSON bool) error {
	src, err := git.Find(ctx, repo)
	if doctor.IsNoRepository(err) {
		src, err = nil, nil
	}
	if err != nil {
		return err
	}
	all, plans, err := workspace.Vetted(ctx, src, args)
	if err != nil {
		return err
	}
	if files := workspace.NotInForce(ctx, src); len(args) == 0 && len(files) > 0 {
		_, _ = fmt.Fprintf(env.Stderr, "reprise: not checked: %s, which %s does not have like that; only what is there counts (to check one: reprise vet FILE)\n",
			text.Flat(strings.Join(files, ", ")), workspace.InForce(src))
	}
	if !asJSON && len(all) == 0 {
		whole := slices.DeleteFunc(slices.Clone(plans), func(p *pipelines.Pipeline) bool { return p == nil }) // settings are no pipeline
		for _, note := range slices.Concat(changeable(src, whole), unpriced(whole), holding(whole, env.Environ)) {
			_, _ = fmt.Fprintln(env.Stderr, "reprise:", note)
		}
	}
	return reportMistakes(env, all, len(plans), asJSON)
}

// reportMistakes prints mistakes for people, programs and GitHub.
func reportMistakes(env environ.Env, all pipelines.Mistakes, checked int, asJSON bool) error {
	if asJSON {
		if err := text.PrintJSON(env.Stdout, all); err != nil {
			return err
		}
	}
	for _, m := range all {
		if !asJSON {
			_, _ = fmt.Fprintln(env.Stdout, terminal.Fold(m.Error(), terminal.Width(env.Stdout)))
		}
		if env.Getenv("GITHUB_ACTIONS") == "true" {
			_, _ = fmt.Fprintln(environ.Unescaped(env.Stderr), annotation(m))
		}
	}
	if len(all) > 0 {
		return exit.Code(exit.Usage)
	}
	if !asJSON {
		_, _ = fmt.Fprintf(env.Stdout, "%d checked, no mistakes\n", checked)
	}
	return nil
}

// annotation is the workflow command with which GitHub shows a mistake at its
// place.
func annotation(m pipelines.Mistake) string {
	c := githubactions.Command{Name: "error", Message: strings.TrimPrefix(m.Path+": "+m.Message, ": ")}
	if m.File != "" {
		c.Properties = githubactions.CommandProperties{"file": m.File, "line": strconv.Itoa(m.Line), "col": strconv.Itoa(m.Column)}
	}
	return c.String()
}

package main

import (
	"context"
	"errors"
	"strings"

	"github.com/reprise-ci/reprise/github"
	"github.com/reprise-ci/reprise/metadata"
)

// able says what is missing for the work ahead, before anything is spent: the
// programs and keys of agents, and rights of the token. All of it is said at
// once, and asked for once in a job.
func (b *bot) able(ctx context.Context, run metadata.Run) error {
	if b.asked {
		return nil
	}
	opts, err := agentOptions(b.env, b.w, b.opening(nil))
	if err != nil {
		return err
	}
	var missing []string
	if err := b.w.ready(opts); err != nil {
		missing = append(missing, err.Error())
	}
	if lacks := b.lacks(ctx, run); len(lacks) > 0 {
		missing = append(missing, "the token lacks rights, which `permissions:` of the workflow gives; nothing was spent yet:\n"+strings.Join(lacks, "\n"))
	}
	if len(missing) > 0 {
		return refuse(metadata.CredentialsMissing, metadata.Said(strings.Join(missing, "\n")))
	}
	b.w.sayLacking(b.env)
	b.asked = true
	return nil
}

// lacks lists what the token may not do and will have to.
func (b *bot) lacks(ctx context.Context, run metadata.Run) []string {
	base := ""
	if b.in.pull && run.PRNumber == 0 {
		base = b.base()
	}
	issues := permit{"issues: write", func(ctx context.Context) error { return b.gh.MayWriteIssues(ctx, b.owner, b.name) }}
	var lacks []string
	for _, right := range append(rightsOf(b.gh, b.owner, b.name, base), issues) {
		var problem *github.Error
		switch err := right.ask(ctx); {
		case errors.As(err, &problem) && (problem.Kind == github.Forbidden || problem.Kind == github.BadToken):
			lacks = append(lacks, right.name+": "+err.Error())
		case err != nil && ctx.Err() == nil:
			b.warn(err) // it may work when it is needed
		}
	}
	return lacks
}

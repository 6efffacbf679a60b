package eval

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/metadata"
)

// forReview leaves of the suite the reviews of accepted work: each as it was, and once
// with each of the defects that are planted in it. Work that a review has accepted, and that
// the case says has to be refused, has a defect as it is.
func (e *evaluation) forReview(ctx context.Context) error {
	var all []Case
	for _, c := range e.suite.Cases {
		if c.Step == nil {
			continue
		}
		bad, err := refused(c)
		if err != nil {
			return err
		}
		if bad {
			c.of, c.Expect, c.Checks, c.Still, c.planted = c.Name, "_", nil, nil, &Mutation{Operator: byPeople}
			all = append(all, c)
			continue
		}
		found, err := e.defectsFor(ctx, c)
		if err != nil {
			return err
		}
		c.of, c.Expect, c.Mutation, c.Checks, c.Still = c.Name, "_", nil, nil, nil
		all = append(all, c)
		for i, d := range found {
			c.Name, c.planted, c.Mutation = fmt.Sprintf("%s+%d", c.of, i+1), &found[i], []Mutation{d}
			all = append(all, c)
		}
	}
	if len(all) == 0 {
		return exit.Usagef("no case of the suite is a review of accepted work; its case.cue has commit and step: {phase: PHASE, step: \"review\"}")
	}
	e.suite.Cases = all
	return nil
}

// refused reports whether a case expects that its work is refused as it is: people have found
// what a review had missed.
func refused(c Case) (bool, error) {
	if len(c.Mutation) > 0 {
		return false, nil
	}
	passed, err := json.Marshal(map[string]any{"verdicts": map[string]metadata.Ruling{c.Step.Phase: metadata.Pass}})
	if err != nil {
		return false, err
	}
	misses, err := unmet(c.Expect, passed)
	if err != nil {
		return false, fmt.Errorf("what case %s expects: %w", c.Name, err)
	}
	return slices.ContainsFunc(misses, func(m string) bool { return strings.HasPrefix(m, "verdicts."+c.Step.Phase+": got ") }), nil
}

// defectsFor gives the defects for a case: those that it plants itself, and as many by
// operators, in lines of code that the run has written.
func (e *evaluation) defectsFor(ctx context.Context, c Case) ([]Mutation, error) {
	dir := filepath.Join(e.known.dir, "work", "defects-"+c.Name)
	defer func() { _ = folders.RemoveAll(dir) }() // the next start removes it first
	if err := errors.Join(folders.RemoveAll(dir), os.MkdirAll(filepath.Dir(dir), 0o755)); err != nil {
		return nil, err
	}
	good := c
	good.Mutation = nil
	if err := makeRepository(ctx, e.env.Environ, good, "", dir); err != nil {
		c.doc.Wrong([]any{"repo"}, "%v", err)
		return nil, c.doc.Mistakes()
	}
	g := repository{dir: dir, environ: e.env.Environ}
	branch, err := g.git(ctx, "for-each-ref", "--format=%(refname)", "refs/heads/"+environ.BranchPrefix+"*")
	if err != nil {
		return nil, err
	}
	branch = strings.TrimSpace(branch)
	diff, err := g.git(ctx, "-c", "core.quotePath=false", "diff", "--unified=0", "--no-color", "--no-ext-diff", "--no-renames", "--diff-filter=AM", "main", branch)
	if err != nil {
		return nil, err
	}
	var own, made []Mutation
	for i, m := range c.Mutation {
		content, err := g.git(ctx, "show", branch+":"+m.File)
		if err != nil || strings.Count(content, m.Find) != 1 {
			c.doc.Wrong([]any{"mutation", i, "find"}, "%s has the text %q %d times; it has to be there exactly once", m.File, m.Find, strings.Count(content, m.Find))
			return nil, c.doc.Mistakes()
		}
		before, _, _ := strings.Cut(content, m.Find)
		m.Line, m.Operator = 1+strings.Count(before, "\n"), "of the suite"
		own = append(own, m)
	}
	for name, only := range addedLines(diff) {
		if strings.HasPrefix(name, ".reprise/") || isTest(name) || !canPlant(name) {
			continue
		}
		content, err := g.git(ctx, "show", branch+":"+name)
		if err != nil {
			return nil, err
		}
		made = append(made, defectsIn(name, content, only)...)
	}
	return slices.Concat(own, someDefects(made, e.options.Defects)), nil
}

// worth sums up what the reviews said, for each variant.
func (e *evaluation) worth(all []Result) []Worth {
	for i := range all {
		c, _ := e.of(all[i].Trial)
		all[i].of, all[i].planted = c.of, c.planted
	}
	out := []Worth{}
	for _, v := range e.suite.Variants {
		out = append(out, worthOf(v.Name, all))
	}
	return out
}

package eval

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/metadata"
)

// forReview leaves of the suite the reviews of accepted work: each as it was, and once with each defect that
// it plants. Work that the case says has to be refused has a defect as it is.
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
			c.of, c.Expect, c.Checks, c.Still, c.planted = c.Name, "_", nil, nil, &Mutation{}
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

// defectsFor gives the defects that a case plants, with the lines that they are on.
func (e *evaluation) defectsFor(ctx context.Context, c Case) (all []Mutation, err error) {
	for i, m := range c.Mutation {
		content, err := repository{dir: c.Repo, environ: e.env.Environ}.git(ctx, "show", c.Commit+":"+m.File)
		if n := strings.Count(content, m.Find); err != nil || n != 1 {
			c.doc.Wrong([]any{"mutation", i, "find"}, "%s has the text %q %d times; it has to be there exactly once", m.File, m.Find, n)
			continue
		}
		before, _, _ := strings.Cut(content, m.Find)
		m.line = 1 + strings.Count(before, "\n")
		all = append(all, m)
	}
	return all, c.doc.Mistakes()
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

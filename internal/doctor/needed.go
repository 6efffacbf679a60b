package doctor

import (
	"context"
	"path"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/pipelines"
)

// ownFolder is where pipelines of a repository are.
const ownFolder = ".github/reprise/pipelines"

// ownOf are the pipelines among some that the repository has written.
func ownOf(plans []*pipelines.Pipeline) []*pipelines.Pipeline {
	return slices.DeleteFunc(slices.Clone(plans), func(p *pipelines.Pipeline) bool { return p == nil || path.Dir(p.Source) != ownFolder })
}

// needed looks at every program that one of some pipelines gives work to, and says for what
// is not well which of them need it. The last pipeline is that of a run for which none is
// named: if it is built in, the repository may do without it, so its programs are a hint.
func (p programs) needed(ctx context.Context, own []*pipelines.Pipeline, usual *pipelines.Pipeline) []Check {
	var all []Check
	by := map[Check][]string{}
	note := func(c Check, name string) {
		if by[c] == nil {
			all = append(all, c)
		}
		by[c] = append(by[c], name)
	}
	for _, plan := range own {
		for _, c := range p.check(ctx, plan) {
			note(c, plan.Name)
		}
	}
	if !slices.ContainsFunc(own, func(o *pipelines.Pipeline) bool { return o.Name == usual.Name }) {
		for _, c := range p.check(ctx, usual) {
			switch {
			case by[c] != nil:
				continue
			case c.Status == Missing:
				c.Status = Hint
			}
			note(c, usual.Name+", which is built in and taken where nothing names a pipeline")
		}
	}
	for i, c := range all {
		if c.Status != Fine {
			all[i].Found += "; needed by " + strings.Join(by[c], ", ")
		}
	}
	return all
}

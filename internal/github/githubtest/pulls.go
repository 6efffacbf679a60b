package githubtest

import (
	"maps"
	"slices"

	"github.com/reprise-ci/reprise/internal/github/githubtest/state"
)

// Pull is what a pull request has besides what an issue has.
type Pull = state.Pull

// pulls are pull requests.
type pulls struct{ in *world }

// AddPull adds a pull request, and returns its number. The repository that it
// comes from is added if it is not there.
func (p pulls) AddPull(repo string, pull Pull) int {
	p.in.Lock()
	defer p.in.Unlock()
	if pull.HeadRepository != "" {
		p.in.repository(pull.HeadRepository)
	}
	return p.in.repository(repo).AddPull(pull).Number
}

// Pulls are the pull requests of a repository, by number.
func (p pulls) Pulls(repo string) []Pull {
	p.in.Lock()
	defer p.in.Unlock()
	var out []Pull
	r := p.in.repository(repo)
	for _, n := range slices.Sorted(maps.Keys(r.Pulls)) {
		pull, is := *r.Pulls[n], r.Issues[n]
		pull.Title, pull.Body, pull.Author, pull.State = is.Title, is.Body, is.Author, is.State
		out = append(out, pull)
	}
	return out
}

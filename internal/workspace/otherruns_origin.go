package workspace

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/issue"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// What is asked of origin about other runs: how many branches and kept records at most,
// those of the newest issues, and how long an answer is good for.
const (
	mostAfar = 200 // of each of the two
	afarFor  = 5 * time.Minute
)

// afar is what other machines have pushed of runs: the checkout of a job brings only the
// default branch, and other clones what they have fetched last.
type afar struct {
	env     environ.Env
	id      string // of the issue of the run that is told
	src     *git.Source
	dir     string                                // of the survey, in the folder of the run
	token   func(context.Context) (string, error) // for origin; nil: the user's own credentials
	pushes  bool                                  // the run goes to origin
	records bool                                  // those that are kept are of use, too

	mu      sync.Mutex  // held while a survey is in use
	survey  *git.Survey // nil: none was made yet, or could not be made
	listed  known       // of the survey, in which nobody else changes anything
	askedAt time.Time   // when origin was asked last; zero: never
	warned  bool        // that origin did not answer
	omitted int         // branches and records that were left out, as there are too many
}

// look gives the newest survey, which its caller uses with mu held. It is nil for a run that
// does not go to origin, and where origin does not answer, which a person is told once.
func (a *afar) look(ctx context.Context) (*git.Survey, error) {
	now := a.env.Now()
	if !a.pushes || !a.askedAt.IsZero() && now.Sub(a.askedAt) < afarFor {
		return a.survey, nil
	}
	a.close()
	a.askedAt = now
	within := []string{"refs/heads/" + a.env.Prefix()}
	if a.records {
		within = append(within, git.KeptRefs+phases.RecordName(""))
	}
	survey, err := git.NewSurvey(ctx, a.src, a.dir, a.token, within, func(all []git.Ref) (some []git.Ref) {
		a.omitted, all = 0, a.ofUse(all)
		for _, prefix := range within {
			chosen, left := newestOf(all, prefix, mostAfar)
			some, a.omitted = append(some, chosen...), a.omitted+left
		}
		return some
	})
	if ctx.Err() != nil {
		a.askedAt = time.Time{}
		return nil, ctx.Err()
	}
	if err != nil && !a.warned {
		a.warned = true
		_, _ = fmt.Fprintf(a.env.Stderr, "reprise: %v; of other runs only what is here is known\n", err)
	}
	a.survey, a.listed = survey, known{}
	return survey, nil
}

// ofUse leaves out the branch of the run that is told, which knows what is there: only what an
// earlier run of its issue has spent would be learned from it.
func (a *afar) ofUse(all []git.Ref) []git.Ref {
	own := "refs/heads/" + a.env.Branch(a.id)
	return slices.DeleteFunc(all, func(b git.Ref) bool { return b.Name == own && !a.records })
}

// newestOf gives those refs of runs that begin with a prefix whose issues were opened last,
// and how many there are besides.
func newestOf(all []git.Ref, prefix string, most int) (some []git.Ref, left int) {
	of := map[string]git.Ref{}
	for _, b := range all {
		if id, is := strings.CutPrefix(b.Name, prefix); is && metadata.CheckID(id) == nil {
			of[id] = b
		}
	}
	ids := issue.NewestFirst(of)
	for _, id := range ids[:min(len(ids), most)] {
		some = append(some, of[id])
	}
	return some, len(ids) - len(some)
}

// known are the refs that git has listed of a place, by the folder that they are in.
type known map[string][]git.Ref

// place is where refs are looked for.
type place struct {
	src     *git.Source
	folders []string // of refs
	within  string   // the prefix of branches there that git lists
	prefix  string   // of the names of runs
	listed  known    // nil: git is asked each time
}

// places gives where other runs may be: the user's branches, those of origin as the survey
// has them or, without one, as they were fetched last, and records that are kept.
func (a *afar) places(survey *git.Survey) (branches, records []place) {
	folder, _ := path.Split(a.env.Prefix()) // a prefix may end within a name, which git lists no branches by
	here, there := a.src, a.src
	kept, local, origin := []string{git.KeptRefs}, "refs/heads/", "refs/remotes/origin/"
	records = []place{{here, kept, "", phases.RecordName(""), nil}}
	if survey != nil {
		there = survey.Source
		records = append(records, place{there, kept, "", phases.RecordName(""), a.listed})
	}
	if here == there { // git lists both at once
		return []place{{here, []string{local, origin}, folder, a.env.Prefix(), nil}}, records
	}
	return []place{{here, []string{local}, folder, a.env.Prefix(), nil}, {there, []string{origin}, folder, a.env.Prefix(), a.listed}}, records
}

// each calls f for the runs whose names are at a place, by the ids of their issues.
func (p place) each(ctx context.Context, f func(id, commit string)) error {
	all, err := p.branches(ctx)
	for _, b := range all {
		if id, ok := strings.CutPrefix(b.Name, p.prefix); ok && metadata.CheckID(id) == nil {
			f(id, b.Commit)
		}
	}
	return err
}

// branches gives all branches of a place.
func (p place) branches(ctx context.Context) (all []git.Ref, err error) {
	all, is := p.listed[p.folders[0]]
	if is {
		return all, nil
	}
	all, err = p.src.BranchesIn(ctx, p.folders[0], p.within, p.folders[1:]...)
	if err == nil && p.listed != nil {
		p.listed[p.folders[0]] = all
	}
	return all, err
}

// Close removes what was fetched, also by a process before this one that was killed.
func (a *afar) Close() {
	if a != nil {
		a.mu.Lock()
		defer a.mu.Unlock()
		a.close()
		_ = folders.RemoveAll(a.dir) // what is left is removed by the next run
	}
}

func (a *afar) close() {
	if a.survey != nil {
		a.survey.Close()
		a.survey = nil
	}
}

package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/prompts"
)

const (
	mostOthers = 8               // other runs that agents are told of
	nearTime   = 5 * time.Second // the longest that the work waits for what people are told of them
)

// openRuns are the other open runs of the repository, as a run is told of them: by their
// branches here and on origin.
type openRuns struct {
	src  *git.Source
	id   string          // of the issue of the run that is told
	tips func() []string // where the newest commit of that run is, as far as it is here
	env  environ.Env
	afar *afar
}

// list gives what agents are told of them. One that cannot be read is left out, as it
// keeps nobody from working.
func (n openRuns) list(ctx context.Context, run metadata.Run) ([]phases.OtherRun, error) {
	n.afar.mu.Lock()
	defer n.afar.mu.Unlock()
	survey, err := n.afar.look(ctx)
	if err != nil {
		return nil, err
	}
	all, err := n.open(ctx, survey)
	if err != nil || len(all) == 0 {
		return nil, err
	}
	all = all[:min(len(all), mostOthers)]
	src := n.src
	if survey != nil { // a job has no commit but that which it checked out
		src = survey.Source
		begun := []string{run.BaseCommit}
		for _, o := range all {
			begun = append(begun, o.run.BaseCommit)
		}
		if err := survey.Need(ctx, begun...); err != nil {
			return nil, err
		}
	}
	own := phases.PlannedFiles(run)
	for _, tip := range n.tips() {
		own = append(own, n.changed(ctx, src, run.BaseCommit, tip)...)
	}
	var out []phases.OtherRun
	for _, o := range all {
		files := append(n.changed(ctx, src, o.run.BaseCommit, o.commit), phases.PlannedFiles(o.run)...)
		out = append(out, phases.OtherRunOf(o.run, files, own))
	}
	return out, nil
}

// Config says of which run the others are asked for, and how.
type OtherRunsConfig struct {
	Source     *git.Source // nil: a test keeps the branches in memory, and there are no others
	Issue      string
	Tip        func() string                         // the newest commit of the run
	Folder     string                                // that the run has for what origin says of others
	Token      func(context.Context) (string, error) // for origin; nil: the user's own credentials
	Push       bool                                  // the run goes to origin, which is asked then
	RepoDayUSD float64                               // what all runs may spend in a day; 0: there is no limit
	Words      prompts.Catalogue                     // in which people are told of them
}

// Runs are the other runs of the repository, as one run knows them while it works. It may be
// used by several at once.
type OtherRuns struct {
	openRuns
	spent spender
	words prompts.Catalogue
	mu    sync.Mutex
	known map[string]bool // the issues whose runs change the same files, and of which people know
	said  metadata.Reason // which of them do now
	phase string          // in which that was found out
	asked time.Time       // when; zero: never
}

// Of gives the other runs for a run.
func OtherRunsOf(env environ.Env, c OtherRunsConfig) *OtherRuns {
	a := &afar{env: env, id: c.Issue, src: c.Source, dir: c.Folder, token: c.Token, pushes: c.Push, records: c.RepoDayUSD > 0}
	open := openRuns{c.Source, c.Issue, func() []string { return []string{c.Tip()} }, env, a}
	return &OtherRuns{openRuns: open, spent: spender{open, c.RepoDayUSD > 0, map[string]bool{}}, words: c.Words, known: map[string]bool{}}
}

// Close removes what origin has said. Nil has nothing to remove.
func (n *OtherRuns) Close() {
	if n != nil {
		n.afar.Close()
	}
}

// SameFiles says which open runs of other issues change the same files as a run that is
// looked at, by the branches here and those of origin as they were fetched last.
func SameFiles(ctx context.Context, env environ.Env, src *git.Source, run metadata.Run) metadata.Reason {
	if phases.IsOver(run) {
		return ""
	}
	n := openRuns{src, run.IssueNumber, func() []string {
		return []string{"refs/heads/" + run.BranchName, "refs/remotes/origin/" + run.BranchName}
	}, env, &afar{env: env, id: run.IssueNumber, src: src}}
	all, _ := n.list(ctx, run) // what cannot be read is not known
	return phases.WhySameFiles(all)
}

// Tell gives what agents are told, and says on standard error which runs change the same
// files, each once.
func (n *OtherRuns) Tell(ctx context.Context, run metadata.Run) ([]phases.OtherRun, error) {
	if n.src == nil {
		return nil, nil
	}
	all, err := n.list(ctx, run)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.phase, n.asked = run.CurrentPhase, n.env.Now()
	if err != nil {
		return nil, err
	}
	n.said = phases.WhySameFiles(all)
	for _, o := range all {
		if len(o.Shared) > 0 && !n.known[o.ID] {
			n.known[o.ID] = true
			_, _ = fmt.Fprintln(n.env.Stderr, "reprise: "+phases.WhySameFiles([]phases.OtherRun{o}).In(n.words))
		}
	}
	return all, nil
}

// SameFiles says which runs change the same files: as they were when the phase at hand
// began, or some minutes ago.
func (n *OtherRuns) SameFiles(run metadata.Run) metadata.Reason {
	n.mu.Lock()
	fresh := n.phase == run.CurrentPhase && run.Status == metadata.Running && n.env.Now().Sub(n.asked) < afarFor
	n.mu.Unlock()
	if !fresh {
		ctx, stop := context.WithTimeout(context.Background(), nearTime)
		defer stop()
		_, _ = n.Tell(ctx, run) // a step that needs it says what is wrong
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.said
}

// openRun is a run of another issue, and the commit that has its record.
type openRun struct {
	run    metadata.Run
	commit string
}

// open lists the runs of other issues that are not over, the one that moved last
// first.
func (n openRuns) open(ctx context.Context, survey *git.Survey) ([]openRun, error) {
	newest := map[string]openRun{}
	branches, _ := n.afar.places(survey)
	for _, p := range branches {
		err := p.each(ctx, func(id, commit string) {
			if id == n.id {
				return
			}
			data, err := p.src.ReadFile(ctx, commit, phases.RecordFile(id))
			if err != nil {
				return // a branch of another kind, or one that cannot be read
			}
			run, err := metadata.ParseOf(id, data, n.env.Branch(id))
			if known, there := newest[id]; err == nil && (!there || run.UpdatedAt.After(known.run.UpdatedAt)) {
				newest[id] = openRun{run, commit}
			}
		})
		if err != nil {
			return nil, err
		}
	}
	var all []openRun
	for _, o := range newest {
		if !phases.IsOver(o.run) {
			all = append(all, o)
		}
	}
	slices.SortFunc(all, func(a, b openRun) int {
		return cmp.Or(b.run.UpdatedAt.Compare(a.run.UpdatedAt), strings.Compare(a.run.IssueNumber, b.run.IssueNumber))
	})
	return all, nil
}

// changed lists the files that differ between two commits, besides those of reprise;
// none where that cannot be said, such as in a clone that lacks the commits.
func (n openRuns) changed(ctx context.Context, src *git.Source, from, to string) []string {
	change, err := src.Difference(ctx, from, to, path.Dir(phases.Folder(n.id)))
	if err != nil {
		return nil
	}
	names, _ := phases.ChangedInPatch(change.Text)
	return names
}

// spender knows what the other runs of the repository have spent today: by their branches
// here and on origin, by the records that are kept, and by what they have saved on this
// machine since.
type spender struct {
	openRuns
	counts bool            // there is a limit for all runs together
	unread map[string]bool // records that cannot be read, which a person was told of
}

// SpentToday gives what each of the other runs has spent today, where all of them together
// have a limit. A record that cannot be read is told, once.
func (n *OtherRuns) SpentToday(ctx context.Context, run metadata.Run) ([]phases.DaySpent, error) {
	return n.spent.today(ctx, run)
}

// today gives what each has spent. A record that cannot be read is told, once.
func (s spender) today(ctx context.Context, run metadata.Run) ([]phases.DaySpent, error) {
	if !s.counts || s.src == nil {
		return nil, nil
	}
	s.afar.mu.Lock()
	defer s.afar.mu.Unlock()
	survey, err := s.afar.look(ctx)
	if err != nil {
		return nil, err
	}
	commits, err := s.commits(ctx, survey)
	if err != nil {
		return nil, err
	}
	switch {
	case s.unread[""]:
	case survey == nil && s.src.Shallow:
		s.warn("this clone was not fetched as a whole: repo_day_usd counts only those runs whose branch or record is here")
	case survey != nil && s.afar.omitted > 0:
		s.warn(fmt.Sprintf("origin has more than %d branches or records of runs: %d of older issues do not count towards repo_day_usd", mostAfar, s.afar.omitted))
	}
	spent := map[[2]string]phases.DaySpent{} // of each run, by its issue and id: history only grows, so that the most counts
	count := func(r metadata.Run, id string) {
		key := [2]string{id, r.Execution.ID}
		if r.Execution.ID != run.Execution.ID || id != run.IssueNumber {
			spent[key] = phases.DaySpent{Issue: id, USD: max(spent[key].USD, phases.SpentOnDay(r, s.env.Now()))}
		}
	}
	for id, all := range commits {
		for commit, src := range all {
			file := phases.RecordFile(id)
			data, err := RecordReader(ctx, src, commit, id)(file)
			if errors.Is(err, fs.ErrNotExist) {
				continue // a branch of another kind
			}
			var r metadata.Run
			if err == nil {
				r, err = metadata.ParseOf(id, data, fmt.Sprintf("%.12s:%s", commit, file))
			}
			switch {
			case ctx.Err() != nil:
				return nil, ctx.Err()
			case err == nil:
				count(r, id)
			case !s.unread[commit]:
				s.unread[commit] = true
				_, _ = fmt.Fprintf(s.env.Stderr, "reprise: what issue %s has spent today does not count towards repo_day_usd, as its record cannot be read: %v\n", id, err)
			}
		}
		if root, err := HomeFolder(s.env, s.src, id); err == nil {
			if here := SavedRun(root, id); here != nil && id != run.IssueNumber {
				count(*here, id) // it may be at work
			}
		}
	}
	return slices.SortedFunc(maps.Values(spent), func(a, b phases.DaySpent) int { return strings.Compare(a.Issue, b.Issue) }), nil
}

// warn says once how far what is counted may be trusted.
func (s spender) warn(what string) {
	s.unread[""] = true
	_, _ = fmt.Fprintln(s.env.Stderr, "reprise: "+what)
}

// commits gives, by the ids of issues, the commits that may have the record of a run, and
// where each is.
func (s spender) commits(ctx context.Context, survey *git.Survey) (map[string]map[string]*git.Source, error) {
	all := map[string]map[string]*git.Source{}
	branches, records := s.afar.places(survey)
	for _, p := range slices.Concat(branches, records) {
		err := p.each(ctx, func(id, commit string) {
			if all[id] == nil {
				all[id] = map[string]*git.Source{}
			}
			all[id][commit] = p.src
		})
		if err != nil {
			return nil, err
		}
	}
	return all, nil
}

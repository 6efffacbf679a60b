package workspace

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/issue"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/prompts"
)

const (
	mostOthers = 8               // other runs that agents are told of
	nearTime   = 5 * time.Second // the longest that the work waits for what people are told of them

	// What is asked of origin about other runs: how many branches and kept records at most,
	// those of the newest issues, and how long an answer is good for.
	mostAfar = 200 // of each of the two
	afarFor  = 5 * time.Minute
)

// RefRun is the record of a run as a ref of a repository has it.
type RefRun struct {
	ID     string // of the issue
	Ref    git.Ref
	Source *git.Source
	Run    metadata.Run
	Err    error // why it cannot be read; wraps fs.ErrNotExist for a branch of another kind
}

// Kept reports whether it is a record that is kept by name, and not one of a branch.
func (r RefRun) Kept() bool { return strings.HasPrefix(r.Ref.Name, git.KeptRefs) }

// The folders of refs that have runs: branches here, those of origin, and records that are kept.
const (
	BranchesHere = "refs/heads/"
	BranchesAfar = "refs/remotes/origin/"
)

// RefRuns reads the records of the runs that have a ref in one of some folders of refs.
func RefRuns(ctx context.Context, env environ.Env, src *git.Source, in ...string) ([]RefRun, error) {
	return refRuns(ctx, env, src, nil, in...)
}

// refRuns is RefRuns for some issues; nil: for all.
func refRuns(ctx context.Context, env environ.Env, src *git.Source, ids []string, in ...string) (all []RefRun, err error) {
	var prefixes, within []string
	for _, refs := range in {
		prefix := refs + env.Prefix()
		if refs == git.KeptRefs {
			prefix = refs + phases.RecordName("")
		}
		folder := path.Dir(prefix) // a prefix may end within a name, which git lists no branches by
		prefixes, within = append(prefixes, prefix), append(within, folder)
	}
	idOf := func(ref string) string {
		for _, prefix := range prefixes {
			if id, is := strings.CutPrefix(ref, prefix); is && metadata.CheckID(id) == nil && (ids == nil || slices.Contains(ids, id)) {
				return id
			}
		}
		return ""
	}
	records, err := src.Records(ctx, within, metadata.File, func(ref string) string {
		if id := idOf(ref); id != "" {
			return phases.Folder(id)
		}
		return ""
	})
	for _, r := range records {
		one := RefRun{ID: idOf(r.Name), Ref: r.Ref, Source: src, Err: r.Err}
		if one.Err == nil {
			one.Run, one.Err = metadata.ParseOf(one.ID, r.Data, fmt.Sprintf("%.12s:%s", r.Commit, phases.RecordFile(one.ID)))
		}
		all = append(all, one)
	}
	return all, err
}

// OtherRunsConfig says of which run the others are asked for, and how.
type OtherRunsConfig struct {
	Source     *git.Source // nil: a test keeps the branches in memory, and there are no others
	Issue      string
	Tips       func() []string                       // where the newest commit of the run is, as far as it is here
	Folder     string                                // that the run has for what origin says of others
	Token      func(context.Context) (string, error) // for origin; nil: the user's own credentials
	Push       bool                                  // the run goes to origin, which is asked then
	RepoDayUSD float64                               // what all runs may spend in a day; 0: there is no limit
	Words      prompts.Catalogue                     // in which people are told of them

	kept bool // records that are kept are asked for as well
}

// OtherRuns are the repository's other runs as one run knows them: by branches here and on origin, and by kept
// records. What others pushed is fetched: a job's checkout has only the default branch. Several may use it at once.
type OtherRuns struct {
	OtherRunsConfig
	env environ.Env

	afar    sync.Mutex      // held while a survey is in use
	survey  *git.Survey     // nil: none was made yet, or could not be made
	askedAt time.Time       // when origin was asked last; zero: never
	omitted int             // branches and records that were left out, as there are too many
	said    map[string]bool // what a person was told once

	mu    sync.Mutex
	known map[string]bool // the issues whose runs change the same files, and of which people know
}

// otherRunsOf gives the other runs for a run.
func otherRunsOf(env environ.Env, c OtherRunsConfig) *OtherRuns {
	return &OtherRuns{OtherRunsConfig: c, env: env, said: map[string]bool{}, known: map[string]bool{}}
}

// Newer reports whether a record is newer than another of the same issue.
func Newer(a, b metadata.Run) bool {
	if a.Execution.ID == b.Execution.ID {
		return a.Revision > b.Revision
	}
	return a.UpdatedAt.After(b.UpdatedAt)
}

// AllRuns gives all runs of a repository: those of this machine and, where they are pushed, those that origin has now.
func AllRuns(env environ.Env, src *git.Source, pushed bool) *OtherRuns {
	return otherRunsOf(env, OtherRunsConfig{Source: src, Folder: filepath.Join(os.TempDir(), "reprise-git-"+uuid.NewString()), Push: pushed && src.RemoteURL != "", kept: true})
}

// Known reads the records of some issues.
func (n *OtherRuns) Known(ctx context.Context, ids []string) ([]RefRun, error) {
	n.afar.Lock()
	defer n.afar.Unlock()
	if err := n.look(ctx); err != nil {
		return nil, err
	}
	return n.all(ctx, ids, git.KeptRefs)
}

// Close removes what origin has said, also to a process before this one that was killed. Nil has nothing to remove.
func (n *OtherRuns) Close() {
	if n == nil {
		return
	}
	n.afar.Lock()
	defer n.afar.Unlock()
	n.forget()
	_ = folders.RemoveAll(n.Folder) // what is left is removed by the next run
}

func (n *OtherRuns) forget() {
	if n.survey != nil {
		n.survey.Close()
		n.survey = nil
	}
}

// look makes a new survey of origin if the last is too old; its caller holds afar. There is none for a run that
// does not go to origin, or if origin does not answer, which a person is told once.
func (n *OtherRuns) look(ctx context.Context) error {
	now := n.env.Now()
	if !n.Push || !n.askedAt.IsZero() && now.Sub(n.askedAt) < afarFor {
		return nil
	}
	n.forget()
	n.askedAt = now
	within := []string{BranchesHere + n.env.Prefix()}
	if n.kept || n.RepoDayUSD > 0 {
		within = append(within, git.KeptRefs+phases.RecordName(""))
	}
	survey, err := git.NewSurvey(ctx, n.Source, n.Folder, n.Token, within, func(all []git.Ref) (some []git.Ref) {
		// The branch of the run that is told knows what is there: only what an earlier run of its
		// issue has spent would be learned from it.
		own := BranchesHere + n.env.Branch(n.Issue)
		all = slices.DeleteFunc(all, func(b git.Ref) bool { return b.Name == own && !n.kept && n.RepoDayUSD == 0 })
		n.omitted = 0
		for _, prefix := range within {
			chosen, left := newestOf(all, prefix, mostAfar)
			some, n.omitted = append(some, chosen...), n.omitted+left
		}
		return some
	})
	if ctx.Err() != nil {
		n.askedAt = time.Time{}
		return ctx.Err()
	}
	if err != nil {
		n.sayOnce("origin", "%v; of other runs only what is here is known", err)
	}
	n.survey = survey
	return nil
}

func (n *OtherRuns) sayOnce(what, format string, args ...any) {
	if !n.said[what] {
		n.said[what] = true
		_, _ = fmt.Fprintf(n.env.Stderr, "reprise: "+format+"\n", args...)
	}
}

// newestOf gives those refs with a prefix whose issues were opened last, and how many are left.
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

// all gives the known runs of some issues, or of all: with a branch here, on origin (as surveyed, else as fetched last), and kept if asked.
func (n *OtherRuns) all(ctx context.Context, ids []string, kept ...string) ([]RefRun, error) {
	if n.survey == nil {
		return refRuns(ctx, n.env, n.Source, ids, append(kept, BranchesHere, BranchesAfar)...)
	}
	here, err := refRuns(ctx, n.env, n.Source, ids, append(kept, BranchesHere)...)
	if err != nil {
		return nil, err
	}
	there, err := refRuns(ctx, n.env, n.survey.Source, ids, append(kept, BranchesAfar)...)
	return append(here, there...), err
}

// list gives what agents are told of others' open runs, the last moved first. One that cannot be read is left out.
func (n *OtherRuns) list(ctx context.Context, run metadata.Run) (out []phases.OtherRun, err error) {
	n.afar.Lock()
	defer n.afar.Unlock()
	if err := n.look(ctx); err != nil {
		return nil, err
	}
	all, err := n.all(ctx, nil)
	if err != nil {
		return nil, err
	}
	newest := map[string]RefRun{}
	for _, o := range all {
		if known, there := newest[o.ID]; o.Err == nil && o.ID != n.Issue && (!there || Newer(o.Run, known.Run)) {
			newest[o.ID] = o
		}
	}
	maps.DeleteFunc(newest, func(_ string, o RefRun) bool { return phases.IsOver(o.Run) })
	open := slices.SortedFunc(maps.Values(newest), func(a, b RefRun) int {
		return cmp.Or(b.Run.UpdatedAt.Compare(a.Run.UpdatedAt), strings.Compare(a.ID, b.ID))
	})
	if open = open[:min(len(open), mostOthers)]; len(open) == 0 {
		return nil, nil
	}
	src := n.Source
	if n.survey != nil { // a job has no commit but that which it checked out
		src = n.survey.Source
		begun := []string{run.BaseCommit}
		for _, o := range open {
			begun = append(begun, o.Run.BaseCommit)
		}
		if err := n.survey.Need(ctx, begun...); err != nil {
			return nil, err
		}
	}
	// The files that differ between two commits, besides those of reprise; none where that
	// cannot be said, such as in a clone that lacks the commits.
	changed := func(from, to string) []string {
		change, err := src.Difference(ctx, from, to, path.Dir(phases.Folder(n.Issue)))
		if err != nil {
			return nil
		}
		names, _ := phases.ChangedInPatch(change.Text)
		return names
	}
	own := phases.PlannedFiles(run)
	for _, tip := range n.Tips() {
		own = append(own, changed(run.BaseCommit, tip)...)
	}
	for _, o := range open {
		out = append(out, phases.OtherRunOf(o.Run, append(changed(o.Run.BaseCommit, o.Ref.Commit), phases.PlannedFiles(o.Run)...), own))
	}
	return out, nil
}

// SameFiles says which open runs of other issues change the same files as run, by branches here and as last fetched.
func SameFiles(ctx context.Context, env environ.Env, src *git.Source, run metadata.Run) metadata.Reason {
	if phases.IsOver(run) {
		return ""
	}
	n := otherRunsOf(env, OtherRunsConfig{Source: src, Issue: run.IssueNumber, Tips: func() []string {
		return []string{BranchesHere + run.BranchName, BranchesAfar + run.BranchName}
	}})
	all, _ := n.list(ctx, run) // what cannot be read is not known
	return phases.WhySameFiles(all)
}

// tell gives what agents are told, and warns of same files, each once.
func (n *OtherRuns) tell(ctx context.Context, run metadata.Run) ([]phases.OtherRun, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.Source == nil {
		return nil, nil
	}
	all, err := n.list(ctx, run)
	if err != nil {
		return nil, err
	}
	for _, o := range all {
		if len(o.Shared) > 0 && !n.known[o.ID] {
			n.known[o.ID] = true
			_, _ = fmt.Fprintln(n.env.Stderr, "reprise: "+phases.WhySameFiles([]phases.OtherRun{o}).In(n.Words))
		}
	}
	return all, nil
}

// sameFiles says which runs change the same files; none where that fails or takes long: a step that needs it says why.
func (n *OtherRuns) sameFiles(run metadata.Run) metadata.Reason {
	ctx, stop := context.WithTimeout(context.Background(), nearTime)
	defer stop()
	all, _ := n.tell(ctx, run)
	return phases.WhySameFiles(all)
}

// spentToday gives what each other run has spent today, if all together have a limit: by branches, records and what
// this machine has saved since. A record that cannot be read is told, once.
func (n *OtherRuns) spentToday(ctx context.Context, run metadata.Run) ([]phases.DaySpent, error) {
	if n.RepoDayUSD == 0 || n.Source == nil {
		return nil, nil
	}
	n.afar.Lock()
	defer n.afar.Unlock()
	if err := n.look(ctx); err != nil {
		return nil, err
	}
	all, err := n.all(ctx, nil, git.KeptRefs)
	if err != nil {
		return nil, err
	}
	switch {
	case n.survey == nil && n.Source.Shallow:
		n.sayOnce("part", "this clone was not fetched as a whole: repo_day_usd counts only those runs whose branch or record is here")
	case n.survey != nil && n.omitted > 0:
		n.sayOnce("part", "origin has more than %d branches or records of runs: %d of older issues do not count towards repo_day_usd", mostAfar, n.omitted)
	}
	spent := map[[2]string]phases.DaySpent{} // of each run, by its issue and id: history only grows, so that the most counts
	count := func(r metadata.Run, id string) {
		key := [2]string{id, r.Execution.ID}
		if r.Execution.ID != run.Execution.ID || id != run.IssueNumber {
			spent[key] = phases.DaySpent{Issue: id, USD: max(spent[key].USD, phases.SpentOnDay(r, n.env.Now()))}
		}
	}
	for _, o := range all {
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case errors.Is(o.Err, fs.ErrNotExist): // a branch of another kind
		case o.Err != nil:
			n.sayOnce(o.Ref.Commit, "what issue %s has spent today does not count towards repo_day_usd, as its record cannot be read: %v", o.ID, o.Err)
		default:
			count(o.Run, o.ID)
		}
		if root, err := HomeFolder(n.env, n.Source, o.ID); err == nil {
			if here := savedRun(root, o.ID); here != nil && o.ID != run.IssueNumber {
				count(*here, o.ID) // it may be at work
			}
		}
	}
	return slices.SortedFunc(maps.Values(spent), func(a, b phases.DaySpent) int { return strings.Compare(a.Issue, b.Issue) }), nil
}

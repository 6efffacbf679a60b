package harvest

import (
	"context"
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"sort"
	"strings"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/shelf"
	"github.com/reprise-ci/reprise/internal/workspace"
)

// history is where the commits of a run are.
type history struct {
	*workspace.Recorded
	refs []string // that have them: its branch, here or on origin, and the record that is kept
	main string   // the default branch, here or on origin, where it has got further; "": there is none
}

// find reads a run and finds its commits. What only origin has is fetched, as anybody
// would fetch it.
func (m *harvester) find(ctx context.Context, env environ.Env) (h history, err error) {
	kept := workspace.KeptRef(m.Run)
	if h.Recorded, err = workspace.Look(ctx, env, m.Repo, m.Run); errors.As(err, new(*workspace.NoRunError)) && !m.has(ctx, kept) && m.fetch(ctx, kept, kept) == nil {
		h.Recorded, err = workspace.Look(ctx, env, m.Repo, m.Run)
	}
	if err != nil {
		return h, err
	}
	branch := env.Branch(h.Issue.ID)
	here, there := "refs/heads/"+branch, "refs/remotes/origin/"+branch
	if !h.Gone && !m.has(ctx, here) {
		if err := m.fetch(ctx, "refs/heads/"+branch, there); err != nil && !m.has(ctx, there) {
			return h, fmt.Errorf("the commits of the run are not in this repository: %w", err)
		}
		here = there
	}
	for _, ref := range []string{here, kept} {
		if m.has(ctx, ref) {
			h.refs = append(h.refs, ref)
		}
	}
	if name := h.Source.DefaultBranch; name != "" {
		for _, ref := range []string{"refs/heads/" + name, "refs/remotes/origin/" + name} {
			if m.has(ctx, ref) && (h.main == "" || m.holds(ctx, ref, h.main)) {
				h.main = ref
			}
		}
	}
	return h, nil
}

// has reports whether there is a commit of that name.
func (m *harvester) has(ctx context.Context, ref string) bool {
	_, err := m.top.Git(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", ref+"^{commit}")
	return err == nil
}

// holds reports whether a commit has another one in its history.
func (m *harvester) holds(ctx context.Context, commit, older string) bool {
	_, err := m.top.Git(ctx, "merge-base", "--is-ancestor", older, commit)
	return err == nil
}

func (m *harvester) fetch(ctx context.Context, ref, into string) error {
	_, err := m.top.Git(ctx, "fetch", "--quiet", "--no-tags", "origin", "+"+ref+":"+into)
	return err
}

// end is where the work of a run ends.
type end struct{ from, to string }

// ends gives where the pull request of a run begins and ends, as it was merged, with what
// people have added. One that was not merged ends where its branch does.
func (m *harvester) ends(ctx context.Context, h history) (end, error) {
	open := end{h.Run.BaseCommit, h.refs[0]}
	if h.main == "" {
		return open, nil
	}
	out, err := m.top.Git(ctx, "rev-list", "--first-parent", "--reverse", h.Run.BaseCommit+".."+h.main)
	if err != nil {
		return end{}, err
	}
	chain := strings.Fields(out)
	last, itself, err := m.arrived(ctx, h)
	if last == "" || err != nil {
		return open, err
	}
	at := sort.Search(len(chain), func(i int) bool { return m.holds(ctx, chain[i], last) })
	if at == len(chain) { // the run has changed nothing
		return open, nil
	}
	parents, err := m.top.Git(ctx, "rev-list", "--parents", "--max-count=1", chain[at])
	if err != nil {
		return end{}, err
	}
	if merged := strings.Fields(parents); len(merged) > 2 {
		base, err := m.top.Git(ctx, "merge-base", merged[1], merged[2])
		return end{strings.TrimSpace(base), merged[2]}, err
	}
	if itself {
		return open, nil
	}
	return m.copied(ctx, h, chain[:at+1])
}

// recordOf names a commit with a record, in the message of a commit.
var recordOf = regexp.MustCompile(`(?m)^` + shelf.Trailer + `: ([0-9a-f]{40,64})\s*$`)

// arrived gives the commit by which a run came to the default branch, and whether it is
// one of the run's own: else they were made into others, which name its record or, in the
// first line, its pull request. It is "" where none has.
func (m *harvester) arrived(ctx context.Context, h history) (commit string, itself bool, err error) {
	for _, ref := range h.refs {
		if m.holds(ctx, h.main, ref) {
			return ref, true, nil
		}
	}
	log, err := m.top.Git(ctx, "log", "-z", "--format=%H %B", h.Run.BaseCommit+".."+h.main)
	if err != nil {
		return "", false, err
	}
	pull := "(#" + path.Base(h.Run.PRURL) + ")"
	for entry := range strings.SplitSeq(log, "\x00") {
		commit, message, _ := strings.Cut(entry, " ")
		subject, _, _ := strings.Cut(message, "\n")
		named := recordOf.FindStringSubmatch(message)
		ours := named != nil && slices.ContainsFunc(h.refs, func(ref string) bool { return m.holds(ctx, ref, named[1]) })
		if ours || h.Run.PRURL != "" && strings.HasSuffix(strings.TrimSpace(subject), pull) {
			return commit, false, nil
		}
	}
	return "", false, nil
}

// copied gives what commits of the default branch stand for a run, of which the last one
// is given: one, or as many as the run had.
func (m *harvester) copied(ctx context.Context, h history, chain []string) (end, error) {
	first, to := chain[len(chain)-1], chain[len(chain)-1]
	log, err := m.top.Git(ctx, "log", "-z", "--first-parent", "--reverse", "--format=%H %B", h.Run.BaseCommit+".."+to)
	if err != nil {
		return end{}, err
	}
	for entry := range strings.SplitSeq(log, "\x00") {
		commit, message, _ := strings.Cut(entry, " ")
		if slices.Contains(strings.Split(message, "\n"), "Reprise-Issue: "+h.Run.IssueNumber) {
			first = commit
			break
		}
	}
	return end{first + "^", to}, nil
}

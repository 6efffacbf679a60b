package eval

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
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/git"
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
	_, err := m.top.git(ctx, "rev-parse", "--verify", "--quiet", "--end-of-options", ref+"^{commit}")
	return err == nil
}

// holds reports whether a commit has another one in its history.
func (m *harvester) holds(ctx context.Context, commit, older string) bool {
	_, err := m.top.git(ctx, "merge-base", "--is-ancestor", older, commit)
	return err == nil
}

func (m *harvester) fetch(ctx context.Context, ref, into string) error {
	_, err := m.top.git(ctx, "fetch", "--quiet", "--no-tags", "origin", "+"+ref+":"+into)
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
	out, err := m.top.git(ctx, "rev-list", "--first-parent", "--reverse", h.Run.BaseCommit+".."+h.main)
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
	parents, err := m.top.git(ctx, "rev-list", "--parents", "--max-count=1", chain[at])
	if err != nil {
		return end{}, err
	}
	if merged := strings.Fields(parents); len(merged) > 2 {
		base, err := m.top.git(ctx, "merge-base", merged[1], merged[2])
		return end{strings.TrimSpace(base), merged[2]}, err
	}
	if itself {
		return open, nil
	}
	return m.copied(ctx, h, chain[:at+1])
}

// recordOf names a commit with a record, in the message of a commit.
var recordOf = regexp.MustCompile(`(?m)^` + git.RecordTrailer + `: ([0-9a-f]{40,64})\s*$`)

// arrived gives the commit by which a run came to the default branch, and whether it is
// one of the run's own: else they were made into others, which are as the run has made them,
// or name its record or, in the first line, its pull request. It is "" where none has.
func (m *harvester) arrived(ctx context.Context, h history) (commit string, itself bool, err error) {
	for _, ref := range h.refs {
		if m.holds(ctx, h.main, ref) {
			return ref, true, nil
		}
	}
	own, err := m.own(ctx, h)
	if err != nil {
		return "", false, err
	}
	all, err := m.log(ctx, h.Run.BaseCommit+".."+h.main)
	if err != nil {
		return "", false, err
	}
	pull := "(#" + path.Base(h.Run.PRURL) + ")"
	for _, c := range all {
		subject, _, _ := strings.Cut(c.message, "\n")
		named := recordOf.FindStringSubmatch(c.message)
		ours := own[c.made] || named != nil && slices.ContainsFunc(h.refs, func(ref string) bool { return m.holds(ctx, ref, named[1]) })
		if ours || h.Run.PRURL != "" && strings.HasSuffix(strings.TrimSpace(subject), pull) {
			return c.hash, false, nil
		}
	}
	for _, c := range all {
		if slices.Contains(c.issues, h.Run.IssueNumber) {
			return "", false, exit.Usagef("commit %.12s of %s is of issue %s by its trailers, but no commit there is known as one of the run, so its pull request seems to have been merged in another form and its tests cannot be told; fetch the branch of the run as it was merged", c.hash, h.main, h.Run.IssueNumber)
		}
	}
	return "", false, nil
}

// logged is a commit as a log has it.
type logged struct {
	hash    string
	made    string // by whom, when and with which message; a commit that is rebased keeps it
	message string
	issues  []string // that its trailers name
}

// log lists commits, the newest first.
func (m *harvester) log(ctx context.Context, args ...string) (all []logged, err error) {
	out, err := m.top.git(ctx, append([]string{"log", "-z", "--format=%H%x01%an%x01%ae%x01%at%x01%(trailers:key=Reprise-Issue,valueonly,unfold)%x01%B"}, args...)...)
	if err != nil {
		return nil, err
	}
	for entry := range strings.SplitSeq(out, "\x00") {
		if f := strings.SplitN(entry, "\x01", 6); len(f) == 6 {
			message := strings.TrimSpace(f[5])
			all = append(all, logged{f[0], strings.Join(append(f[1:4:4], message), "\x01"), message, strings.Fields(f[4])})
		}
	}
	return all, nil
}

// own says of commits, by what they keep when they are rebased, that they are the run's.
func (m *harvester) own(ctx context.Context, h history) (map[string]bool, error) {
	all, err := m.log(ctx, append(slices.Clone(h.refs), "^"+h.Run.BaseCommit, "^"+h.main)...)
	own := map[string]bool{}
	for _, c := range all {
		own[c.made] = true
	}
	return own, err
}

// copied gives what commits of the default branch stand for a run, of which the last one
// is given: one, or as many as were rebased.
func (m *harvester) copied(ctx context.Context, h history, chain []string) (end, error) {
	first, to := chain[len(chain)-1], chain[len(chain)-1]
	own, err := m.own(ctx, h)
	if err != nil {
		return end{}, err
	}
	all, err := m.log(ctx, "--first-parent", h.Run.BaseCommit+".."+to)
	for _, c := range all {
		if own[c.made] {
			first = c.hash
		}
	}
	return end{first + "^", to}, err
}

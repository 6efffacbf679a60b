//go:build slow || e2e

package main

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/page"
	githubtest "github.com/reprise-ci/reprise/internal/test/github"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/internal/test/world"
	"github.com/reprise-ci/reprise/metadata"
)

// errand is something that a run is asked for, or that happens to it, besides being
// started and taken back: with all of them, every route of the forge is called.
type errand struct {
	name string
	// prepare brings a hub to where it can be asked for.
	prepare func(t *testing.T) *asked
}

// asked is a hub with something that was not asked for yet.
type asked struct {
	*hub
	made    *githubtest.Checks
	reviews *githubtest.Reviews
	// ask asks for it, and gives what starts a job for it; it is /run unless said otherwise.
	ask func() func(more ...string) *hubJob
	// left describes what is still missing; "" if the errand is done.
	left func() string
	// minor describes what is missing among the things that a job may leave to people if it
	// says so; "" if nothing is.
	minor func() string
	// twice describes what was created more than once; "" if nothing was.
	twice func() string
	// dead says that the job which has the run was killed.
	dead bool
	// fails says that the run is to have failed: where something is missing then, the job is
	// started again, and nobody comments /run.
	fails bool
	// commander gave the newest command that the run stops after; ada if empty.
	commander string

	anew     string  // a command that is given once more where its job has not done it; "": the job is started again
	commands []int64 // comments with what was asked for

	at  string // the refs of the newest record that was read
	run metadata.Run
}

// errands are all of them.
func errands() []errand {
	return append(stops(), []errand{
		{"ready", askedReady},
		{"base", askedBase},
		{"review", askedReview},
		{"approve", askedApproval},
		{"squash", askedSquash},
		{"signed", askedSigned},
		{"give up", askedToGiveUp},
		{"dependency", askedDependency},
		{"refresh", askedRefresh},
		{"ci is red", askedRedCI},
		{"ci is green", askedGreenCI},
		{"pull", askedOnPull},
		{"gone", askedOfGone},
	}...)
}

// newAsked is a hub on which people are told of stops, and all that a forge may keep is kept.
func newAsked(t *testing.T, pipeline string) *asked {
	t.Helper()
	h := stageOf(t, pipeline+"labels: \"copy\"\nstatuses: true\n")
	h.inputs["notify"] = "commander"
	h.forge.ChangeIssue(hubRepo, hubIssue, func(is *githubtest.Issue) { is.Labels = append(is.Labels, "bug") })
	h.write("home/build-execute", changesCode)
	h.write("home/build-revise", `echo more >>"$REPRISE_DIR/code.txt"`+"\n")
	a := &asked{hub: h, made: githubtest.NewChecks(h.forge, hubRepo, t.Cleanup), reviews: githubtest.NewReviews(h.forge, hubRepo), twice: func() string { return "" }, minor: func() string { return "" }}
	a.ask = func() func(...string) *hubJob { return a.says("ada", "/run") }
	return a
}

// says has somebody give a command, and gives what starts its job.
func (a *asked) says(by, text string) func(...string) *hubJob {
	id := a.say(by, text)
	a.commands = append(a.commands, id)
	return func(more ...string) *hubJob { return a.heard(id, by, more...) }
}

// first says which of some things are not so.
func first(all ...any) string {
	for i := 0; i < len(all); i += 2 {
		if !all[i].(bool) {
			return all[i+1].(string)
		}
	}
	return ""
}

// handed says what a completed run has not left on its branch and its pull request.
func (a *asked) handed() string {
	pulls, live, tip := a.forge.Pulls(hubRepo), a.ours("progress"), a.tip()
	run := a.now()
	return first(
		run.Status == metadata.Completed, "that the run is completed: it is "+string(run.Status),
		len(live) == 1 && strings.Contains(live[0].Body, "### ✅"), "the live comment at the end",
		len(pulls) > 0 && !pulls[0].Draft, "that the pull request is ready",
		!a.hasFolder(), "that the folder of the run leaves the branch",
		a.told(run), "word of the end",
		a.status(tip) == "success", "the status of commit "+tip,
	)
}

// hasFolder reports whether the branch has the folder of the run.
func (a *asked) hasFolder() bool {
	_, err := testenv.Git(a.path("origin.git"), "cat-file", "-e", a.tip()+":.reprise")
	return err == nil
}

// told reports whether people were told of just the stop at which the run stands: in one
// comment that is not folded away, is in the record, and calls whoever gave the command.
func (a *asked) told(run metadata.Run) bool {
	stop, ok := page.StopOf(run)
	marker := page.NoticeMarker(run.IssueNumber, stop)
	words := slices.DeleteFunc(a.ours("stop"), func(c githubtest.Comment) bool { return !strings.HasPrefix(c.Body, marker+"\n") })
	return ok && len(words) == 1 && words[0].ID == run.GitHubIntegration.NoticeCommentID && words[0].Minimized == "" &&
		strings.Contains(words[0].Body, "@"+cmp.Or(a.commander, "ada")+" ")
}

// now is the newest record of the run, wherever it is kept; the zero value if there is none.
// Every commit is held against its record, once for as long as the branch stays as it is.
func (a *asked) now() metadata.Run {
	a.t.Helper()
	branch := environ.BranchPrefix + fmt.Sprint(hubIssue)
	refs, err := testenv.Git(a.path("origin.git"), "for-each-ref", "--format=%(refname) %(objectname)", "refs/heads/"+branch, git.KeptRefs)
	if err == nil && strings.Contains(refs, "refs/heads/"+branch+" ") && refs != a.at {
		a.at = refs
		a.run, err = world.Audit(a.path("origin.git"), branch)
	}
	testenv.Must(a.t, err)
	if !strings.Contains(refs, "refs/heads/"+branch+" ") {
		return metadata.Run{}
	}
	return a.run.Clone()
}

// status is what reprise has said of a commit.
func (a *asked) status(commit string) (state string) {
	a.forge.With(hubRepo, func(*githubtest.Desk) {
		for _, p := range a.made.Posted {
			if p.Commit == commit {
				state = p.State
			}
		}
	})
	return state
}

// once says which of what reprise leaves is there too often.
func (a *asked) once() string {
	stops := map[string]int{}
	for _, c := range a.ours("stop") {
		marker, _, _ := strings.Cut(c.Body, "\n")
		if stops[marker]++; stops[marker] > 1 {
			return "a stop is told twice: " + marker
		}
	}
	run := a.now()
	taken := map[int64]bool{}
	for _, d := range run.Decisions {
		if d.Comment > 0 && taken[d.Comment] {
			return fmt.Sprintf("comment %d was taken twice", d.Comment)
		}
		taken[d.Comment] = true
	}
	for _, c := range a.forge.Comments(hubRepo, hubIssue) {
		if n := strings.Count(strings.Join(a.repliesTo(c.ID), "\n"), "<!-- reprise:reply"); n > 1 {
			return fmt.Sprintf("comment %d has %d answers", c.ID, n)
		}
	}
	return first(
		len(a.ours("progress")) <= 1, "there are several live comments",
		len(a.forge.Pulls(hubRepo)) <= 1, "there are several pull requests",
		a.dead || run.Execution.Lease == nil, "the run is somebody's",
	)
}

// repliesTo are the answers to a comment.
func (a *asked) repliesTo(id int64) (out []string) {
	for _, c := range a.ours("reply") {
		if strings.Contains(c.Body, fmt.Sprint(id)) {
			out = append(out, c.Body)
		}
	}
	return out
}

// moveBase has somebody push to the base.
func (a *asked) moveBase(name string) {
	a.t.Helper()
	a.git("-C", a.path("project"), "pull", "--quiet", "--rebase", "origin", "main")
	a.publish(map[string]string{name: "theirs\n"})
}

// merged reports whether the branch has all of the base.
func (a *asked) merged() bool {
	_, err := testenv.Git(a.path("origin.git"), "merge-base", "--is-ancestor", "main", a.tip())
	return err == nil
}

const mayStart = " on no branch"

var mutationForm = regexp.MustCompile(`(\w+)\(input`)

// routeOf names what a request asks for: its route and, in GraphQL, the mutation. To ask whether
// a workflow may be started has a name of its own.
func routeOf(r githubtest.Request) string {
	if strings.HasSuffix(r.Route, "/dispatches") && strings.Contains(string(r.Body), `"ref":""`) {
		return r.Route + mayStart
	}
	if m := mutationForm.FindSubmatch(r.Body); r.Route == "POST /graphql" && m != nil {
		return r.Route + " " + string(m[1])
	}
	return r.Route
}

// kept is a file of the run's folder, wherever the record is kept.
func (a *asked) kept(name string) string {
	a.t.Helper()
	at := world.RecordAt(a.path("origin.git"), environ.BranchPrefix+fmt.Sprint(hubIssue))
	return testenv.MustGit(a.t, a.path("origin.git"), "show", at+":.reprise/issue-7/"+name)
}

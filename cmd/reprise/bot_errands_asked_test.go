//go:build slow || e2e

package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/setup"
	githubtest "github.com/reprise-ci/reprise/internal/test/github"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/internal/test/world"
	"github.com/reprise-ci/reprise/metadata"
)

// A run from its beginning: its base moves on the way.
func askedReady(t *testing.T) *asked {
	a := newAsked(t, twoSteps)
	a.write("home/build-execute", changesCode+fmt.Sprintf(`
[ -e "$HOME/moving" ] || git clone --quiet --branch=main "file://%s" "$HOME/moving"
cd "$HOME/moving" && date +%%N >theirs.txt && git add --all
git -c user.name=P -c user.email=p@example.com commit --quiet --message='the base moves' && git push --quiet || exit 9
`, a.path("origin.git")))
	a.left = func() string {
		return cmp.Or(a.handed(), first(a.merged(), "the base in the branch"))
	}
	a.minor = func() string {
		return first(
			slices.Contains(a.forge.Labels(hubRepo, 8), "bug"), "the label of the issue",
			slices.Equal(a.reviews.Asked(8), []string{"ada"}), "that ada is asked for a review",
			slices.Equal(a.reviews.Assigned(8), []string{"ada"}), "that the pull request is ada's",
		)
	}
	return a
}

// completed is a hub whose run is completed.
func completed(t *testing.T, pipeline string) *asked {
	a := newAsked(t, pipeline)
	a.comment("ada", "/run").end(exit.Done).wants("status", "completed", "pr-number", "8")
	return a
}

// The base is brought into a completed run by hand.
func askedBase(t *testing.T) *asked {
	a, n := completed(t, twoSteps), 0
	a.ask = func() func(...string) *hubJob {
		n++
		a.moveBase(fmt.Sprintf("theirs%d.txt", n))
		return a.says("ada", "/update")
	}
	a.left = func() string {
		return cmp.Or(a.handed(), first(a.merged(), "the base in the branch"))
	}
	return a
}

// A review requests changes.
func askedReview(t *testing.T) *asked {
	a := newAsked(t, judged)
	a.write("home/build-review", `[ -e "$HOME/reviewed" ] && findings='`+finding("R1", "blocker", "fixed", "")+","+finding("R2", "blocker", "fixed", "")+`'
echo '{"structured": {"verdict": "pass", "gates": [{"gate": "It is built", "pass": true, "why": "it is"}], "findings": ['"$findings"']}}'
exit 0
`)
	a.comment("ada", "/run").end(exit.Done).wants("status", "completed", "pr-number", "8")
	a.write("home/reviewed", "")
	var last githubtest.Review
	n := 0
	a.ask = func() func(...string) *hubJob {
		n++
		last = a.reviews.Submit(8, twoComments("ada"))
		v := last
		return func(more ...string) *hubJob { return a.reviewed(a.reviews, v, more...) }
	}
	a.left = func() string {
		if left := a.handed(); left != "" {
			return left
		}
		run := a.now()
		i := slices.IndexFunc(run.Reviews, func(r metadata.PullReview) bool { return r.ID == last.ID })
		return first(
			i >= 0 && run.Reviews[max(i, 0)].Answered, "that the review is answered",
			len(a.reviews.Replies(8, last.Comments[0].ID)) > 0 && len(a.reviews.Replies(8, last.Comments[1].ID)) > 0, "answers to its comments",
			slices.Equal(a.reviews.Asked(8), []string{"ada"}), "that ada is asked for another review",
		)
	}
	a.twice = func() string {
		return first(
			len(a.reviews.Replies(8, last.Comments[0].ID)) < 2 && len(a.reviews.Replies(8, last.Comments[1].ID)) < 2, "a comment of the review is answered twice",
			len(a.now().RollbackHistory) <= n, "the run was taken back twice",
		)
	}
	return a
}

// approves is a pipeline in which a person has to approve the code.
var approves = strings.Replace(judged, `gates: ["It is built"]`, `gates: ["It is built"], approve: "write"`, 1)

// A person approves what the run waits for.
func askedApproval(t *testing.T) *asked {
	a := newAsked(t, approves)
	a.commander = "max"
	a.write("home/build-review", verdictOf(""))
	a.comment("ada", "/run").end(exit.Done).wants("status", "waiting")
	a.ask = func() func(...string) *hubJob { return a.says("max", "/approve") }
	a.left = a.handed
	a.minor = func() string {
		stops := a.ours("stop")
		return first(
			len(stops) < 2 || stops[len(stops)-2].Minimized == "OUTDATED", "that the word before is folded away",
			!slices.Contains(a.forge.Labels(hubRepo, hubIssue), "reprise: waiting"), "that the label is gone",
		)
	}
	a.twice = func() string { return first(len(a.now().Approvals) <= 1, "it was approved twice") }
	return a
}

// The branch is made one commit.
func askedSquash(t *testing.T) *asked {
	a := completed(t, twoSteps)
	before := a.tip()
	a.ask = func() func(...string) *hubJob { return a.says("max", "/finish --squash") }
	a.left = func() string {
		if left := a.handed(); left != "" {
			return left
		}
		log, err := testenv.Git(a.path("origin.git"), "log", "--format=%s", "main..reprise/issue-7")
		_, lost := testenv.Git(a.path("origin.git"), "merge-base", "--is-ancestor", before, "refs/reprise/records/issue-7")
		return first(err == nil && strings.Count(log, "\n") == 1, "that the branch is one commit:\n"+log, lost == nil, "what the branch was before")
	}
	return a
}

// All commits of a run are made and signed by the forge.
func askedSigned(t *testing.T) *asked {
	a := newAsked(t, twoSteps)
	a.forge.Configure(hubRepo, githubtest.Settings{Rules: []string{"required_signatures"}})
	a.git("-C", a.path("origin.git"), "config", "uploadpack.allowAnySHA1InWant", "true") // as GitHub has it
	a.left = func() string {
		if left := a.handed(); left != "" {
			return left
		}
		out, err := testenv.Git(a.path("origin.git"), "log", "--format=%H %an", "main..reprise/issue-7")
		return first(err == nil && strings.Count(out, "\n") == strings.Count(out, " github-actions[bot]\n"), "that GitHub made all commits:\n"+out)
	}
	return a
}

// A person approves that the run is given up.
func askedToGiveUp(t *testing.T) *asked {
	a := newAsked(t, givesUp)
	a.write("home/judge-execute", `echo judged >>"$REPRISE_ARTIFACT"; echo '{"structured": {"abort": "It does this already, @hana: see sum.go"}}'; exit 0`+"\n")
	a.comment("ada", "/run").end(exit.Done).wants("status", "waiting", "pr-number", "8")
	a.ask = func() func(...string) *hubJob { return a.says("max", "/approve") }
	a.left = func() string {
		run := a.now()
		return first(
			run.Status == metadata.Cancelled, "that the run is cancelled",
			a.thread(8).State == "closed", "that the pull request is closed",
			a.thread(hubIssue).State == "closed", "that the issue is closed",
			a.given(8) > 0 && a.given(hubIssue) > 0, "why",
		)
	}
	a.minor = func() string {
		return first(!slices.Contains(a.forge.Labels(hubRepo, hubIssue), "reprise: waiting"), "that the label is gone")
	}
	a.twice = func() string { return first(a.given(8) < 2 && a.given(hubIssue) < 2, "it is said twice why") }
	return a
}

// given is how often it is said on an issue why a run was given up.
func (a *asked) given(number int) (n int) {
	for _, c := range a.forge.Comments(hubRepo, number) {
		if strings.HasPrefix(c.Body, "<!-- reprise:given-up:") {
			n++
		}
	}
	return n
}

// The issue that a run waits for is closed.
func askedDependency(t *testing.T) *asked {
	a := newAsked(t, dependsOn)
	a.forge.AddIssue(hubRepo, githubtest.Issue{Number: 3, Title: "Parse it", Author: "bob"})
	a.write("home/plan-execute", `echo planned >>"$REPRISE_ARTIFACT"; echo '{"structured": {"depends_on": [3]}}'; exit 0`+"\n")
	a.comment("ada", "/run").end(exit.Done).wants("status", "waiting")
	a.forge.AddIssue(hubRepo, githubtest.Issue{Number: 9, Title: "Print it", Author: "bob"})
	a.start("issue_comment", "ada", a.forge.CommentPayload(hubRepo, a.sayOn(9, "ada", "/run"), "created", "")).end(exit.Done).wants("status", "waiting")
	woken := func() bool {
		run, err := world.Audit(a.path("origin.git"), environ.BranchPrefix+"9")
		return err == nil && run.Status == metadata.Completed || len(a.forge.Dispatches(hubRepo)) > 0
	}
	a.ask = func() func(...string) *hubJob {
		a.forge.ChangeIssue(hubRepo, 3, func(is *githubtest.Issue) { is.State = "closed" })
		return func(more ...string) *hubJob {
			return a.start("issues", "bob", a.forge.IssuePayload(hubRepo, 3, "closed", "bob"), more...)
		}
	}
	a.left = func() string {
		run := a.now()
		return first(run.Status == metadata.Completed, "that the run is completed: it is "+string(run.Status), woken(), "the run of the other issue that waited")
	}
	// A job that is started again takes the next run that waits. So what the forge refuses of the
	// first one's comments for as long as a job lasts is told by the next job of that issue.
	a.minor = func() string {
		return first(!slices.Contains(a.forge.Labels(hubRepo, hubIssue), "reprise: waiting"), "that the label is gone", a.told(a.now()), "word of the end")
	}
	return a
}

// The issue and what was said of it are taken anew.
func askedRefresh(t *testing.T) *asked {
	a, n := completed(t, twoSteps), 0
	a.ask = func() func(...string) *hubJob {
		n++
		a.forge.ChangeIssue(hubRepo, hubIssue, func(is *githubtest.Issue) { is.Body = fmt.Sprintf("It should greet %d people.", n) })
		a.say("max", fmt.Sprintf("These are %d.", n))
		return a.says("ada", "/run --refresh=issue")
	}
	a.left = func() string {
		return cmp.Or(a.handed(), first(strings.Contains(a.kept("issue.md"), fmt.Sprintf("greet %d people", n)), "the issue as it reads now"))
	}
	return a
}

// awaits is a hub whose run waits for CI, which starts with the commit of that.
func awaits(t *testing.T) *asked {
	a := newAsked(t, twoSteps+"ci: {wait: \"1ms\", required: [\"ci.yml\"]}\n")
	a.publish(map[string]string{".github/workflows/ci.yml": "on: workflow_dispatch\njobs: {}\n"})
	a.comment("ada", "/run").end(exit.Done).wants("status", "waiting", "reason-code", "awaiting_ci")
	return a
}

// ended is the event that CI has ended on a commit.
func (a *asked) ended(commit string) func(...string) *hubJob {
	payload := a.made.RunPayload("reprise/issue-7", commit, "ci.yml", "ada")
	return func(more ...string) *hubJob {
		return a.start("workflow_run", "ada", payload, append([]string{"GITHUB_REF=refs/heads/main"}, more...)...)
	}
}

// CI fails, and the work is revised.
func askedRedCI(t *testing.T) *asked {
	a, commit, n := awaits(t), "", 0
	a.ask = func() func(...string) *hubJob {
		commit = a.tip()
		n++
		a.made.Set(commit, githubtest.Check{
			Name: "test", Workflow: "ci.yml", Conclusion: "failure", Log: "##[error]exit code 1\n",
			Notes: []githubtest.Note{{Path: "sum.go", Line: 3, Level: "failure", Message: "2 and 2 is 5"}},
		})
		return a.ended(commit)
	}
	a.left = func() string {
		run := a.now()
		return first(
			len(run.RollbackHistory) >= n, "that the work is revised",
			run.Status == metadata.Waiting && run.Stop.Code == metadata.AwaitingCI, "that the run waits for CI again: it is "+string(run.Status),
		)
	}
	a.minor = func() string {
		run := a.now()
		if len(run.RollbackHistory) == 0 {
			return ""
		}
		said := fmt.Sprintf("%+v", run.Phase("build").Checks)
		return first(strings.Contains(said, "2 and 2 is 5"), "what CI says of lines", strings.Contains(said, "exit code 1"), "the end of its log")
	}
	a.twice = func() string { return first(len(a.now().RollbackHistory) <= n, "it was revised twice") }
	return a
}

// CI is good, and the pull request gets ready.
func askedGreenCI(t *testing.T) *asked {
	a := awaits(t)
	a.ask = func() func(...string) *hubJob {
		commit := a.tip()
		a.made.Says(commit, "test", "success")
		return a.ended(commit)
	}
	a.left = a.handed
	a.minor = func() string {
		return first(
			slices.Equal(a.reviews.Asked(8), []string{"ada"}), "that ada is asked for a review",
			slices.Equal(a.reviews.Assigned(8), []string{"ada"}), "that the pull request is ada's",
		)
	}
	return a
}

// A question on the pull request of the run.
func askedOnPull(t *testing.T) *asked {
	a := completed(t, twoSteps)
	var id int64
	answers := func() (n int) {
		for _, text := range a.answersOn(8) {
			if strings.Contains(text, fmt.Sprint(id)) {
				n++
			}
		}
		return n
	}
	a.ask = func() func(...string) *hubJob {
		id = a.sayOn(8, "ada", "/status")
		return func(more ...string) *hubJob { return a.heard(id, "ada", more...) }
	}
	a.left = func() string { return first(answers() > 0, "the answer") }
	a.twice = func() string { return first(answers() < 2, "there are two answers") }
	return a
}

// A job was killed, and another one of the same run of the workflow tells of it.
func askedOfGone(t *testing.T) *asked {
	a := newAsked(t, twoSteps)
	a.dead = true
	j, _ := a.working()
	j.kill(true)
	number := 9000 + a.jobs
	a.ask = func() func(...string) *hubJob {
		a.inputs["command"], a.inputs["issue"] = setup.EndOnly, fmt.Sprint(hubIssue)
		return func(more ...string) *hubJob {
			return a.start("issue_comment", "ada", []byte("{}"), append(more, fmt.Sprintf("GITHUB_RUN_ID=%d", number), "GITHUB_RUN_ATTEMPT=1")...)
		}
	}
	a.left = func() string {
		live, stops := a.ours("progress"), a.ours("stop")
		return first(
			len(live) == 1 && strings.Contains(live[0].Body, "Interrupted"), "that the live comment says so",
			len(stops) > 0 && strings.Contains(stops[0].Body, "@ada"), "word of it",
		)
	}
	return a
}

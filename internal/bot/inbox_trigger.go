package bot

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/internal/setup"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/prompts/clean"
)

// trigger is what a workflow was started for: who asks for what on which issue.
type trigger struct {
	Event      string         // its kind and action, such as "issue_comment created"
	Repository string         // owner/name
	Number     int            // of the issue; 0: that of the run whose pull request it is
	Pull       int            // of the pull request that the comment is on; 0: it is on the issue
	By         string         // login of who asks
	Asker      github.User    // the same account
	Text       string         // as it was typed
	Requested  command.Parsed // what that asks for
	Issue      *github.Issue  // as the event has it; nil: it has to be read
	Comment    *github.Comment
	Review     *Review // of a review of a pull request; of a comment on a line, that which it belongs to
	Label      string  // the one that asked, to be taken off
	At         time.Time
	Branch     string // the default branch, if the event says so
	CI         bool   // nobody asks: CI has ended on the branch of the run, or an issue was closed
	Red        bool   // CI, which has ended, has failed
	Closed     int    // that issue; Number is to be that of the run that waits for it
	// Other is, in a job that tells of another one, what that was started for; nil: nothing that is obeyed.
	Other *trigger
}

// said is the id of the comment with the command; 0 if it came another way.
func (t trigger) said() int64 {
	if t.Comment == nil {
		return 0
	}
	return t.Comment.ID
}

// byForm reports whether it was asked for neither in a comment nor in a review,
// so that there is nothing to answer on the forge.
func (t trigger) byForm() bool { return t.Comment == nil && t.Review == nil && !t.CI }

// asksToRun reports whether somebody asks for the run to begin or to go on.
func (t trigger) asksToRun() bool { return !t.CI && t.Requested.Command.Name == "run" }

// runner is what the machine says about who started a workflow.
type runner struct {
	Event      string // GITHUB_EVENT_NAME
	Repository string
	Actor      string
	Again      string                   // who started it again; the actor if nobody did
	Ref        string                   // GITHUB_REF: what the workflow runs on
	Mask       func(text string) string // hides secrets in what people say
}

// runnerOf reads that from the environment.
func runnerOf(env environ.Env) runner {
	return runner{
		Event: env.Getenv("GITHUB_EVENT_NAME"), Repository: env.Getenv("GITHUB_REPOSITORY"),
		Actor: env.Getenv("GITHUB_ACTOR"), Again: env.Getenv("GITHUB_TRIGGERING_ACTOR"),
		Ref: env.Getenv("GITHUB_REF"), Mask: env.Finder().Mask,
	}
}

// triggerOfIssue is what a job was started for that tells people of another one, or goes on with
// what others have done: the issue that the workflow file names. Nobody asks for anything.
func triggerOfIssue(ev github.Event, in Inputs, r runner) trigger {
	n, err := strconv.Atoi(in.Issue)
	if err != nil {
		n = 0 // unreachable: the inputs were read
	}
	t := trigger{Event: r.Event, Repository: r.Repository, Number: n, CI: in.Command != setup.EndOnly}
	if in.Command == setup.EndOnly {
		in.Command = ""
		if other, no := triggerOf(ev, in, r); no == nil {
			t.Other = &other
		}
	}
	return t
}

// triggerOf says what an event asks for. A refusal says why it asks for nothing, or why it is refused. Nothing in an
// event proves what its author may do: that is looked up later.
func triggerOf(ev github.Event, in Inputs, r runner) (trigger, *command.Refusal) {
	t := trigger{Event: strings.TrimSpace(ev.Name + " " + ev.Action), Repository: ev.Repository, Branch: ev.DefaultBranch, Issue: ev.Issue}
	t.Repository = cmp.Or(t.Repository, r.Repository)
	if t.Issue != nil {
		t.Number = t.Issue.Number
	}
	if no := t.read(ev, in, r); no != nil {
		return t, no
	}
	switch {
	case r.Repository != "" && !strings.EqualFold(r.Repository, t.Repository):
		return t, command.Refuse(metadata.PermissionDenied, metadata.Because("other_repository", "repository", t.Repository, "here", r.Repository))
	case ev.Pull != nil && ev.Pull.HeadRepository == "":
		return t, command.Refuse(metadata.PermissionDenied, metadata.Because("from_nowhere"))
	case ev.Pull != nil && !strings.EqualFold(ev.Pull.HeadRepository, t.Repository):
		return t, command.Refuse(metadata.PermissionDenied, metadata.Because("from_fork", "from", ev.Pull.HeadRepository))
	case t.Review == nil && r.Ref != "" && ev.DefaultBranch != "" && r.Ref != "refs/heads/"+ev.DefaultBranch:
		// Pipelines and prompts are taken from what is checked out.
		return t, command.Refuse(metadata.ConfigInvalid, onOtherBranch(r.Ref, ev.DefaultBranch))
	case t.CI: // it asks for nothing that was not asked for before
		return t, nil
	case t.By == "":
		return t, command.Refuse(metadata.PermissionDenied, metadata.Because("no_sender"))
	case t.Label != "": // who may not put it on is told, and it is taken off
	case (t.Asker.IsBot() || ev.Sender.IsBot()) && !containsFold(in.Bots, t.By):
		return t, command.Refuse(metadata.PermissionDenied, metadata.Because("bot_not_allowed", "bot", t.By))
	}
	switch {
	case !t.byForm() && !strings.EqualFold(t.By, ev.Sender.Login):
		return t, command.Refuse(metadata.PermissionDenied, metadata.Because("other_sender", "author", t.By, "sender", ev.Sender.Login))
	case r.Actor != "" && !strings.EqualFold(t.By, r.Actor):
		return t, command.Refuse(metadata.PermissionDenied, metadata.Because("other_actor", "who", t.By, "actor", r.Actor))
	case t.Issue != nil && t.Issue.IsPull && t.Comment != nil:
		t.Pull, t.Number, t.Issue = t.Number, 0, nil
	case t.Number == 0 && t.Pull == 0:
		return t, command.Refuse(metadata.NothingDone, metadata.Because("names_no_issue"))
	case t.Issue != nil && t.Issue.IsPull:
		return t, command.Refuse(metadata.NothingDone, metadata.Because("command_on_pull", "number", t.Number))
	}
	return t, nil
}

// issueNumber sets the number of the issue from a text.
func (t *trigger) issueNumber(text string) *command.Refusal {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > 1e9 {
		return command.Refuse(metadata.NothingDone, metadata.Because("no_number", "number", clean.Truncate(text, 40)))
	}
	if n != t.Number {
		t.Number, t.Issue = n, nil
	}
	return nil
}

// onOtherBranch says that a workflow runs where it must not.
func onOtherBranch(ref, branch string) metadata.Reason {
	return metadata.Because("other_branch", "ref", ref, "branch", branch)
}

// read finds out what is asked, and by whom.
func (t *trigger) read(ev github.Event, in Inputs, r runner) *command.Refusal {
	ask := func(by github.User, text string) {
		t.By, t.Asker, t.Text, t.Requested = by.Login, by, text, command.Parse(text, true)
	}
	number, sender := in.Issue, ev.Sender
	sender.Login = cmp.Or(sender.Login, r.Actor)
	switch explicit := in.Command != "" && in.Command != setup.GateOnly; {
	case explicit: // the workflow file says what to do, and the actor answers for it
		ask(sender, in.Command)
	case ev.Name == "issue_comment":
		return t.readComment(ev, in)
	case strings.HasPrefix(ev.Name, "pull_request_review"):
		return t.readReview(ev, in, r)
	case ev.Name == "workflow_run" || ev.Name == "check_suite":
		return t.readCI(ev, in)
	case ev.Name == "status":
		return t.readStatus(ev, in)
	case ev.Name == "issues" && ev.Action == "closed" && ev.Issue != nil && !ev.Issue.IsPull:
		t.CI, t.Closed, t.Number, t.Issue, t.Requested = true, ev.Issue.Number, 0, nil, command.Parse("run", true)
		return nil
	case ev.Name == "issues":
		if ev.Action != "labeled" || in.Label == "" || !strings.EqualFold(ev.Label, in.Label) {
			return command.Refuse(metadata.NothingDone, metadata.Because("other_label", "label", in.Label))
		}
		t.Label, t.At = ev.Label, ev.Issue.UpdatedAt
		ask(ev.Sender, "run")
		return nil
	case ev.Name == "workflow_dispatch" || ev.Name == "repository_dispatch":
		if ev.Name == "repository_dispatch" && ev.Action != dispatched {
			return command.Refuse(metadata.NothingDone, metadata.Because("other_dispatch", "type", ev.Action))
		}
		if ev.Name == "repository_dispatch" && ev.Inputs[awaited] != "" {
			t.CI, t.Requested = true, command.Parse("run", true)
			return t.issueNumber(ev.Inputs["issue"])
		}
		ask(ev.Sender, cmp.Or(strings.TrimSpace(ev.Inputs["command"]), "run"))
		number = cmp.Or(number, strings.TrimPrefix(strings.TrimSpace(ev.Inputs["issue"]), "#"))
	case in.Issue != "":
		ask(sender, "run")
	default:
		return command.Refuse(metadata.NothingDone, metadata.Because("other_event", "event", t.Event))
	}
	if number != "" {
		return t.issueNumber(number)
	}
	return nil
}

// Dispatched is the type of repository_dispatch that starts a job, and Awaited what its payload has besides the issue
// where its run has waited for another one: then it asks for nothing that was not asked for before, whoever sends it.
const (
	dispatched = "reprise"
	awaited    = "awaited"
)

// readCI reads on the branch of which run CI has ended. A fork may have a branch of the same name.
func (t *trigger) readCI(ev github.Event, in Inputs) *command.Refusal {
	var ran struct {
		Branch     string `json:"head_branch"`
		Conclusion string `json:"conclusion"`
		From       *struct {
			Name string `json:"full_name"`
		} `json:"head_repository"`
	}
	err := json.Unmarshal(ev.Ran, &ran)
	if err != nil || ev.Action != "completed" || ran.From != nil && !strings.EqualFold(ran.From.Name, t.Repository) || !t.goOn(ran.Branch, in) {
		return command.Refuse(metadata.NothingDone, metadata.Because("other_ci", "branch", clean.Truncate(ran.Branch, 100)))
	}
	t.Red = slices.Contains([]string{"failure", "timed_out", "startup_failure"}, ran.Conclusion) // and not cancelled, such as for a newer one
	return nil
}

// readStatus reads on the branch of which run a program has given the newest commit a status that says how something
// has ended. What reprise says of a commit itself, with the token of an app, is none.
func (t *trigger) readStatus(ev github.Event, in Inputs) *command.Refusal {
	var given struct {
		Commit   string `json:"sha"`
		State    string `json:"state"`
		Context  string `json:"context"`
		Branches []struct {
			Name   string `json:"name"`
			Commit struct {
				SHA string `json:"sha"`
			} `json:"commit"`
		} `json:"branches"`
	}
	err := json.Unmarshal(ev.Ran, &given)
	if err != nil || given.State == "" || given.State == "pending" || given.Context == github.OwnStatus {
		return command.Refuse(metadata.NothingDone, metadata.Because("other_status", "status", clean.Truncate(given.Context, 100)))
	}
	of := ""
	for _, b := range given.Branches {
		if b.Commit.SHA == given.Commit && t.goOn(b.Name, in) {
			t.Red = given.State == "failure" || given.State == "error"
			return nil
		}
		of = b.Name
	}
	return command.Refuse(metadata.NothingDone, metadata.Because("other_ci", "branch", clean.Truncate(of, 100)))
}

// goOn has a run go on if a branch is that of one.
func (t *trigger) goOn(branch string, in Inputs) bool {
	id, ok := strings.CutPrefix(branch, cmp.Or(in.Prefix, environ.BranchPrefix))
	n, err := strconv.Atoi(id)
	if !ok || err != nil || n < 1 || strconv.Itoa(n) != id { // as no run spells it
		return false
	}
	t.CI, t.Number, t.Requested = true, n, command.Parse("run", true)
	return true
}

// readComment reads a command that somebody wrote.
func (t *trigger) readComment(ev github.Event, in Inputs) *command.Refusal {
	if ev.Comment == nil {
		return command.Refuse(metadata.NothingDone, metadata.Because("no_comment"))
	}
	t.Comment, t.At, t.Asker, t.By, t.Text = ev.Comment, ev.Comment.CreatedAt, ev.Comment.Author, ev.Comment.Author.Login, ev.Comment.Body
	t.Requested = command.ParseAddressed(t.Text, in.Addressed)
	no := t.idle()
	if no == nil && ev.Action != "created" {
		no = command.Refuse(metadata.NothingDone, metadata.Because("other_comment", "action", ev.Action))
	}
	return no
}

// idle refuses a text that asks for nothing, as every comment of our own does: it begins with a marker.
func (t *trigger) idle() *command.Refusal {
	if t.Requested.Outcome == command.Ignored {
		return command.Refuse(metadata.NothingDone, metadata.Because("no_command"))
	}
	return nil
}

// readReview reads what a review asks for. For such an event GitHub runs the workflow file of the pull request's
// branch, so it counts only on a branch of a run, which is checked later.
func (t *trigger) readReview(ev github.Event, in Inputs, r runner) *command.Refusal {
	v, err := ReviewOf(ev)
	if err != nil {
		return command.Refuse(metadata.NothingDone, metadata.Said(err.Error()))
	}
	v.Body = r.Mask(v.Body)
	t.Review, t.Pull, t.By, t.Asker, t.At = &v, ev.Pull.Number, v.Author.Login, v.Author, v.At
	t.Requested = v.Asks(r.Mask, in.Addressed)
	t.Text = "/" + t.Requested.Command.Name
	no := t.idle()
	if no == nil && (ev.Name == "pull_request_review" && ev.Action != "submitted" || ev.Name == "pull_request_review_comment" && ev.Action != "created") {
		no = command.Refuse(metadata.NothingDone, metadata.Because("other_event", "event", t.Event))
	}
	return no
}

// ourMarker begins the first line of every comment that reprise writes.
const ourMarker = "<!-- reprise:"

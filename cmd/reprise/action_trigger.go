package main

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/github"
	"github.com/reprise-ci/reprise/metadata"
)

// trigger is what a workflow was started for: who asks for what on which
// issue.
type trigger struct {
	event      string // its kind and action, such as "issue_comment created"
	repository string // owner/name
	number     int
	by         string        // login of who asks
	text       string        // as it was typed
	asked      slashParsed   // what that means
	issue      *github.Issue // as the event has it; nil: it has to be read
	comment    *github.Comment
	label      string // the one that asked, to be taken off
	at         time.Time
	branch     string // the default branch, if the event says so
}

// said is the comment in which it was asked for; 0 if it was another way.
func (t trigger) said() int64 {
	if t.comment == nil {
		return 0
	}
	return t.comment.ID
}

// runner is what the machine says about who started a workflow.
type runner struct {
	event      string // GITHUB_EVENT_NAME
	repository string
	actor      string
	again      string // who started it again; the actor if nobody did
	ref        string // GITHUB_REF: what the workflow runs on
}

func runnerOf(env environment) runner {
	return runner{
		event: env.getenv("GITHUB_EVENT_NAME"), repository: env.getenv("GITHUB_REPOSITORY"),
		actor: env.getenv("GITHUB_ACTOR"), again: env.getenv("GITHUB_TRIGGERING_ACTOR"),
		ref: env.getenv("GITHUB_REF"),
	}
}

// triggerOf says what an event asks for. A denial says why it asks for
// nothing, or why it is not listened to. Nothing in an event proves who may
// ask: that is looked up later.
func triggerOf(ev github.Event, in inputs, r runner) (trigger, *denial) {
	t := trigger{event: strings.TrimSpace(ev.Name + " " + ev.Action), repository: ev.Repository, branch: ev.DefaultBranch, issue: ev.Issue}
	if t.repository == "" {
		t.repository = r.repository
	}
	deny := func(code metadata.Code, why metadata.Reason) (trigger, *denial) {
		return t, &denial{Code: code, By: t.by, What: t.text, Why: why}
	}
	if t.issue != nil {
		t.number = t.issue.Number
	}
	if no := t.read(ev, in, r); no != nil {
		return t, no
	}
	switch {
	case r.repository != "" && !strings.EqualFold(r.repository, t.repository):
		return deny(metadata.ConfusedDeputy, metadata.Because("other_repository", "repository", t.repository, "here", r.repository))
	case ev.Head != "" && !strings.EqualFold(ev.Head, t.repository):
		return deny(metadata.ForkDenied, metadata.Because("from_fork", "from", ev.Head))
	case strings.HasPrefix(ev.Name, "pull_request") && ev.Head == "":
		return deny(metadata.ForkDenied, metadata.Because("from_nowhere"))
	case r.ref != "" && ev.DefaultBranch != "" && r.ref != "refs/heads/"+ev.DefaultBranch:
		// Pipelines and prompts are taken from what is checked out.
		return deny(metadata.ConfigInvalid, onOtherBranch(r.ref, ev.DefaultBranch))
	case t.by == "":
		return deny(metadata.ConfusedDeputy, metadata.Because("no_sender"))
	case strings.HasSuffix(t.by, "[bot]") || ev.Sender.Type == "Bot" || t.comment != nil && t.comment.Author.Type == "Bot":
		if !slices.ContainsFunc(in.bots, func(b string) bool { return strings.EqualFold(b, t.by) }) {
			return deny(metadata.BotDenied, metadata.Because("bot_not_allowed", "bot", t.by))
		}
	}
	switch {
	case t.comment != nil && !strings.EqualFold(t.by, ev.Sender.Login):
		return deny(metadata.ConfusedDeputy, metadata.Because("other_sender", "author", t.by, "sender", ev.Sender.Login))
	case r.actor != "" && !strings.EqualFold(t.by, r.actor):
		return deny(metadata.ConfusedDeputy, metadata.Because("other_actor", "who", t.by, "actor", r.actor))
	case t.number == 0:
		return deny(metadata.NoTrigger, metadata.Because("names_no_issue"))
	case t.issue != nil && t.issue.IsPull:
		return deny(metadata.NoTrigger, metadata.Because("command_on_pull", "number", t.number))
	case t.comment != nil && t.comment.Edited():
		return deny(metadata.EditedComment, metadata.Because("comment_edited"))
	}
	return t, nil
}

// onOtherBranch says that a workflow runs where it must not.
func onOtherBranch(ref, branch string) metadata.Reason {
	return metadata.Because("other_branch", "ref", ref, "branch", branch)
}

// read finds out what is asked, and by whom.
func (t *trigger) read(ev github.Event, in inputs, r runner) *denial {
	deny := func(code metadata.Code, why metadata.Reason) *denial {
		return &denial{Code: code, By: t.by, What: t.text, Why: why}
	}
	ask := func(by, text string, bare bool) { t.by, t.text, t.asked = by, text, parseSlash(text, bare) }
	number := in.issue
	switch explicit := in.command != "" && in.command != gateOnly; {
	case explicit: // the workflow file says what to do, and the actor answers for it
		by := ev.Sender.Login
		if by == "" {
			by = r.actor
		}
		ask(by, in.command, true)
	case ev.Name == "issue_comment":
		return t.readComment(ev, ask)
	case ev.Name == "issues":
		if ev.Action != "labeled" || in.label == "" || !strings.EqualFold(ev.Label, in.label) {
			return deny(metadata.NoTrigger, metadata.Because("other_label", "label", in.label))
		}
		t.label, t.at = ev.Label, ev.Issue.UpdatedAt
		ask(ev.Sender.Login, "run", true)
		return nil
	case ev.Name == "workflow_dispatch" || ev.Name == "repository_dispatch":
		if ev.Name == "repository_dispatch" && ev.Action != "reprise" {
			return deny(metadata.NoTrigger, metadata.Because("other_dispatch", "type", ev.Action))
		}
		text := strings.TrimSpace(ev.Inputs["command"])
		if text == "" {
			text = "run"
		}
		ask(ev.Sender.Login, text, true)
		if number == "" {
			number = strings.TrimPrefix(strings.TrimSpace(ev.Inputs["issue"]), "#")
		}
	case in.issue != "":
		by := ev.Sender.Login
		if by == "" {
			by = r.actor
		}
		ask(by, "run", true)
	default:
		return deny(metadata.NoTrigger, metadata.Because("other_event", "event", t.event))
	}
	if number != "" {
		n, err := strconv.Atoi(number)
		if err != nil || n < 1 || n > 1e9 {
			return deny(metadata.NoTrigger, metadata.Because("no_number", "number", brief(number, 40)))
		}
		if n != t.number {
			t.number, t.issue = n, nil
		}
	}
	return nil
}

// readComment reads a command that somebody wrote.
func (t *trigger) readComment(ev github.Event, ask func(by, text string, bare bool)) *denial {
	if ev.Comment == nil {
		return &denial{Code: metadata.NoTrigger, Why: metadata.Because("no_comment")}
	}
	ask(ev.Comment.Author.Login, ev.Comment.Body, false)
	t.comment, t.at = ev.Comment, ev.Comment.CreatedAt
	no := &denial{By: t.by}
	switch {
	case strings.Contains(ev.Comment.Body, ourMarker):
		no.Code, no.Why = metadata.NoTrigger, metadata.Because("own_comment")
	case t.asked.Outcome == slashIgnored:
		no.Code, no.Why = metadata.NotACommand, metadata.Because("no_command")
	case ev.Action == "edited":
		no.Code, no.Why, no.What = metadata.EditedComment, metadata.Because("comment_edited"), t.text
	case ev.Action != "created":
		no.Code, no.Why = metadata.NoTrigger, metadata.Because("other_comment", "action", ev.Action)
	default:
		return nil
	}
	return no
}

// ourMarker begins the first line of every comment that reprise writes.
const ourMarker = "<!-- reprise:"

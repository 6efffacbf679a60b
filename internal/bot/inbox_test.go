package bot

import (
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/command"
	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/metadata"
)

// However often the inbox is looked at, each text is read once: reading takes
// longer than all the rest, and anybody may write a hundred of the longest.
func TestInboxReadsATextOnce(t *testing.T) {
	in := newInbox(inboxSource{})
	in.list = []github.Comment{{ID: 1, Body: "Hello"}, {ID: 2, Body: "/pause"}}
	names := func() string {
		var all []string
		for _, c := range in.pending(metadata.Run{}) {
			all = append(all, c.Parsed.Command.Name)
		}
		return strings.Join(all, ", ")
	}
	if got := names(); got != "pause" {
		t.Fatalf("waiting are %q", got)
	}
	in.heard["comment Hello"] = command.Parsed{Outcome: command.Understood, Command: command.Command{Name: "seen before"}}
	if got := names(); got != "seen before, pause" {
		t.Errorf("then there are %q: what was read is read again", got)
	}
	in.list[0].Body = "/retry"
	if got := names(); got != "retry, pause" {
		t.Errorf("after the text has changed there are %q", got)
	}
}

// Where other programs have commands of the same names, those count that are called by
// the name of reprise.
func TestInboxOfAddressedCommands(t *testing.T) {
	var from inboxSource
	from.In.Addressed = true
	in := newInbox(from)
	for i, body := range []string{"/run", "/reprise pause", "`/Reprise retry`", "reprise run", "/reprised run", "  /reprise\tcancel it\nall", "/reprise"} {
		in.list = append(in.list, github.Comment{ID: int64(i + 1), Body: body})
	}
	in.given = []Review{{ID: 9, State: ReviewCommented, Body: "/run"}, {ID: 10, State: ReviewCommented, Body: "/reprise status"}}
	var all []string
	for _, c := range in.pending(metadata.Run{}) {
		all = append(all, c.Parsed.Command.Name)
	}
	if got := strings.Join(all, ", "); got != "status, pause, retry, cancel, help" && got != "pause, retry, cancel, help, status" {
		t.Errorf("waiting are %q", got)
	}
}

package agents

import (
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases/engine"
)

// rollout is what the program's own record of a session knows.
type rollout struct {
	usage CodexUsage
	model string
	found bool
}

// maxRollout is more than the record of any session has, in bytes. Of more the
// beginning counts.
const maxRollout = 1 << 30

// readRollout reads the program's record of a session. It alone names the
// model, and the usage of a call that did not come to its end.
func readRollout(home, session string) (r rollout) {
	if session == "" || strings.ContainsAny(session, `*?[\/`) {
		return r
	}
	root, err := os.OpenRoot(home)
	if err != nil {
		return r
	}
	defer func() { _ = root.Close() }() // opened for reading
	last := ""
	_ = folders.Walk(root, "sessions", func(name string, _ fs.DirEntry, err error) error { // the visits fail nowhere
		if ok, _ := path.Match("sessions/*/*/*/rollout-*"+session+".jsonl", name); ok && err == nil {
			last = name
		}
		return nil
	})
	f, _, err := folders.Open(root, last) // the program may have put anything there
	if err != nil {
		return r
	}
	defer func() { _ = f.Close() }() // opened for reading
	r.found = true
	process.EachLine(io.LimitReader(f, maxRollout), func(line []byte) {
		var e struct {
			Type    string
			Payload struct {
				Type, Model string
				Info        struct {
					Total CodexUsage `json:"total_token_usage"`
				}
			}
		}
		switch decode(line, &e); {
		case e.Type == "turn_context" && e.Payload.Model != "":
			r.model = wordFrom(e.Payload.Model)
		case e.Type == "event_msg" && e.Payload.Type == "token_count" && e.Payload.Info.Total != CodexUsage{}:
			total := e.Payload.Info.Total
			r.usage = CodexUsage{tokens(total.Input), tokens(total.Cached), tokens(total.Output)}
		}
	})
	return r
}

// addUsage fills in what the call used and what that costs.
func (s *codexStream) addUsage(r *engine.Result) {
	if s.thread == "" {
		return // nothing was asked of the service
	}
	record := readRollout(s.home, s.thread)
	if record.model != "" {
		r.Model = record.model
	}
	now := record.usage
	if s.total != nil {
		now = *s.total
	}
	if s.task.Resume && s.before == (CodexUsage{}) && now != (CodexUsage{}) {
		r.Warnings = append(r.Warnings, "codex counts the usage of a whole session, and its record of this one was not found: what earlier calls used may be counted twice")
	}
	now.Input, now.Cached, now.Output = tokens(now.Input), tokens(now.Cached), tokens(now.Output)
	used := CodexUsage{now.Input - s.before.Input, now.Cached - s.before.Cached, now.Output - s.before.Output}
	u := metadata.Usage{InputTokens: max(0, used.Input-used.Cached), CachedTokens: max(0, used.Cached), OutputTokens: max(0, used.Output)}
	if s.done {
		u.Turns = 1
	}
	var warning []string
	r.Usage, warning = s.cli.priced(r.Model, u)
	r.Warnings = append(r.Warnings, warning...)
}

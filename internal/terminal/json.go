package terminal

import (
	"encoding/json"
	"io"
	"time"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/internal/view"
	"github.com/reprise-ci/reprise/metadata"
)

// unfinishedLog is the last line of the JSON log: where a process has left the run. It is
// there also where nothing was to do.
type unfinishedLog struct {
	Time   time.Time       `json:"time"`
	Event  string          `json:"event"` // left
	Issue  string          `json:"issue"`
	Phase  string          `json:"phase,omitempty"`
	Why    string          `json:"why,omitempty"`
	Status metadata.Status `json:"status"`
	Code   metadata.Code   `json:"reason_code,omitempty"`
	Branch string          `json:"branch,omitempty"`
	Head   string          `json:"head_sha,omitempty"`
	Next   []string        `json:"next,omitempty"` // commands that take the run further
}

// LogSummary ends the JSON log with where a run is, and its result. Of a rehearsal
// nothing is left that could be gone on with.
func LogSummary(w io.Writer, at time.Time, is metadata.Status, s view.Summary, rehearsed bool) {
	l := unfinishedLog{Time: at.UTC(), Event: "left", Issue: s.Issue, Phase: s.Phase, Why: s.Error, Status: is, Code: s.Code}
	if !rehearsed {
		l.Branch, l.Head, l.Next = s.Branch, s.Head, s.Next
	}
	LogJSON(w, l)
}

// LogJSON prints one line of the JSON log. What cannot be told or written never
// stops the work.
func LogJSON(w io.Writer, v any) {
	if line, err := json.Marshal(v); err == nil {
		_, _ = w.Write(append(text.EscapeJSON(line), '\n'))
	}
}

package checks

import (
	"context"
	"fmt"
	"net/http"

	"github.com/reprise-ci/reprise/internal/github"
)

// Annotation is what a check run says about a line.
type Annotation struct {
	Path    string
	Line    int
	Level   string // notice, warning or failure
	Title   string
	Message string
}

// Annotations reads what a check run says about lines: the first hundred.
func (r *Repository) Annotations(ctx context.Context, c Check) ([]Annotation, error) {
	var wire []struct {
		Path    string `json:"path"`
		Line    int    `json:"start_line"`
		Level   string `json:"annotation_level"`
		Title   string `json:"title"`
		Message string `json:"message"`
	}
	_, err := r.GitHub.Ask(ctx, r.Owner, r.Name, github.Request{
		What: fmt.Sprintf("read what check run %d says about lines", c.Run), Needs: "checks: read", Method: http.MethodGet,
		Path: fmt.Sprintf("/check-runs/%d/annotations?per_page=100", c.Run),
	}, &wire)
	var out []Annotation
	for _, w := range wire {
		out = append(out, Annotation{w.Path, w.Line, w.Level, w.Title, w.Message})
	}
	return out, err
}

// Log reads the end of a job's log: at most so many bytes.
func (r *Repository) Log(ctx context.Context, c Check, most int) ([]byte, error) {
	return r.GitHub.Tail(ctx, r.Owner, r.Name, github.Request{
		What: fmt.Sprintf("read the log of job %d of %s/%s", c.Run, r.Owner, r.Name), Needs: "actions: read", Method: http.MethodGet,
		Path: fmt.Sprintf("/actions/jobs/%d/logs", c.Run),
	}, most)
}

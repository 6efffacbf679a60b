package bot

import (
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/metadata"
)

// The comment that this job is for counts although a newer one was taken, once, and if the
// run was there when it was given.
func TestPassedOver(t *testing.T) {
	began := time.Now()
	for _, tt := range []struct {
		name string
		at   time.Time
		run  metadata.Run
		want int
	}{
		{"never decided upon", began.Add(time.Minute), metadata.Run{Cursor: "9"}, 1},
		{"decided upon", began.Add(time.Minute), metadata.Run{Cursor: "9", Decisions: []metadata.Decision{{Comment: 5}}}, 0},
		{"of an earlier run", began.Add(-time.Minute), metadata.Run{Cursor: "9"}, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			tt.run.CreatedAt = began
			c := github.Comment{ID: 5, Body: "/pause", Author: github.User{Login: "pat"}, CreatedAt: tt.at}
			mine := newInbox(inboxSource{Env: environ.Env{Now: time.Now}, Trigger: trigger{Comment: &c}})
			mine.list = []github.Comment{c}
			if got := len(mine.pending(tt.run)); got != tt.want {
				t.Errorf("%d commands wait, want %d", got, tt.want)
			}
			other := newInbox(inboxSource{Env: environ.Env{Now: time.Now}, Trigger: trigger{Comment: &github.Comment{ID: 9}}})
			other.list = []github.Comment{c, {ID: 9}}
			if got := len(other.pending(tt.run)); got != 0 {
				t.Errorf("a job for another comment takes %d", got)
			}
		})
	}
}

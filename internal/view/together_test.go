package view

import (
	"testing"
	"time"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

func TestTogether(t *testing.T) {
	noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
	for _, tt := range []struct {
		begins  time.Duration // the second of two calls of ten minutes
		en, ja  string
		program int64
	}{
		{0, "took 10 min 0 s; one after another it would have taken 20 min 0 s", "所要時間 10分0秒 (1 つずつなら 20分0秒)", 600_000},
		{10*time.Minute - time.Second/2, "", "", 1_199_500},
		{10 * time.Minute, "", "", 0},
	} {
		var run metadata.Run
		for _, begin := range []time.Duration{0, tt.begins} {
			end := noon.Add(begin + 10*time.Minute)
			run.Attempts = append(run.Attempts, metadata.Attempt{StartedAt: noon.Add(begin), EndedAt: &end})
		}
		for language, want := range map[string]string{"en": tt.en, "ja": tt.ja} {
			if got := Together(prompts.Words(language), run); got != want {
				t.Errorf("after %v in %s: %q, want %q", tt.begins, language, got, want)
			}
		}
		if got := Result(phases.On(&pipelines.Pipeline{}, run)).Totals.TookMS; got != tt.program {
			t.Errorf("after %v programs are told %d ms, want %d", tt.begins, got, tt.program)
		}
	}
}

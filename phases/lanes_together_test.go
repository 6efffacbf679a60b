package phases

import (
	"testing"
	"time"

	"github.com/reprise-ci/reprise/metadata"
)

func TestTogether(t *testing.T) {
	for name, tt := range map[string]struct {
		spans       [][2]int // minutes at which attempts began and ended; one that ends at 0 is at work
		took, alone int
	}{
		"nothing":            {},
		"one after another":  {spans: [][2]int{{1, 3}, {3, 5}, {9, 10}}},
		"some beside others": {spans: [][2]int{{1, 3}, {3, 13}, {4, 9}, {5, 6}, {20, 22}}, took: 14, alone: 20},
		"in another order":   {spans: [][2]int{{20, 22}, {5, 6}, {4, 9}, {3, 13}, {1, 3}}, took: 14, alone: 20},
		"one at work":        {spans: [][2]int{{1, 0}, {2, 4}}},
		"a clock set back":   {spans: [][2]int{{5, 2}, {2, 4}, {3, 5}}, took: 3, alone: 4},
	} {
		t.Run(name, func(t *testing.T) {
			noon := time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)
			var run metadata.Run
			for _, s := range tt.spans {
				a := metadata.Attempt{StartedAt: noon.Add(time.Duration(s[0]) * time.Minute)}
				if s[1] > 0 {
					end := noon.Add(time.Duration(s[1]) * time.Minute)
					a.EndedAt = &end
				}
				run.Attempts = append(run.Attempts, a)
			}
			took, alone := TimeTogether(run)
			if took != time.Duration(tt.took)*time.Minute || alone != time.Duration(tt.alone)*time.Minute {
				t.Errorf("it took %v, one after another %v; want %dm and %dm", took, alone, tt.took, tt.alone)
			}
		})
	}
}

package phases

import (
	"encoding/json"
	"slices"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

func TestTouches(t *testing.T) {
	run := metadata.Run{
		Tasks: []metadata.Task{{Files: []string{"b.go", "a.go"}}},
		Phases: metadata.Phases{
			{Report: json.RawMessage(`{"files": ["a.go", "c.go"]}`)}, {Report: json.RawMessage(`{"files": 3}`)}, {Report: json.RawMessage(`{"risk": "low"}`)}, {},
		},
	}
	if got, want := PlannedFiles(run), []string{"a.go", "b.go", "c.go"}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestPlans(t *testing.T) {
	plan := &pipelines.Pipeline{Phases: []pipelines.Phase{{Name: "a", Access: pipelines.AccessArtifacts}, {Name: "b", Access: pipelines.AccessTree}, {Name: "c", Access: pipelines.AccessArtifacts}}}
	for phase, want := range map[string]bool{"a": true, "b": false, "c": false, "spare": false} {
		testenv.Is(t, phase+":", PlansFiles(plan, phase), want)
	}
}

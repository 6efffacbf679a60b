package source

import (
	"testing"

	"github.com/reprise-ci/reprise/pipelines"
)

func TestAccessAtMost(t *testing.T) {
	for _, tt := range []struct{ granted, limit, want pipelines.Access }{
		{pipelines.AccessTree, "", pipelines.AccessTree},
		{pipelines.AccessTree, pipelines.AccessTree, pipelines.AccessTree},
		{pipelines.AccessTree, pipelines.AccessArtifacts, pipelines.AccessArtifacts},
		{pipelines.AccessArtifacts, pipelines.AccessRead, pipelines.AccessRead},
		{pipelines.AccessRead, pipelines.AccessNone, pipelines.AccessNone},
		{pipelines.AccessRead, pipelines.AccessTree, pipelines.AccessRead},
		{pipelines.AccessNone, pipelines.AccessRead, pipelines.AccessNone},
		{pipelines.AccessTree, pipelines.AccessRun, pipelines.AccessRun},
		{pipelines.AccessRun, pipelines.AccessTree, pipelines.AccessRun},
		{pipelines.AccessRun, pipelines.AccessRead, pipelines.AccessRead},
		{pipelines.AccessRun, pipelines.AccessArtifacts, pipelines.AccessRead},
		{pipelines.AccessArtifacts, pipelines.AccessRun, pipelines.AccessRead},
	} {
		if got := tt.granted.AtMost(tt.limit); got != tt.want {
			t.Errorf("%q, at most %q: %q, want %q", tt.granted, tt.limit, got, tt.want)
		}
	}
}

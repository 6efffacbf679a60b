package pipelines

import "testing"

func TestAccessAtMost(t *testing.T) {
	for _, tt := range []struct{ granted, limit, want Access }{
		{AccessTree, "", AccessTree},
		{AccessTree, AccessTree, AccessTree},
		{AccessTree, AccessArtifacts, AccessArtifacts},
		{AccessArtifacts, AccessRead, AccessRead},
		{AccessRead, AccessNone, AccessNone},
		{AccessRead, AccessTree, AccessRead},
		{AccessNone, AccessRead, AccessNone},
		{AccessTree, AccessRun, AccessRun},
		{AccessRun, AccessTree, AccessRun},
		{AccessRun, AccessRead, AccessRead},
		{AccessRun, AccessArtifacts, AccessRead},
		{AccessArtifacts, AccessRun, AccessRead},
	} {
		if got := tt.granted.AtMost(tt.limit); got != tt.want {
			t.Errorf("%q, at most %q: %q, want %q", tt.granted, tt.limit, got, tt.want)
		}
	}
}

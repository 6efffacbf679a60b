package pipelines

import (
	"strings"
	"testing"
)

func TestNeeds(t *testing.T) {
	needs := map[string][]string{"b": {"a"}, "c": {"b", "a"}, "d": {"b", "c"}, "e": {"x"}}
	for _, tt := range []struct{ phase, keep, want string }{
		{"d", "a b c d", "b c"},
		{"d", "a d", "a"},
		{"d", "a b d", "b a"},
		{"a", "a", ""},
		{"d", "d", ""},
	} {
		got := needsAmong(tt.phase, strings.Fields(tt.keep), func(phase string) []string { return needs[phase] })
		if strings.Join(got, " ") != tt.want {
			t.Errorf("of %s, with %s kept: %q, want %q", tt.phase, tt.keep, got, tt.want)
		}
	}
}

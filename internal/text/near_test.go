package text

import "testing"

func TestEdits(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"run", "run", 0}, {"runn", "run", 1}, {"rnu", "run", 1}, {"rum", "run", 1}, {"statsu", "status", 1}, {"abc", "xyz", 3}, {"a", "abcd", 3}} {
		if got := Edits(tt.a, tt.b); got != tt.want {
			t.Errorf("%q and %q: %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

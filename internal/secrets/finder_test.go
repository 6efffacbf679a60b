package secrets

import "testing"

// A value that is learned later is found from then on.
func TestLearn(t *testing.T) {
	f := New(Secret{Name: "FIRST_KEY", Value: "first-value-0123"})
	text := "first-value-0123 second-value-0123"
	if got := f.MaskKnown(text); got != "[FIRST_KEY] second-value-0123" {
		t.Errorf("masked %q", got)
	}
	for range 2 {
		f.Learn(Secret{Name: "a login of codex", Value: "second-value-0123"}, Secret{Name: "other", Value: "first-value-0123"})
		if got := f.MaskKnown(text); got != "[FIRST_KEY] [a login of codex]" {
			t.Errorf("masked %q", got)
		}
	}
}

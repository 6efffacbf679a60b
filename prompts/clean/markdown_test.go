package clean

import (
	"testing"
	"unicode/utf16"
)

func TestUnits(t *testing.T) {
	for _, s := range []string{"", "abc", "日本語", "😀", "e\u0301", "\xff"} {
		if got, want := Units(s), len(utf16.Encode([]rune(s))); got != want {
			t.Errorf("units(%q) = %d, want %d", s, got, want)
		}
	}
}

func TestFitting(t *testing.T) {
	for _, tt := range []struct {
		name   string
		blocks []string
		room   int
		want   string
		whole  bool
	}{
		{"all", []string{"one", "", "two"}, 10, "one\n\ntwo", true},
		{"not the long one", []string{"one", "long", "two"}, 10, "one\n\ntwo", false},
		{"surrogates count twice", []string{"😀😀"}, 5, "", false},
		{"nothing", nil, 0, "", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got, whole := Fit(tt.blocks, tt.room); got != tt.want || whole != tt.whole {
				t.Errorf("got %q, %v, want %q, %v", got, whole, tt.want, tt.whole)
			}
		})
	}
}

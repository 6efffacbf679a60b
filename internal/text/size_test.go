package text

import (
	"testing"
	"time"
)

func TestSize(t *testing.T) {
	for text, want := range map[string]Size{"4MB": 4_000_000, "500kB": 500_000, "1B": 1, "4GB": 4_000_000_000, "1500MB": 1_500_000_000, "1500kB": 1_500_000, "0B": 0} {
		var s Size
		if err := s.UnmarshalText([]byte(text)); err != nil || s != want {
			t.Errorf("%s: %d, %v", text, s, err)
		}
		if got := want.String(); got != text {
			t.Errorf("%d is written as %s, want %s", want, got, text)
		}
	}
	for _, text := range []string{"", "4", "MB", "4 MB", "-4MB", "4mb", "1.5MB", "4TB", "99999999999MB"} {
		var s Size
		if err := s.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q was read as %d", text, s)
		}
	}
}

func TestDays(t *testing.T) {
	var d Days
	if err := d.UnmarshalText([]byte("14d")); err != nil || d != 14 || d.Duration() != 14*24*time.Hour {
		t.Errorf("14d: %d, %v", d, err)
	}
	if text, err := d.MarshalText(); err != nil || string(text) != "14d" {
		t.Errorf("14 days are written as %s, %v", text, err)
	}
	for _, text := range []string{"", "14", "d", "-1d", "14h", "1.5d"} {
		if err := d.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q was read as %d", text, d)
		}
	}
}

package main

import (
	"testing"
	"time"
)

func TestUntilTime(t *testing.T) {
	now := time.Date(2026, 3, 28, 22, 30, 0, 0, time.Local)
	for _, tt := range []struct {
		said string
		want time.Duration // from now; 0: it is refused, or there is no end
	}{
		{"", 0},
		{"22:31", time.Minute},
		{"22:30", 24 * time.Hour},
		{"07:00", 8*time.Hour + 30*time.Minute},
		{"7:00", 8*time.Hour + 30*time.Minute},
		{"24:00", 0},
		{"noon", 0},
		{"2020-01-31 07:00", 0},
	} {
		got, err := untilTime(tt.said, now)
		if tt.want == 0 {
			if !got.IsZero() || (err == nil) != (tt.said == "") {
				t.Errorf("%q gives %v, %v", tt.said, got, err)
			}
			continue
		}
		want := now.Add(tt.want)
		want = time.Date(want.Year(), want.Month(), want.Day(), want.Hour(), want.Minute(), 0, 0, time.Local) // clocks may change in that night
		if err != nil || got.Sub(want).Abs() > time.Hour || got.Minute() != want.Minute() {
			t.Errorf("%q gives %v, %v, want %v", tt.said, got, err, want)
		}
	}
}

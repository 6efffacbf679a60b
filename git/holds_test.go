package git

import (
	"context"
	"errors"
	"testing"
)

func TestHolds(t *testing.T) {
	r := openRun(t, newUser(t, map[string]string{"a/data.txt": "one\n-e key.[0-9]+ two\n"}))
	for text, want := range map[string]bool{"key.[0-9]+": true, "-e key": true, "keyx": false, "key": true, "three": false, "one\x01": false} {
		if got, err := r.Holds(t.Context(), text); got != want || err != nil {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "a\nb", "a\x00b"} {
		if _, err := r.Holds(t.Context(), text); err == nil {
			t.Errorf("%q is one line?", text)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := r.Holds(ctx, "one"); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

package git

import (
	"context"
	"errors"
	"testing"
)

func TestHolds(t *testing.T) {
	r := openRun(t, newUser(t, map[string]string{
		"a/data.txt": "one\n-e key.[0-9]+ two\n\n", "unix.txt": "xfirst\n\nsecond\nthird\n", "other way.txt": "third\nsecond\nfirst\n", "dos.txt": "four\r\nfive\r\n",
	}))
	for text, want := range map[string]bool{
		"key.[0-9]+": true, "-e key": true, "keyx": false, "key": true, "thirty": false, "one\x01": false,
		"first\n\nsecond\nth": true, "first\r\n\r\nsecond": true, "first\nthird": false, "second\nfirst": true, "four\nfive\n": true, "one\nfirst": false,
	} {
		if got, err := r.Holds(t.Context(), text); got != want || err != nil {
			t.Errorf("%q: %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "\n", "a\x00b"} {
		if _, err := r.Holds(t.Context(), text); err == nil {
			t.Errorf("%q can be looked for?", text)
		}
	}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if _, err := r.Holds(ctx, "one"); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}

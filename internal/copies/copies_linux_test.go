package copies

import (
	"syscall"
	"testing"
)

// A file of a 64 GB with two bytes in it does not take 64 GB.
func TestHoles(t *testing.T) {
	src, dst := roots(t)
	f, err := src.Create("a")
	do(t, err)
	const whole = 1 << 36
	_, err = f.WriteAt([]byte("x"), 1<<30)
	do(t, err)
	_, err = f.WriteAt([]byte("y"), 1<<35)
	do(t, err)
	do(t, f.Truncate(whole))
	do(t, f.Close())
	do(t, Copy(t.Context(), src, "a", dst, "b"))
	info, err := dst.Stat("b")
	do(t, err)
	if info.Size() != whole {
		t.Errorf("it has %d bytes, want %d", info.Size(), int64(whole))
	}
	if s := info.Sys().(*syscall.Stat_t); s.Blocks*512 > 1<<20 {
		t.Errorf("it takes %d bytes of the disk", s.Blocks*512)
	}
	g, err := dst.Open("b")
	do(t, err)
	defer func() { _ = g.Close() }()
	for at, want := range map[int64]byte{1 << 30: 'x', 1 << 35: 'y', 1<<35 + 1: 0} {
		var got [1]byte
		if _, err := g.ReadAt(got[:], at); err != nil || got[0] != want {
			t.Errorf("at %d: %q, %v, want %q", at, got, err, want)
		}
	}
}

package sandbox

import (
	"io"
	"testing"
)

type end struct{ closed *int }

func (e end) Close() error { *e.closed++; return nil }

// Connections that have ended are kept no longer, and no call has more than reprise
// can carry.
func TestARelayCarriesOnlySoMuch(t *testing.T) {
	r := &relay{}
	closed := make([]int, mostRelayed+2)
	var all []io.Closer
	for i := range closed {
		all = append(all, end{&closed[i]})
	}
	for i, c := range all[:mostRelayed+1] {
		if got, want := r.keep(c), i < mostRelayed; got != want || (closed[i] == 0) != want {
			t.Fatalf("connection %d: kept %v", i, got)
		}
	}
	r.forget(all[0])
	if !r.keep(all[mostRelayed+1]) {
		t.Error("there is room again, and it is not taken")
	}
	r.close()
	if closed[0] != 0 || closed[1] != 1 || closed[mostRelayed+1] != 1 {
		t.Errorf("at the end %d, %d and %d were closed", closed[0], closed[1], closed[mostRelayed+1])
	}
}

package purse

import "testing"

// TestPurse divides a budget among trials at work, and gives back what they left.
func TestPurse(t *testing.T) {
	p := New(1, 4)
	first, _ := p.Reserve("a")
	second, _ := p.Reserve("a")
	if first != 0.25 || second != 0.25 {
		t.Errorf("%v and %v", first, second)
	}
	p.Refund(first, 0)
	p.Refund(second, 0.9) // more than it was to
	if usd, ok := p.Reserve("a"); !ok || usd < 0.02 || usd > 0.03 {
		t.Errorf("%v, %v", usd, ok)
	}
	dear := New(1, 3) // runs that cost 0.3 are not begun with less
	dear.Note("a", 0.2)
	dear.Note("a", 0.4)
	dear.Note("b", 0.01)
	for range 3 {
		if usd, ok := dear.Reserve("a"); !ok || usd < 0.3 {
			t.Errorf("%v, %v", usd, ok)
		}
		dear.Refund(1.0/3, 0.3)
	}
	if usd, ok := dear.Reserve("a"); ok {
		t.Errorf("with 0.1 left a run began that may spend %v", usd)
	}
	if usd, ok := dear.Reserve("b"); !ok || usd > 0.1+1e-9 {
		t.Errorf("%v, %v", usd, ok)
	}
	free := New(0, 2)
	for range 100 {
		if usd, ok := free.Reserve("a"); !ok || usd < 1e300 {
			t.Fatalf("%v, %v", usd, ok)
		}
	}
}

// TestWaits has a trial wait for one that holds all there is.
func TestWaits(t *testing.T) {
	p := New(1, 1)
	all, _ := p.Reserve("a")
	got := make(chan float64)
	go func() {
		usd, _ := p.Reserve("a")
		got <- usd
	}()
	p.Refund(all, 0.5)
	if usd := <-got; usd != 0.5 {
		t.Errorf("%v", usd)
	}
	p.Refund(0.5, 0.5)
	if _, ok := p.Reserve("a"); ok {
		t.Error("there is nothing left")
	}
}

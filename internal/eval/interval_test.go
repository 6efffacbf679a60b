package eval

import (
	"math"
	"math/rand/v2"
	"testing"
)

// holds reports whether a figure lies in the interval.
func (i interval) holds(v float64) bool { return i.Low <= v && v <= i.High }

func near(a, b, by float64) bool { return math.Abs(a-b) <= by }

// TestWilson compares with figures that are published: R. G. Newcombe, Two-sided
// confidence intervals for the single proportion, 1998, table I, method 3.
func TestWilson(t *testing.T) {
	for _, tt := range []struct {
		k, n      int
		low, high float64
	}{
		{81, 263, 0.2553, 0.3662},
		{15, 148, 0.0624, 0.1605},
		{0, 20, 0, 0.1611},
		{1, 29, 0.0061, 0.1718},
		{29, 29, 0.8830, 1},
		{0, 0, 0, 1},
	} {
		if got := wilson(tt.k, tt.n); !near(got.Low, tt.low, 0.0001) || !near(got.High, tt.high, 0.0001) {
			t.Errorf("%d of %d: %v, want %v to %v", tt.k, tt.n, got, tt.low, tt.high)
		}
	}
}

// evaluations is how many are simulated below, each with runs that succeed with a
// known chance.
const evaluations = 2000

// TestIntervalsHoldTheTruth simulates evaluations of agents whose quality is known: in
// 95 of 100 the interval has to hold it. Of any one quality and number of runs it may be
// a little less or more, as there are only so many outcomes; by how much was worked out
// by R. G. Newcombe.
func TestIntervalsHoldTheTruth(t *testing.T) {
	draw, all, held := rand.New(rand.NewPCG(7, 11)), 0, 0
	for _, quality := range []float64{0.9, 0.5, 0.1, 0.75, 0.33} {
		for _, runs := range []int{20, 36, 60} {
			good := 0
			for range evaluations {
				k := 0
				for range runs {
					if draw.Float64() < quality {
						k++
					}
				}
				if wilson(k, runs).holds(quality) {
					good++
				}
			}
			if share := float64(good) / evaluations; share < 0.92 || share > 0.985 {
				t.Errorf("quality %v, %d runs: the interval holds it in %.1f of 100", quality, runs, 100*share)
			}
			all, held = all+evaluations, held+good
		}
	}
	if share := float64(held) / float64(all); !near(share, 0.95, 0.01) {
		t.Errorf("all together: the interval holds the truth in %.1f of 100, want 95", 100*share)
	}
}

// TestDifferencesThatAreSeen simulates two agents that are equally good: a
// difference may be seen in 5 of 100 at most. Of two that differ it is seen.
func TestDifferencesThatAreSeen(t *testing.T) {
	draw := rand.New(rand.NewPCG(3, 5))
	seen := func(first, second float64) float64 {
		n := 0
		for range evaluations {
			a, b := 0, 0
			for range 60 {
				if draw.Float64() < first {
					a++
				}
				if draw.Float64() < second {
					b++
				}
			}
			if wilson(a, 60).apart(wilson(b, 60)) {
				n++
			}
		}
		return float64(n) / evaluations
	}
	if share := seen(0.7, 0.7); share > 0.05 {
		t.Errorf("of two that are equal a difference is seen in %.1f of 100", 100*share)
	}
	if share := seen(0.9, 0.5); share < 0.95 {
		t.Errorf("of two that differ a difference is seen in %.1f of 100 only", 100*share)
	}
}

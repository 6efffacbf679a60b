package eval

import "math"

// z is the quantile of the normal distribution that leaves 5 % outside.
const z = 1.959963984540054

// Interval is where a figure lies with 95 % confidence.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// wilson gives Wilson's score interval of a share of which k of n were seen, which also holds for few runs
// and near 0 and 1.
func wilson(k, n int) Interval {
	if n == 0 {
		return Interval{0, 1}
	}
	share, runs := float64(k)/float64(n), float64(n)
	middle := share + z*z/(2*runs)
	half := z * math.Sqrt(share*(1-share)/runs+z*z/(4*runs*runs))
	whole := 1 + z*z/runs
	i := Interval{max(0, (middle-half)/whole), min(1, (middle+half)/whole)}
	if k == 0 {
		i.Low = 0 // which rounding may miss
	}
	if k == n {
		i.High = 1
	}
	return i
}

// apart reports whether two intervals have nothing in common.
func (i Interval) apart(o Interval) bool { return i.High < o.Low || o.High < i.Low }

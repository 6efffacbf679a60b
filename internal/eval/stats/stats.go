// Package stats is what can be said of a few runs: how often something succeeds, and
// whether two ways differ. It is pure: the same figures give the same answer on every
// machine.
package stats

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
)

// z is the quantile of the normal distribution that leaves 5 % outside.
const z = 1.959963984540054

// Interval is where a figure lies with 95 % confidence.
type Interval struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Holds reports whether a figure lies in the interval.
func (i Interval) Holds(v float64) bool { return i.Low <= v && v <= i.High }

// Wilson gives the score interval of a share of which k of n were seen: E. B. Wilson,
// Probable inference, the law of succession, and statistical inference, 1927. It keeps
// its promise for few runs and near 0 and 1, where the usual one does not. Of no runs
// nothing is known.
func Wilson(k, n int) Interval {
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

// McNemar gives the exact two-sided p-value of pairs of which only the first of two
// succeeded in a of them, and only the second in b: how likely a difference as large as
// this is if there is none. Pairs in which both did the same say nothing.
func McNemar(a, b int) float64 {
	n, p := a+b, 0.0
	for i := range min(a, b) + 1 {
		p += math.Exp(choose(n, i) - float64(n)*math.Ln2)
	}
	return min(1, 2*p)
}

// choose gives the logarithm of the number of ways to choose k of n.
func choose(n, k int) float64 {
	of := func(x int) float64 { v, _ := math.Lgamma(float64(x) + 1); return v }
	return of(n) - of(k) - of(n-k)
}

// Holm corrects p-values for there being several: S. Holm, A simple sequentially
// rejective multiple test procedure, 1979.
func Holm(ps []float64) []float64 {
	order := make([]int, len(ps))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(ps[a], ps[b]) })
	out, most := make([]float64, len(ps)), 0.0
	for rank, i := range order {
		most = max(most, min(1, ps[i]*float64(len(ps)-rank)))
		out[i] = most
	}
	return out
}

// resamples is how often the bootstrap draws.
const resamples = 2000

// MeanInterval gives the mean of figures, and by the percentile bootstrap where that of
// all figures like these lies: B. Efron, Bootstrap methods, 1979. It draws in the
// same way each time. Of fewer than two figures nothing is known: the interval is all
// numbers.
func MeanInterval(figures []float64) (mean float64, i Interval) {
	if len(figures) < 2 {
		return meanOf(figures), Interval{math.Inf(-1), math.Inf(1)}
	}
	draw := rand.New(rand.NewPCG(1, uint64(len(figures))))
	means, sample := make([]float64, resamples), make([]float64, len(figures))
	for m := range means {
		for s := range sample {
			sample[s] = figures[draw.IntN(len(figures))]
		}
		means[m] = meanOf(sample)
	}
	slices.Sort(means)
	at := func(q float64) float64 { return means[int(math.Round(q*float64(resamples-1)))] }
	return meanOf(figures), Interval{at(0.025), at(0.975)}
}

func meanOf(figures []float64) float64 {
	sum := 0.0
	for _, f := range figures {
		sum += f
	}
	return sum / max(1, float64(len(figures)))
}

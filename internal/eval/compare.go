package eval

// Score is what a variant came to, over all cases or in one.
type Score struct {
	Variant string   `json:"variant"`
	Case    string   `json:"case,omitempty"` // empty: all
	Solved  int      `json:"solved"`
	Runs    int      `json:"runs"`
	Share   Interval `json:"solved_interval"` // 95 % by Wilson, of all runs like these
	// Means of a run.
	USD     float64 `json:"cost_usd"`
	Seconds float64 `json:"seconds"` // of agents and checks
	Calls   float64 `json:"calls"`
	Revises float64 `json:"revises"`
}

// scoreOf sums up the results of a variant, in one case or, without a name, in all.
func scoreOf(all []Result, variant, name string) Score {
	s := Score{Variant: variant, Case: name}
	for _, r := range all {
		if r.Variant != variant || name != "" && r.Case != name {
			continue
		}
		s.Runs++
		if r.Solved {
			s.Solved++
		}
		s.USD += r.Facts.Cost.USD
		s.Seconds += r.Facts.Seconds
		s.Calls += float64(r.Facts.Attempts)
		s.Revises += float64(r.Facts.Revises)
	}
	s.Share = wilson(s.Solved, s.Runs)
	n := float64(max(1, s.Runs))
	s.USD, s.Seconds, s.Calls, s.Revises = s.USD/n, s.Seconds/n, s.Calls/n, s.Revises/n
	return s
}

// Comparison is two variants in the runs that both have done.
type Comparison struct {
	First   string `json:"first"`
	Second  string `json:"second"`
	Runs    int    `json:"runs"`        // of each
	More    int    `json:"solved_more"` // runs that the first solves more than the second
	Differs bool   `json:"differs"`     // one can be seen to solve more: the intervals of their shares are apart
}

// compare compares each variant with each that comes after it.
func compare(all []Result, variants []string) []Comparison {
	at := map[Trial]Result{}
	for _, r := range all {
		at[r.Trial] = r
	}
	out := []Comparison{}
	for i, first := range variants {
		for _, second := range variants[i+1:] {
			c, solved := Comparison{First: first, Second: second}, [2]int{}
			for _, a := range all {
				b, both := at[Trial{second, a.Case, a.Run}]
				if a.Variant != first || !both {
					continue
				}
				c.Runs++
				for i, r := range []Result{a, b} {
					if r.Solved {
						solved[i]++
					}
				}
			}
			c.More, c.Differs = solved[0]-solved[1], wilson(solved[0], c.Runs).apart(wilson(solved[1], c.Runs))
			out = append(out, c)
		}
	}
	return out
}

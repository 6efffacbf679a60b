package setup

import (
	"slices"
	"strings"
)

// merge joins what two texts have each changed in a third one, line by line. It is
// not ok if both changed the same lines, or lines beside each other, in different ways.
func merge(base, ours, theirs string) (merged string, ok bool) {
	b, o, t := lines(base), lines(ours), lines(theirs)
	inOurs, inTheirs := matches(b, o), matches(b, t)
	var out []string
	atB, atO, atT := 0, 0, 0
	for {
		// The next line that all three have.
		next := atB
		for next < len(b) && (inOurs[next] < 0 || inTheirs[next] < 0) {
			next++
		}
		endO, endT := len(o), len(t)
		if next < len(b) {
			endO, endT = inOurs[next], inTheirs[next]
		}
		was, we, they := b[atB:next], o[atO:endO], t[atT:endT]
		switch {
		case slices.Equal(we, was), slices.Equal(we, they):
			out = append(out, they...)
		case slices.Equal(they, was):
			out = append(out, we...)
		default:
			return "", false
		}
		if next == len(b) {
			return strings.Join(out, ""), true
		}
		out = append(out, b[next])
		atB, atO, atT = next+1, endO+1, endT+1
	}
}

// lines gives the lines of a text, each with its end.
func lines(text string) []string { return slices.Collect(strings.Lines(text)) }

// matches gives, for each line of a, the line of b that it has become in a longest
// common subsequence of the two, or -1.
func matches(a, b []string) []int {
	longest := make([][]int, len(a)+1)
	for i := range longest {
		longest[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				longest[i][j] = longest[i+1][j+1] + 1
			} else {
				longest[i][j] = max(longest[i+1][j], longest[i][j+1])
			}
		}
	}
	found := make([]int, len(a))
	j := 0
	for i := range a {
		found[i] = -1
		for j < len(b) && a[i] != b[j] && longest[i][j] == longest[i][j+1] {
			j++
		}
		if j < len(b) && a[i] == b[j] {
			found[i], j = j, j+1
		}
	}
	return found
}

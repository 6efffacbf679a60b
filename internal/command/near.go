package command

// Nearest gives the name within two edits of what was typed, or "". A name
// of few letters is soon near to any short word: up to five, one edit counts.
func Nearest(typed string, names []string) string {
	best, least := "", 3
	for _, name := range names {
		if d := edits(fold(typed), name); d < least && d <= len(name)/3 {
			best, least = name, d
		}
	}
	return best
}

// edits counts the letters to insert, delete, replace or swap to get from
// a to b. It counts up to 3, and looks at no text that is longer than that.
func edits(a, b string) int {
	if len(a) > len(b)+2 || len(b) > len(a)+2 {
		return 3
	}
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			change := 1
			if a[i-1] == b[j-1] {
				change = 0
			}
			least := min(rows[i-1][j]+1, rows[i][j-1]+1, rows[i-1][j-1]+change)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				least = min(least, rows[i-2][j-2]+1)
			}
			rows[i][j] = least
		}
	}
	return min(rows[len(a)][len(b)], 3)
}

// Package bench is a place to measure a program in: a scratch folder, repositories, and a
// table of what came out.
package bench

import (
	"fmt"
	"time"
)

// Row is one line of the table.
type Row struct {
	Measure, Ours, Least, Ratio, Target, How string
}

// Bench is what all measurements share.
type Bench struct {
	Dir  string // scratch folder
	Bin  string // the program, built as for a release
	Home string // where it keeps its runs
	Rows []Row
}

// Print prints the table.
func (b *Bench) Print() {
	fmt.Println("| measure | reprise | least | ratio | target | least is |")
	fmt.Println("|---|---|---|---|---|---|")
	for _, r := range b.Rows {
		fmt.Printf("| %s | %s | %s | %s | %s | %s |\n", r.Measure, r.Ours, r.Least, r.Ratio, r.Target, r.How)
	}
}

// Times adds a row for two durations.
func (b *Bench) Times(measure string, ours, least time.Duration, target, how string) {
	b.Rows = append(b.Rows, Row{Measure: measure, Ours: Millis(ours), Least: Millis(least), Ratio: fmt.Sprintf("%.2f", float64(ours)/float64(least)), Target: target, How: how})
}

// Sizes adds a row for two sizes in bytes.
func (b *Bench) Sizes(measure string, ours, least int64, target, how string) {
	mb := func(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/(1<<20)) }
	b.Rows = append(b.Rows, Row{Measure: measure, Ours: mb(ours), Least: mb(least), Ratio: fmt.Sprintf("%.1f", float64(ours)/float64(least)), Target: target, How: how})
}

// Millis writes a duration as people compare it.
func Millis(d time.Duration) string {
	if d >= time.Second {
		return fmt.Sprintf("%.2f s", d.Seconds())
	}
	return fmt.Sprintf("%.1f ms", float64(d.Microseconds())/1000)
}

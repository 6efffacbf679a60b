package pipelines_test

import (
	"fmt"
	"os"
	"regexp"
	"testing"
)

// What the README says of what a run costs is so: phases, calls and limits of built-in
// pipelines, and the sum that is made of them.
func TestCostsInTheReadme(t *testing.T) {
	for _, name := range []string{"../README.md", "../README.ja.md"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		rows := regexp.MustCompile("(?m)^\\| `([a-z]+)`: (\\d+) \\S+ \\| (\\d+) \\| (\\$[\\d.]+) \\| (\\$\\d+) \\|$").FindAllStringSubmatch(string(text), -1)
		if len(rows) < 4 {
			t.Errorf("%s says of %d pipelines what they cost", name, len(rows))
		}
		for _, row := range rows {
			plan := load(t, row[1])
			calls := 0
			for _, p := range plan.Phases {
				if calls++; !p.NoReview {
					calls++
				}
			}
			const call = 0.30*0.1*2 + 0.30*0.9*0.2 + 0.006*10 // dollars: millions of tokens read, read from the cache, and written
			got := []string{fmt.Sprint(len(plan.Phases)), fmt.Sprint(calls), fmt.Sprintf("$%.2f", call*float64(calls)), fmt.Sprintf("$%.0f", plan.Budget.USD)}
			for i, want := range row[2:] {
				if got[i] != want {
					t.Errorf("%s: of %s it says %s, and it is %s", name, row[1], want, got[i])
				}
			}
		}
	}
}

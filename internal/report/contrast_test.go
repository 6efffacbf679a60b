package report

import (
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Text can be read on every ground that a diff has, by day and by night.
func TestContrastOfDiffs(t *testing.T) {
	day, night, _ := strings.Cut(styleText, "@media (prefers-color-scheme: dark)")
	for scheme, style := range map[string]string{"light": day, "dark": night} {
		lightOf := func(name string) float64 {
			m := regexp.MustCompile(`--` + name + `: #(\w{2})(\w{2})(\w{2});`).FindStringSubmatch(style)
			if m == nil {
				t.Fatalf("%s has no colour %s", scheme, name)
			}
			var sum float64
			for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
				n, err := strconv.ParseUint(m[i+1], 16, 8)
				if err != nil {
					t.Fatal(err)
				}
				if c := float64(n) / 255; c <= 0.04045 {
					sum += weight * c / 12.92
				} else {
					sum += weight * math.Pow((c+0.055)/1.055, 2.4)
				}
			}
			return sum
		}
		for _, ground := range []string{"box", "added", "removed"} {
			a, b := lightOf(ground), lightOf("text")
			if contrast := (max(a, b) + 0.05) / (min(a, b) + 0.05); contrast < 4.5 {
				t.Errorf("%s: text on %s has a contrast of %.1f", scheme, ground, contrast)
			}
		}
	}
}

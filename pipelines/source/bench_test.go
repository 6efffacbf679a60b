package source

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// many is a pipeline of n phases, each with what a phase usually has.
func many(n int) string {
	var b strings.Builder
	b.WriteString("phases: [\n")
	for i := range n {
		fmt.Fprintf(&b, "\t{name: \"p%d\", goal: \"Do the thing number %[1]d.\", access: \"tree\", tier: \"heavy\",\n", i)
		if i > 0 {
			fmt.Fprintf(&b, "\t\tneeds: [\"p%d\"],\n", i-1)
		}
		b.WriteString("\t\tgates: [\"It holds\", \"It is tested\"], checks: [{name: \"unit\", run: \"go test ./...\"}],\n")
		b.WriteString("\t\treport: {risk: \"low\" | \"high\", files: [...string]}},\n")
	}
	b.WriteString("]\n")
	return b.String()
}

// BenchmarkVet is what a person waits for, but for the start of the program.
func BenchmarkVet(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			file := filepath.Join(b.TempDir(), "many.cue")
			if err := os.WriteFile(file, []byte(many(n)), 0o644); err != nil {
				b.Fatal(err)
			}
			s := Sources{Path: file, Evaluator: child(b)}
			for b.Loop() {
				if _, err := Load(b.Context(), s, ""); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkEvaluate is the same without the child process.
func BenchmarkEvaluate(b *testing.B) {
	for _, n := range []int{10, 100, 1000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			files := []file{{Name: "many.cue", Text: many(n)}}
			for b.Loop() {
				if _, err := evaluate(request{Files: files}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkMatches(b *testing.B) {
	facts := []byte(`{"report": {"risk": "high"}, "diff": {"lines": 5, "files": 1}}`)
	for b.Loop() {
		if ok, err := (Evaluator{}).Matches(b.Context(), "report: risk: \"high\"\ndiff: lines: <10", facts); !ok || err != nil {
			b.Fatal(ok, err)
		}
	}
}

func BenchmarkLoadFull(b *testing.B) {
	for b.Loop() {
		load(b, "full")
	}
}

package prompts

import "testing"

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		mustLoad(b, "en")
	}
}

func BenchmarkRender(b *testing.B) {
	set, d := mustLoad(b, "en"), variants()["revise-rollback"]
	for b.Loop() {
		if _, err := set.Render("revise", d); err != nil {
			b.Fatal(err)
		}
	}
}

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

func BenchmarkClean(b *testing.B) {
	text := repeat("The `parser` fails on [this](https://x.example \"title\") input.\n<!-- hidden -->漢字\u200b ![alt](u)\n\n", 64<<10)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		Clean(text)
	}
}

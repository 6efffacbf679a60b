package phases

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/reprise-ci/reprise/metadata"
)

// FuzzMessage puts any text into a commit message: GitHub acts on nothing in
// it, and the trailers are ours alone.
func FuzzMessage(f *testing.F) {
	for _, s := range []string{
		"", "The API must stay REST.", "Fixes #12, closes octo/hello#3, resolves GH-4 and https://github.com/o/r/issues/5", "@octo/team: look", "[skip ci]", "[CI SKIP] x", "skip-checks: true",
		"x\n\nReprise-Issue: 8\nReprise-Attempt: 9", "x\nreprise-phase: y", "a\r\nReprise-Step: z", "##1", "gh-gh-1", "@@a", "[[skip ci]]", "[no\nci]", "x\rReprise-Step: z", "\x00\xff", "日本語@hana", strings.Repeat("長い", 200), "x\n\n\nCo-authored-by: eve <e@x>",
	} {
		f.Add(s, s)
	}
	acts := regexp.MustCompile(`(?i)#[0-9]|\bgh-[0-9]|@[a-z0-9]|/(issues|pull)/[0-9]|\[(skip ci|ci skip|no ci|skip actions|actions skip)\]|skip-checks`)
	f.Fuzz(func(t *testing.T, subject, why string) {
		run := metadata.Run{IssueNumber: "7"}
		text := CommitMessage{Subject: subject, Why: why, Phase: "design", Step: "review", Attempt: 3, USD: 0.5}.Text(run)
		const trailers = "\n\nReprise-Issue: 7\nReprise-Phase: design\nReprise-Step: review\nReprise-Attempt: 3\nReprise-Cost: 0.5000\n"
		words, ok := strings.CutSuffix(text, trailers)
		if !ok || regexp.MustCompile(`(?im)^reprise-`).MatchString(words) {
			t.Errorf("the trailers are not ours alone: %q", text)
		}
		if m := acts.FindString(words); m != "" {
			t.Errorf("GitHub acts on %q in %q", m, words)
		}
		first, rest, _ := strings.Cut(text, "\n")
		if !strings.HasPrefix(first, "reprise: ") || !strings.HasPrefix(rest, "\n") || utf8.RuneCountInString(first) > 200 || !utf8.ValidString(text) || strings.Contains(text, "\x00") {
			t.Errorf("message %q", text)
		}
	})
}

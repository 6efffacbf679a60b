package engine

import (
	"errors"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/phases/texts"
)

// The sentence says why, and what the program complained stands beside it.
func TestLastWords(t *testing.T) {
	ae := &AgentError{Agent: "own", Err: errors.New("it ended: second line"), Hint: "look", Stderr: "boom\nsecond line\n"}
	if got, want := english(WhyBroke(ae, texts.Valid)), "own: it ended: second line; look"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	long := strings.Repeat("語", 900)
	for in, want := range map[string]string{
		"  boom\nsecond line\n": "boom\nsecond line",
		long + "\n" + long:      long,
		long + long:             "…" + strings.Repeat("語", mostStderr),
		"a\x00b\xff":            "ab\uFFFD",
	} {
		if got := lastWords(in); got != want {
			t.Errorf("%.20q becomes %.20q, want %.20q", in, got, want)
		}
	}
}

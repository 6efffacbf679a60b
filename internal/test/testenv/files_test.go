package testenv

import (
	"fmt"
	"strings"
	"testing"
)

// noted is a test that only notes its failures.
type noted struct {
	testing.TB
	said []string
}

func (n *noted) Helper() {}

func (n *noted) Errorf(format string, args ...any) {
	said, _, _ := strings.Cut(fmt.Sprintf(format, args...), "\n")
	n.said = append(n.said, said)
}

// Each comparison fails when it has to, and then alone.
func TestComparisonsCanFail(t *testing.T) {
	n := &noted{}
	for _, got := range []string{"a b", "c"} {
		Is(n, "the text is", got, "a b")
		Same(n, "the words", []string{"a", "b"}, strings.Fields(got))
		Has(n, "the text", got, "a", "b")
		Lacks(n, "the text", got, "c", "d")
	}
	Is(n, "the number is", 1, 2)
	Same(t, "failures", []string{`the text is "c", want "a b"`, "the words (-want +got):", `the text lacks "a":`, `the text lacks "b":`, `the text has "c":`, "the number is 1, want 2"}, n.said)
}

package environ

import (
	"bytes"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/progresstest"
)

// FuzzCommandEscaper writes to a log in pieces of any size.
func FuzzCommandEscaper(f *testing.F) {
	for _, text := range []string{"::a::b", " \t::a::b\n", "x\r::a::", "x\n\u00a0\u3000::a::\n", "##[error]x", "a ## ##[add-mask]e", "#", ":", "日本::x", "\x00::a::", "\ufeff::a::", "####[x]"} {
		f.Add(text, 1)
		f.Add(text, 3)
	}
	f.Fuzz(func(t *testing.T, text string, size int) {
		var log bytes.Buffer
		w := NewCommandEscaper(&log)
		size = max(1, size)
		for rest := text; rest != ""; {
			n, err := w.Write([]byte(rest[:min(size, len(rest))]))
			if err != nil || n != min(size, len(rest)) {
				t.Fatalf("wrote %d: %v", n, err)
			}
			rest = rest[n:]
		}
		progresstest.CheckLog(t, log.String())
		if !strings.ContainsAny(text, ":[") && log.String() != text {
			t.Errorf("%q became %q", text, log.String())
		}
	})
}

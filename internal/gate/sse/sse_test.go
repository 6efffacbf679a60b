package sse_test

import (
	"slices"
	"testing"

	"github.com/reprise-ci/reprise/internal/gate/sse"
)

func TestEvents(t *testing.T) {
	for text, want := range map[string]string{
		"data: a\n\ndata: b\n\n":                            " a| b|",
		"event: x\r\ndata: a\r\n\r\ndata: b\r\n\r\n":        " a\r| b\r|",
		": comment\nid: 1\ndata:a\ndata: b\n\n\n\n":         "a b|",
		"database: no\ndata\ndata: " + "[DONE]\n\nretry: 1": " [DONE]|",
	} {
		for _, size := range []int{1, 4, 1000} {
			got := ""
			e := sse.Reader{Data: func(p []byte) { got += string(p) }, End: func() { got += "|" }}
			for p := range slices.Chunk([]byte(text), size) {
				e.Write(p)
			}
			if got != want {
				t.Errorf("%q in pieces of %d: %q, want %q", text, size, got, want)
			}
		}
	}
}

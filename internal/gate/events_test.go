package gate

import (
	"testing"
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
			e := eventReader{data: func(p []byte) { got += string(p) }, end: func() { got += "|" }}
			for p := range bytesOf(text, size) {
				e.write(p)
			}
			if got != want {
				t.Errorf("%q in pieces of %d: %q, want %q", text, size, got, want)
			}
		}
	}
}

package process

import (
	"bytes"
	"io"
)

// Head keeps the first bytes that are written to it, at most Limit of them; 0 means
// all. Writing never fails.
type Head struct {
	bytes.Buffer
	Limit int64
}

// Write takes p, and keeps what there is room for.
func (h *Head) Write(p []byte) (int, error) {
	keep := p
	if room := h.Limit - int64(h.Len()); h.Limit > 0 && int64(len(p)) > room {
		keep = p[:max(room, 0)]
	}
	h.Buffer.Write(keep)
	return len(p), nil
}

// ReadFrom hides the buffer's own, which knows no limit.
func (h *Head) ReadFrom(r io.Reader) (int64, error) {
	return io.Copy(struct{ io.Writer }{h}, r)
}

// Tail keeps the last bytes that are written to it, at most Limit of them. Writing
// never fails.
type Tail struct {
	Limit int
	data  []byte
}

// Write takes p, and forgets what is too old.
func (t *Tail) Write(p []byte) (int, error) {
	t.data = append(t.data, p...)
	if extra := len(t.data) - t.Limit; extra > 0 {
		t.data = append(t.data[:0], t.data[extra:]...)
	}
	return len(p), nil
}

// String is what is kept.
func (t *Tail) String() string { return string(t.data) }

package gate

import (
	"fmt"
	"io"
	"sync"

	"github.com/reprise-ci/reprise/internal/process"
)

const (
	maxExcerpt    = 24 << 10 // bytes of a body that are kept, from its head and from its tail
	maxTranscript = 16 << 20 // bytes
)

// newExcerpt keeps the head and the tail of a body.
func newExcerpt() *process.Excerpt { return &process.Excerpt{HeadMax: maxExcerpt, TailMax: maxExcerpt} }

// transcript is written what was asked and answered.
type transcript struct {
	to io.Writer // nil: nobody wants it

	mu   sync.Mutex
	size int
}

// add writes what one request came to.
func (t *transcript) add(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.size > maxTranscript {
		return
	}
	if t.size += len(text); t.size > maxTranscript {
		text = fmt.Sprintf("== the rest is left out: it would have more than %d MB\n", maxTranscript>>20)
	}
	_, _ = io.WriteString(t.to, text) // for people; the call does not depend on it
}

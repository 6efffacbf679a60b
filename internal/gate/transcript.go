package gate

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"sync"
)

const (
	maxExcerpt    = 24 << 10 // bytes of a body that are kept, from its head and from its tail
	maxWord       = 4 << 10  // bytes of a word beside what is left out that go with it; secrets are shorter
	maxTranscript = 16 << 20 // bytes
)

// excerpt keeps the head and the tail of a text.
type excerpt struct {
	head, tail []byte
	size       int
}

func (e *excerpt) write(p []byte) {
	e.size += len(p)
	n := min(len(p), maxExcerpt-len(e.head))
	e.head = append(e.head, p[:n]...)
	p = p[n:]
	p = p[max(0, len(p)-maxExcerpt):]
	if e.tail = append(e.tail, p...); len(e.tail) > 2*maxExcerpt { // not each time, as pieces may be small
		e.trim()
	}
}

func (e *excerpt) trim() {
	if over := len(e.tail) - maxExcerpt; over > 0 {
		e.tail = e.tail[:copy(e.tail, e.tail[over:])]
	}
}

func (e *excerpt) text() string {
	e.trim()
	head, tail := e.head, e.tail
	if left := e.size - len(head) - len(tail); left == 0 {
		return strings.ToValidUTF8(string(head)+string(tail), "\uFFFD")
	}
	// Half of a secret is not found as one.
	if i := bytes.LastIndexAny(head, " \t\n"); i >= len(head)-maxWord {
		head = head[:i+1]
	} else {
		head = head[:max(0, len(head)-maxWord)]
	}
	if i := bytes.IndexAny(tail, " \t\n"); i >= 0 && i <= maxWord {
		tail = tail[i:]
	} else {
		tail = tail[min(len(tail), maxWord):]
	}
	left := e.size - len(head) - len(tail)
	return strings.ToValidUTF8(fmt.Sprintf("%s\n[%d bytes are left out]\n%s", head, left, tail), "\uFFFD")
}

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

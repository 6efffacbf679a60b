package gate

import "sync"

// buffers are used again and again.
var buffers = bufferPool{&sync.Pool{New: func() any { b := make([]byte, 64<<10); return &b }}}

type bufferPool struct{ pool *sync.Pool }

// Get gives a buffer.
func (p bufferPool) Get() []byte { return *p.pool.Get().(*[]byte) }

// Put takes it back.
func (p bufferPool) Put(b []byte) { p.pool.Put(&b) }

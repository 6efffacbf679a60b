// Package sse is a stream of server-sent events, as it comes in pieces.
package sse

import "bytes"

// Reader takes server-sent events apart. It keeps nothing but the name of the field.
type Reader struct {
	Data func([]byte) // takes the next piece of an event's data
	End  func()       // hears that an event with data has ended

	name    []byte
	inside  bool // after the name of the field
	isData  bool
	hasData bool // the event has data
	written bool // the line has something
}

const dataField = "data"

// Write takes the next piece of a stream.
func (e *Reader) Write(p []byte) {
	for len(p) > 0 {
		line, rest, ended := bytes.Cut(p, []byte{'\n'})
		e.line(line)
		if ended {
			e.newline()
		}
		p = rest
	}
}

// line takes a piece of a line.
func (e *Reader) line(p []byte) {
	if len(p) == 0 || !e.written && string(p) == "\r" {
		return
	}
	e.written = true
	if !e.inside {
		name, rest, found := bytes.Cut(p, []byte{':'})
		e.name = append(e.name, name[:min(len(name), len(dataField)+1-len(e.name))]...)
		if !found {
			return
		}
		e.inside, e.isData = true, string(e.name) == dataField
		p = rest
	}
	if e.isData {
		e.hasData = true
		e.Data(p)
	}
}

func (e *Reader) newline() {
	if !e.written && e.hasData {
		e.End()
		e.hasData = false
	}
	e.name, e.inside, e.isData, e.written = e.name[:0], false, false, false
}

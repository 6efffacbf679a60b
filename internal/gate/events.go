package gate

import "bytes"

// eventReader takes server-sent events apart: it passes on their data, in pieces,
// and says when an event ends. It keeps nothing but the name of the field.
type eventReader struct {
	data func([]byte)
	end  func()

	name    []byte
	inside  bool // after the name of the field
	isData  bool
	hasData bool // the event has data
	written bool // the line has something
}

// between reports whether no event has begun to have data, at the start of a line.
func (e *eventReader) between() bool { return !e.hasData && !e.written }

const dataField = "data"

func (e *eventReader) write(p []byte) {
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
func (e *eventReader) line(p []byte) {
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
		e.data(p)
	}
}

func (e *eventReader) newline() {
	if !e.written && e.hasData {
		e.end()
		e.hasData = false
	}
	e.name, e.inside, e.isData, e.written = e.name[:0], false, false, false
}

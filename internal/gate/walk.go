package gate

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"sync/atomic"
)

const (
	maxBody  = 32 << 20  // bytes of a request, of a whole answer or of an event that are read
	maxHeld  = 128 << 20 // bytes of all of those that are held at a time
	maxDepth = 500       // of objects and lists
)

var (
	errTwoTexts = errors.New("there is more than one text")
	errTooDeep  = errors.New("it is nested too deeply")
)

// walk reads JSON and tells the values at the wanted places, each as often as it comes. A place is the folded names of
// the objects joined by dots; lists add nothing. What opens an object or a list is a json.Delim.
func walk(data []byte, want map[string]field, found func(field, any)) error {
	in := json.NewDecoder(bytes.NewReader(data))
	in.UseNumber()
	tell := func(place string, v any) {
		if f, ok := want[place]; ok {
			found(f, v)
		}
	}
	if err := walkValue(in, "", 0, tell); err != nil {
		return err
	}
	if _, err := in.Token(); !errors.Is(err, io.EOF) {
		return errTwoTexts
	}
	return nil
}

// walkValue reads one value.
func walkValue(in *json.Decoder, place string, depth int, tell func(place string, v any)) error {
	v, err := in.Token()
	if err != nil {
		return err
	}
	tell(place, v)
	opens, _ := v.(json.Delim)
	if opens == 0 {
		return nil
	}
	if depth > maxDepth {
		return errTooDeep
	}
	for in.More() {
		within := place
		if opens == '{' {
			name, err := in.Token()
			if err != nil {
				return err
			}
			within = strings.TrimPrefix(place+"."+fold(name.(string)), ".") // the decoder takes nothing else there
		}
		if err := walkValue(in, within, depth+1, tell); err != nil {
			return err
		}
	}
	_, err = in.Token()
	return err
}

// fold gives the one spelling of a name that is compared: fileUri and file_uri are the same.
func fold(name string) string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }

// count gives a number that is no less than zero, else 0.
func count(v any) int64 {
	n, _ := v.(json.Number)
	f, err := n.Float64()
	if err != nil || f < 0 || f > 1<<50 {
		return 0
	}
	return int64(f)
}

// room is how many bytes of bodies a gate may hold besides.
type room struct{ left atomic.Int64 }

func newRoom() *room {
	r := &room{}
	r.give(maxHeld)
	return r
}

// take takes some of it, if there is as much.
func (r *room) take(n int) bool {
	if r.left.Add(-int64(n)) < 0 {
		r.give(n)
		return false
	}
	return true
}

func (r *room) give(n int) { r.left.Add(int64(n)) }

// held is what has come of a body or a line so far.
type held struct {
	room *room
	data []byte
	lost bool // it became too long to be read
}

func (h *held) add(p []byte) {
	if h.lost {
		return
	}
	if len(h.data)+len(p) > maxBody || !h.room.take(len(p)) {
		h.reset()
		h.lost = true
		return
	}
	h.data = append(h.data, p...)
}

// reset forgets it. What was long gives its memory back.
func (h *held) reset() {
	h.room.give(len(h.data))
	h.data, h.lost = h.data[:0], false
	if cap(h.data) > 1<<20 {
		h.data = nil
	}
}

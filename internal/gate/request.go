package gate

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// request is what a request to a provider says of what is checked and counted.
type request struct {
	model     string
	size      int64   // bytes
	longest   int64   // tokens that an answer may have; 0: it does not say
	answers   int64   // the request, if it asks for several
	tools     int64   // what it costs in any case, in millionths of a US dollar
	factor    float64 // how many times the usual price it costs; less than 1: once
	saysHow   bool    // it says whether it asks for events
	streams   bool    // it does
	saysUsage bool    // and for one with what was used
	images    int64   // tokens that its parts may come to besides their bytes
	data      int64   // bytes of images, which are among the images alone
	open      bool    // it has a part that may be of any size, or the provider adds to it
	unnamed   bool    // it has something without a kind
}

// outward are tools that the provider itself uses to reach other hosts, by how
// their kinds begin.
var outward = []string{"web_search", "web_fetch", "mcp", "url_context", "google_search"}

// shells are the tools by which programs let a model run commands, by their names and kinds. Codex also tells of them in
// what its tool for JavaScript is said to be.
var shells = []string{"Bash", "bash", "PowerShell", "bash_20241022", "bash_20250124", "shell", "local_shell", "shell_command", "exec_command", "write_stdin", "run_shell_command"}

// askUsage is what is added to a request of Chat Completions for a stream, which says what was
// used only if it is asked to. Of a field that comes twice, services take the last.
const askUsage = `,"stream_options":{"include_usage":true}`

// read reads the body of a request and checks it: it is passed on whole, or not at all. done gives back its room.
func (x *exchange) read(r *http.Request, connection *http.ResponseController) (body []byte, done func()) {
	size := maxBody
	if r.ContentLength >= 0 {
		size = int(min(r.ContentLength, maxBody))
	}
	if !x.gate.room.take(size) {
		x.refuse(http.StatusServiceUnavailable, "there are too many long requests at a time")
		size = 0
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, int64(size)))
	x.gate.room.give(size - len(body))
	rest := int64(0)
	if err == nil && int64(len(body)) != r.ContentLength {
		// A connection that is closed with something unread in it is reset, and then a client
		// that is still sending loses the answer.
		_ = connection.SetReadDeadline(time.Now().Add(5 * time.Second))
		rest, _ = io.Copy(io.Discard, io.LimitReader(r.Body, 8*maxBody))
		_ = connection.SetReadDeadline(time.Time{})
	}
	read := len(body)
	x.asked.size = int64(read)
	switch {
	case err != nil:
		x.refuse(http.StatusBadRequest, "the request broke off")
	case rest > 0:
		x.refuse(http.StatusRequestEntityTooLarge, "the request has more than "+strconv.Itoa(maxBody>>20)+" MB")
	case len(body) > 0 || x.purpose == asksModel:
		x.inspect(r.Header, body)
	}
	if x.at == chatCompletions && x.asked.streams && !x.asked.saysUsage && x.refusal == nil {
		end := bytes.LastIndexByte(body, '}')
		body = slices.Insert(body, end, []byte(askUsage)...)
	}
	return body, func() { x.gate.room.give(read) }
}

// inspect refuses a request that cannot be read, or that asks for what is not allowed.
func (x *exchange) inspect(header http.Header, body []byte) {
	if encoding := header.Get("Content-Encoding"); encoding != "" && encoding != "identity" {
		x.refuse(http.StatusUnsupportedMediaType, "the proxy has to read requests, and this one is compressed with "+strconv.Quote(encoding))
		return
	}
	if x.provider.API == gemini || x.asked.model != "" { // the path names it
		if kind := header.Get("Content-Type"); kind != "" && !strings.HasPrefix(strings.ToLower(kind), "application/json") {
			x.refuse(http.StatusUnsupportedMediaType, "the proxy has to read requests, and this one is "+strconv.Quote(kind)+" in place of application/json")
		}
		if x.purpose == asksModel {
			x.checkModel(x.asked.model)
		}
	}
	if err := walk(body, protocols()[x.provider.API].inRequest, x.found); err != nil {
		x.refuse(http.StatusBadRequest, fmt.Sprintf("the request is no JSON in UTF-8: %v", err))
	} else if bytes.TrimSpace(body)[0] != '{' {
		x.refuse(http.StatusBadRequest, "the request is no object of JSON")
	}
	if x.asked.model == "" && x.purpose == asksModel && x.gate.config.Limits.Model != nil {
		x.refuse(http.StatusBadRequest, "the request names no model")
	}
}

// refuse notes why the request is not passed on. The first reason counts.
func (x *exchange) refuse(status int, why string) {
	x.refusal = cmp.Or(x.refusal, &refusal{status, "reprise: " + why})
}

// forbid refuses what is said, if it says something.
func (x *exchange) forbid(v any, why string) {
	if v != nil && v != false {
		x.refuse(http.StatusBadRequest, why)
	}
}

// checkModel refuses a model that the call may not ask.
func (x *exchange) checkModel(model string) {
	if !x.gate.ledger.allows(x.provider.Name, model) {
		x.refuse(http.StatusBadRequest, fmt.Sprintf("the pipeline does not name the model %q for this agent; it can allow it with models", model))
	}
}

// found checks a value of the request.
func (x *exchange) found(f field, v any) {
	said, isText := v.(string)
	_, opens := v.(json.Delim)
	asked := &x.asked
	most, bounded := protocols()[x.provider.API].Bounded[said]
	if why := protocols()["gateways"].Forbidden[f]; why != "" {
		x.forbid(v, why)
	}
	if (f == tool || f == called) && x.gate.config.NoShell && slices.ContainsFunc(shells, func(name string) bool {
		return said == name || strings.Contains(said, "### `"+name+"`")
	}) {
		x.refuse(http.StatusBadRequest, fmt.Sprintf("a reviewer runs commands by reprise alone, and its program offers the model a shell of its own: %.100q", said))
	}
	switch f {
	case part, tool, named:
		asked.images += most
		asked.open = asked.open || !bounded
		asked.unnamed = asked.unnamed && f != named
	case edit:
		if !bounded {
			x.refuse(http.StatusBadRequest, "the proxy does not know what it costs to edit the context by "+strconv.Quote(said))
		}
	case item:
		asked.open = asked.open || opens && asked.unnamed
		asked.unnamed = v == json.Delim('{')
	case data:
		asked.data += int64(len(said))
	case address:
		if strings.HasPrefix(said, "data:") {
			asked.data += int64(len(said))
		}
	case asksFor:
		if said == "" || len(said) > maxModel {
			x.refuse(http.StatusBadRequest, "the request names no model")
			return
		}
		twice := asked.model != ""
		asked.model = said
		x.checkModel(said)
		if twice {
			x.refuse(http.StatusBadRequest, "the request names its model twice")
		}
	case helper:
		if !opens && v != nil {
			x.checkModel(said)
		}
	case place:
		if strings.HasPrefix(said, "container") {
			x.refuse(http.StatusBadRequest, "what runs in containers of the provider has no limits of the pipeline; run it here")
		}
	case longest:
		asked.longest = max(asked.longest, count(v))
	case answers:
		asked.answers = max(asked.answers, count(v))
	case stored, connector:
		asked.open = asked.open || v != nil
	case tier:
		asked.factor = max(asked.factor, protocols()[x.provider.API].Tiers[strings.ToLower(said)])
	case streams:
		if asked.saysHow {
			x.refuse(http.StatusBadRequest, "the request says stream twice")
		}
		asked.saysHow, asked.streams = true, v == true
	case saysUsage:
		asked.saysUsage = v == true
	case searchable:
		if v != nil {
			asked.tools, asked.open = protocols()[x.provider.API].Option, true
		}
	}
	if !x.gate.config.World.Open {
		x.foundOutward(f, v, isText)
	}
}

// foundOutward refuses what has the provider reach hosts that the agent may not reach itself.
func (x *exchange) foundOutward(f field, v any, isText bool) {
	said, _ := v.(string)
	switch {
	case f == tool && slices.ContainsFunc(outward, func(kind string) bool { return strings.HasPrefix(said, kind) }):
		x.refuse(http.StatusBadRequest, "the tool "+strconv.Quote(said)+" reaches hosts that the pipeline does not allow")
	case f == connector, f == searchable:
		x.forbid(v, "tools of the provider that reach other hosts are not allowed by the pipeline")
	case f == address && isText && !strings.HasPrefix(said, "data:"):
		x.refuse(http.StatusBadRequest, "the provider would fetch an address, and the pipeline does not allow that")
	}
}

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
// the objects joined by dots; lists add nothing. What opens an object or a list is a json.Delim. Of a place that ends in
// *, the name of each value is told.
func walk(data []byte, want map[string]field, found func(field, any)) error {
	in := json.NewDecoder(bytes.NewReader(data))
	in.UseNumber()
	tell := func(place string, v any) {
		if _, number := v.(json.Number); number && in.InputOffset() == int64(len(data)) {
			return // it may have broken off within
		}
		if f, ok := want[place]; ok {
			found(f, v)
		}
		at := strings.LastIndexByte(place, '.') + 1
		if f, ok := want[place[:at]+"*"]; ok {
			found(f, place[at:])
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

// drop forgets the first n bytes.
func (h *held) drop(n int) {
	h.room.give(n)
	h.data = append(h.data[:0], h.data[n:]...)
}

// reset forgets it. What was long gives its memory back.
func (h *held) reset() {
	h.room.give(len(h.data))
	h.data, h.lost = h.data[:0], false
	if cap(h.data) > 1<<20 {
		h.data = nil
	}
}

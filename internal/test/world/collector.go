package world

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"sync"
)

// Collector is a collector of OpenTelemetry for a test. It writes a line for each span
// that it gets to a file, with what that lies in.
type Collector struct {
	name string
	mu   sync.Mutex
	all  []collected
	of   map[string]string // names, by id
}

// NewCollector gives a collector that writes to a file of that name.
func NewCollector(name string) *Collector { return &Collector{name: name, of: map[string]string{}} }

type collected struct{ SpanID, ParentSpanID, Name string }

// ServeHTTP takes spans.
func (f *Collector) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	var form struct {
		ResourceSpans []struct{ ScopeSpans []struct{ Spans []collected } }
	}
	_ = json.NewDecoder(r.Body).Decode(&form) // what is missing is missed
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, of := range form.ResourceSpans {
		for _, scope := range of.ScopeSpans {
			f.all = append(f.all, scope.Spans...)
		}
	}
	text := ""
	for _, s := range f.all {
		f.of[s.SpanID] = s.Name
	}
	for _, s := range f.all {
		text += fmt.Sprintf("%s <%s\n", s.Name, f.of[s.ParentSpanID])
	}
	_ = os.WriteFile(f.name, []byte(text), 0o644)
}

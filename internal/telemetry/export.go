package telemetry

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/environ"
)

// exporter posts spans to a collector, in the JSON form of OTLP over HTTP, beside the work. The
// official exporter brings gRPC and protobuf along, and with them more than a quarter of this
// program again.
type exporter struct {
	settings
	client http.Client
	mask   func(string) string
	trace  string   // the id of that in which spans begin
	ended  []object // spans that are not sent yet

	batches chan []object
	cancel  context.CancelFunc
	failed  chan error // has one, once all is sent: why something could not be, the first time
}

// mostWaiting is how many batches of spans wait for a collector. What comes then is lost.
const mostWaiting = 100

func newExporter(ctx context.Context, s settings, mask func(string) string) *exporter {
	e := &exporter{settings: s, mask: mask, batches: make(chan []object, mostWaiting), failed: make(chan error, 1), client: http.Client{
		Timeout:       s.timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // the headers are for this host
	}}
	ctx, e.cancel = context.WithCancel(ctx)
	go func() {
		var failed error
		for spans := range e.batches {
			failed = cmp.Or(failed, e.post(ctx, spans))
		}
		e.failed <- failed
	}()
	return e
}

// flush has the spans sent that have ended. Nothing waits for that.
func (e *exporter) flush() {
	if len(e.ended) == 0 {
		return
	}
	select {
	case e.batches <- e.ended:
	default:
	}
	e.ended = nil
}

// close waits some seconds for what is to be sent, and gives why something could not be.
func (e *exporter) close() error {
	close(e.batches)
	defer time.AfterFunc(min(3*time.Second, e.timeout), e.cancel).Stop()
	return <-e.failed
}

func (e *exporter) post(ctx context.Context, spans []object) error {
	scope := object{"scope": object{"name": "github.com/reprise-ci/reprise", "version": environ.Version}, "spans": spans}
	of := object{"resource": object{"attributes": e.attributes(e.resource)}, "scopeSpans": []object{scope}}
	body, err := json.Marshal(object{"resourceSpans": []object{of}})
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.endpoint, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header = e.headers.Clone()
	req.Header.Set("Content-Type", "application/json")
	resp, err := e.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	said, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10)) // what was taken is taken
	if resp.StatusCode/100 != 2 {
		return fmt.Errorf("it answers %s", resp.Status)
	}
	var answer struct {
		PartialSuccess struct {
			RejectedSpans json.Number
			ErrorMessage  string
		}
	}
	if json.Unmarshal(said, &answer) == nil && answer.PartialSuccess.ErrorMessage != "" {
		return errors.New("it has refused spans: " + answer.PartialSuccess.ErrorMessage)
	}
	return nil
}

// object is a part of a request. Numbers of 64 bits are text in it, and ids are hexadecimal.
type object map[string]any

// span is something that takes time.
type span struct {
	*exporter
	form               object
	attributes, events []object
}

// start begins a span in another one, or with nil the first of a trace.
func (e *exporter) start(in *span, name string, at time.Time, about ...any) *span {
	id := make([]byte, 8)
	_, _ = rand.Read(id) // it never fails
	s := &span{exporter: e, events: []object{}, form: object{
		"traceId": e.trace, "spanId": hex.EncodeToString(id), "name": e.mask(name), "startTimeUnixNano": nanos(at), "status": object{},
		"kind": 1, // internal
	}}
	if in != nil {
		s.form["parentSpanId"] = in.form["spanId"]
	}
	s.set(about...)
	return s
}

// set adds attributes, in pairs of a name and a value.
func (s *span) set(about ...any) {
	s.attributes = append(s.attributes, s.exporter.attributes(about)...)
}

// event adds what has happened at a time.
func (s *span) event(name string, at time.Time, about ...any) {
	s.events = append(s.events, object{"timeUnixNano": nanos(at), "name": s.mask(name), "attributes": s.exporter.attributes(about)})
}

// fail says that it did not come to a good end.
func (s *span) fail(why string) { s.form["status"] = object{"code": 2, "message": s.mask(why)} }

// end has it sent with the next batch.
func (s *span) end(at time.Time) {
	s.form["endTimeUnixNano"], s.form["attributes"], s.form["events"] = nanos(at), s.attributes, s.events
	s.ended = append(s.ended, s.form)
}

func nanos(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }

// attributes gives pairs of a name and a value, but for those without a value.
func (e *exporter) attributes(about []any) []object {
	out := []object{}
	for pair := range slices.Chunk(about, 2) {
		value := object{"stringValue": e.mask(fmt.Sprint(pair[1]))}
		switch v := pair[1].(type) {
		case bool:
			value = object{"boolValue": v}
		case int, int64:
			value = object{"intValue": fmt.Sprint(v)}
		case float64:
			value = object{"doubleValue": v}
		}
		if value["stringValue"] != "" {
			out = append(out, object{"key": pair[0], "value": value})
		}
	}
	return out
}

// settings are what the variables of OpenTelemetry say.
type settings struct {
	endpoint string // to which traces are posted; empty: nowhere
	headers  http.Header
	timeout  time.Duration // of one request
	resource []any         // pairs of a name and a value
}

// settingsOf reads the variables, whose names and forms OpenTelemetry defines.
func settingsOf(getenv func(string) string, version string) (s settings, err error) {
	traces := func(name string) string {
		return cmp.Or(getenv("OTEL_EXPORTER_OTLP_TRACES_"+name), getenv("OTEL_EXPORTER_OTLP_"+name))
	}
	s.endpoint = getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
	if base := getenv("OTEL_EXPORTER_OTLP_ENDPOINT"); s.endpoint == "" && base != "" {
		s.endpoint = strings.TrimSuffix(base, "/") + "/v1/traces"
	}
	if s.endpoint == "" || strings.EqualFold(getenv("OTEL_SDK_DISABLED"), "true") || getenv("OTEL_TRACES_EXPORTER") == "none" {
		return settings{}, nil
	}
	if u, err := url.Parse(s.endpoint); err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return settings{}, fmt.Errorf("the endpoint for traces is no http or https address: %q", s.endpoint)
	}
	if traces("PROTOCOL") == "grpc" {
		return settings{}, fmt.Errorf("traces are sent over HTTP as JSON, and not by grpc: name the endpoint for HTTP, which is usually on port 4318, and set OTEL_EXPORTER_OTLP_PROTOCOL=http/json")
	}
	s.timeout = 10 * time.Second
	if given := traces("TIMEOUT"); given != "" {
		ms, err := strconv.Atoi(given)
		if err != nil || ms <= 0 {
			return settings{}, fmt.Errorf("OTEL_EXPORTER_OTLP_TIMEOUT is no number of milliseconds: %q", given)
		}
		s.timeout = time.Duration(ms) * time.Millisecond
	}
	headers, err := pairs("OTEL_EXPORTER_OTLP_HEADERS", traces("HEADERS"))
	if err != nil {
		return settings{}, err
	}
	s.headers = http.Header{}
	for name, value := range headers {
		s.headers.Set(name, value)
	}
	about, err := pairs("OTEL_RESOURCE_ATTRIBUTES", getenv("OTEL_RESOURCE_ATTRIBUTES"))
	if err != nil {
		return settings{}, err
	}
	about["service.name"] = cmp.Or(getenv("OTEL_SERVICE_NAME"), about["service.name"], "reprise")
	about["service.version"] = cmp.Or(about["service.version"], version)
	for _, name := range slices.Sorted(maps.Keys(about)) {
		s.resource = append(s.resource, name, about[name])
	}
	return s, nil
}

// pairs reads a list such as "a=1,b=2", with what would be a sign of it as %2C. An error
// names the variable, and no value: it may be a secret.
func pairs(variable, list string) (map[string]string, error) {
	all := map[string]string{}
	for part := range strings.SplitSeq(list, ",") {
		if strings.TrimSpace(part) == "" {
			continue
		}
		name, value, ok := strings.Cut(part, "=")
		value, err := url.PathUnescape(strings.TrimSpace(value))
		if name = strings.TrimSpace(name); !ok || err != nil || name == "" {
			return nil, fmt.Errorf("%s is no list such as name=value,name=value", variable)
		}
		all[name] = value
	}
	return all, nil
}

package telemetry

import (
	"bytes"
	"cmp"
	"context"
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
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
)

// exporter posts spans to a collector, in the JSON form of OTLP over HTTP. The official
// exporter brings gRPC and protobuf along, and with them more than a quarter of this
// program again.
type exporter struct {
	settings settings
	client   http.Client
	mask     func(string) string

	mu     sync.Mutex
	failed error // the first
}

func newExporter(s settings, mask func(string) string) *exporter {
	return &exporter{settings: s, mask: mask, client: http.Client{
		Timeout:       s.timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // the headers are for this host
	}}
}

// ExportSpans posts spans. What cannot be sent is lost: nothing waits for a collector.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	if len(spans) == 0 {
		return nil
	}
	err := e.post(ctx, spans)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.failed = cmp.Or(e.failed, err)
	return err
}

// Shutdown does nothing: nothing is kept.
func (e *exporter) Shutdown(context.Context) error { return nil }

// failure is why something could not be sent, the first time; nil if all was.
func (e *exporter) failure() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.failed
}

func (e *exporter) post(ctx context.Context, spans []sdk.ReadOnlySpan) error {
	body, err := json.Marshal(e.form(spans))
	if err != nil {
		return err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.settings.endpoint, bytes.NewReader(body))
	if err != nil {
		return err
	}
	req.Header = e.settings.headers.Clone()
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

// form gives spans in the form of a request. All of this process have one resource and
// one scope.
func (e *exporter) form(spans []sdk.ReadOnlySpan) object {
	var list []object
	for _, s := range spans {
		status := object{}
		switch s.Status().Code { // these the SDK and OTLP count differently
		case codes.Ok:
			status["code"] = 1
		case codes.Error:
			status["code"], status["message"] = 2, e.mask(s.Status().Description)
		}
		events := []object{}
		for _, v := range s.Events() {
			events = append(events, object{"timeUnixNano": nanos(v.Time), "name": e.mask(v.Name), "attributes": e.attributes(v.Attributes)})
		}
		one := object{
			"traceId": s.SpanContext().TraceID().String(), "spanId": s.SpanContext().SpanID().String(),
			"name": e.mask(s.Name()), "kind": int(s.SpanKind()), // the SDK and OTLP count alike: 1 is internal, 3 client
			"startTimeUnixNano": nanos(s.StartTime()), "endTimeUnixNano": nanos(s.EndTime()),
			"attributes": e.attributes(s.Attributes()), "events": events, "status": status,
		}
		if s.Parent().HasSpanID() {
			one["parentSpanId"] = s.Parent().SpanID().String()
		}
		list = append(list, one)
	}
	scope := spans[0].InstrumentationScope()
	of := object{"scope": object{"name": scope.Name, "version": scope.Version}, "spans": list}
	resource := object{"attributes": e.attributes(spans[0].Resource().Attributes())}
	return object{"resourceSpans": []object{{"resource": resource, "scopeSpans": []object{of}}}}
}

func nanos(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }

func (e *exporter) attributes(all []attribute.KeyValue) []object {
	out := []object{}
	for _, a := range all {
		out = append(out, object{"key": string(a.Key), "value": e.value(a.Value)})
	}
	return out
}

// value gives a value in its form. Lists are of texts alone.
func (e *exporter) value(v attribute.Value) object {
	switch v.Type() {
	case attribute.BOOL:
		return object{"boolValue": v.AsBool()}
	case attribute.INT64:
		return object{"intValue": strconv.FormatInt(v.AsInt64(), 10)}
	case attribute.FLOAT64:
		return object{"doubleValue": v.AsFloat64()}
	case attribute.STRINGSLICE:
		values := []object{}
		for _, s := range v.AsStringSlice() {
			values = append(values, object{"stringValue": e.mask(s)})
		}
		return object{"arrayValue": object{"values": values}}
	}
	return object{"stringValue": e.mask(v.AsString())}
}

// settings are what the variables of OpenTelemetry say.
type settings struct {
	endpoint string // to which traces are posted; empty: nowhere
	headers  http.Header
	timeout  time.Duration // of one request
	resource []attribute.KeyValue
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
		s.resource = append(s.resource, attribute.String(name, about[name]))
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

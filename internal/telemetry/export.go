package telemetry

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
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
	if e.failed == nil {
		e.failed = err
	}
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

// The form of a request. Numbers of 64 bits are text in it, and ids are hexadecimal.
type (
	request struct {
		ResourceSpans []resourceSpans `json:"resourceSpans"`
	}
	resourceSpans struct {
		Resource struct {
			Attributes []keyValue `json:"attributes"`
		} `json:"resource"`
		ScopeSpans []scopeSpans `json:"scopeSpans"`
	}
	scopeSpans struct {
		Scope struct {
			Name    string `json:"name"`
			Version string `json:"version,omitempty"`
		} `json:"scope"`
		Spans []spanForm `json:"spans"`
	}
	spanForm struct {
		TraceID    string      `json:"traceId"`
		SpanID     string      `json:"spanId"`
		Parent     string      `json:"parentSpanId,omitempty"`
		Name       string      `json:"name"`
		Kind       int         `json:"kind"`
		Start      string      `json:"startTimeUnixNano"`
		End        string      `json:"endTimeUnixNano"`
		Attributes []keyValue  `json:"attributes,omitempty"`
		Events     []eventForm `json:"events,omitempty"`
		Status     struct {
			Code    int    `json:"code,omitempty"`
			Message string `json:"message,omitempty"`
		} `json:"status"`
	}
	eventForm struct {
		Time       string     `json:"timeUnixNano"`
		Name       string     `json:"name"`
		Attributes []keyValue `json:"attributes,omitempty"`
	}
	keyValue struct {
		Key   string         `json:"key"`
		Value map[string]any `json:"value"`
	}
)

// form gives spans in the form of a request. All of this process have one resource and
// one scope.
func (e *exporter) form(spans []sdk.ReadOnlySpan) request {
	var of resourceSpans
	of.Resource.Attributes = e.attributes(spans[0].Resource().Attributes())
	of.ScopeSpans = make([]scopeSpans, 1)
	scope := &of.ScopeSpans[0]
	scope.Scope.Name, scope.Scope.Version = spans[0].InstrumentationScope().Name, spans[0].InstrumentationScope().Version
	for _, s := range spans {
		one := spanForm{
			TraceID: s.SpanContext().TraceID().String(), SpanID: s.SpanContext().SpanID().String(),
			Name: e.mask(s.Name()), Kind: int(s.SpanKind()), // the SDK and OTLP count alike: 1 is internal, 3 client
			Start: nanos(s.StartTime()), End: nanos(s.EndTime()), Attributes: e.attributes(s.Attributes()),
		}
		if s.Parent().HasSpanID() {
			one.Parent = s.Parent().SpanID().String()
		}
		for _, v := range s.Events() {
			one.Events = append(one.Events, eventForm{nanos(v.Time), e.mask(v.Name), e.attributes(v.Attributes)})
		}
		switch s.Status().Code { // these the SDK and OTLP count differently
		case codes.Ok:
			one.Status.Code = 1
		case codes.Error:
			one.Status.Code, one.Status.Message = 2, e.mask(s.Status().Description)
		}
		scope.Spans = append(scope.Spans, one)
	}
	return request{[]resourceSpans{of}}
}

func nanos(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }

func (e *exporter) attributes(all []attribute.KeyValue) (out []keyValue) {
	for _, a := range all {
		out = append(out, keyValue{string(a.Key), e.value(a.Value)})
	}
	return out
}

// value gives a value in its form. Lists are of texts alone.
func (e *exporter) value(v attribute.Value) map[string]any {
	switch v.Type() {
	case attribute.BOOL:
		return map[string]any{"boolValue": v.AsBool()}
	case attribute.INT64:
		return map[string]any{"intValue": strconv.FormatInt(v.AsInt64(), 10)}
	case attribute.FLOAT64:
		return map[string]any{"doubleValue": v.AsFloat64()}
	case attribute.STRINGSLICE:
		values := []map[string]any{}
		for _, s := range v.AsStringSlice() {
			values = append(values, map[string]any{"stringValue": e.mask(s)})
		}
		return map[string]any{"arrayValue": map[string]any{"values": values}}
	}
	return map[string]any{"stringValue": e.mask(v.AsString())}
}

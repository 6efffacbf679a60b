package telemetry

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.opentelemetry.io/otel/attribute"
)

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

package environ

import (
	"strings"
	"testing"
)

func TestOutputIsMaskedByLine(t *testing.T) {
	var out, errs strings.Builder
	env, flush := Env{Stdout: &out, Stderr: &errs, Environ: []string{"A_TOKEN=0123456789abcdef", "PASSWORD=fedcba98", "SHORT_KEY=abc", "MONKEY=banana-banana", "EMPTY_TOKEN=", "OTEL_EXPORTER_OTLP_HEADERS=x=1,api-key=otel-key-123", "HTTPS_PROXY=me:swordfish1@proxy.test:3128"}}.Masked()
	for _, part := range []string{"one 01234567", "89abcdef\ntwo fedc", "ba98 banana-banana otel-key-123 swordfish1"} {
		if _, err := env.Stdout.Write([]byte(part)); err != nil {
			t.Fatal(err)
		}
	}
	if got := out.String(); got != "one [A_TOKEN]\n" {
		t.Errorf("before the end: %q", got)
	}
	if _, err := env.Stderr.Write([]byte(strings.Repeat("x", maxLine+1))); err != nil || errs.Len() == 0 {
		t.Errorf("a line without an end is kept for ever (%v)", err)
	}
	flush()
	if got := out.String(); got != "one [A_TOKEN]\ntwo [PASSWORD] banana-banana [OTEL_EXPORTER_OTLP_HEADERS] [HTTPS_PROXY]" {
		t.Errorf("at the end: %q", got)
	}
	if got := env.TooShort(); !strings.HasPrefix(got, "SHORT_KEY: shorter than 8") {
		t.Errorf("too short: %q", got)
	}
}

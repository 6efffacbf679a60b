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

// What a variable holds is secret by its name, as a part of an address, or as nobody chooses such a value.
func TestSecretsOfTheEnvironment(t *testing.T) {
	for _, tt := range []struct{ variable, want string }{
		{"ANTHROPIC_API_KEY=12345678", "12345678"},
		{"APIKEY=12345678", "12345678"},
		{"npm_config__authtoken=12345678", "12345678"},
		{"SIGNING_PASSPHRASE=correct horse", "correct horse"},
		{"DB_PWD=12345678", "12345678"},
		{"GOOGLE_CREDENTIALS={\"a\": 1}", "{\"a\": 1}"},
		{"GOOGLE_APPLICATION_CREDENTIALS=/home/me/key.json", ""},
		{"DATABASE_URL=postgres://me:123456789012@db.example/x", "123456789012"},
		{"DATABASE_URL=postgres://postgres:postgres@localhost/test", ""},
		{"https_proxy=me:12345678@proxy.example:3128", "12345678"},
		{"MY_LOGIN=q7Xk2PzB9mT4vR1sW8yLcD5n", "q7Xk2PzB9mT4vR1sW8yLcD5n"},
		{"AWS_LOGIN=b7Jq2rXU5nFe/K7mD3NGbPx+fiC9Ek4AMzLw81aT", "b7Jq2rXU5nFe/K7mD3NGbPx+fiC9Ek4AMzLw81aT"},
		{"PATH=/usr/local/bin:/usr/bin:/bin:/opt/X11/Bin2", ""},
		{"PWD=/home/me/Work2", ""},
		{"HOSTNAME=Runner-Pool-7-EuropeWest1-Production", ""},
		{"CI_COMMIT_SHA=0f3c1d5e7a9b2c4d6e8f0a1b2c3d4e5f60718293", ""},
		{"SESSION_ID=6F9619FF-8B86-D011-B42D-00C04FC964FF", ""},
		{"ImageVersion=20260928.1.0-Ubuntu2404-LTS-x64", ""},
		{"GITHUB_REF_NAME=q7Xk2PzB9mT4vR1sW8yLcD5n", ""},
		{"npm_package_integrity=sha512-q7Xk2PzB9mT4vR1sW8yLcD5n==", ""},
		{"LANG=en_US.UTF-8", ""},
	} {
		var got []string
		for _, s := range (Env{Environ: []string{tt.variable}}).Secrets() {
			got = append(got, s.Value)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%s: %q is secret, want %q", tt.variable, got, tt.want)
		}
	}
}

package inbox

import (
	"bytes"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/environ"
)

// The runner is told of each secret of the job, line by line, before commands are switched off: it
// then hides them in the log of all later steps as well.
func TestSecretsOfAJobAreMasked(t *testing.T) {
	var out bytes.Buffer
	j, _, err := Begin(environ.Env{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Environ: []string{
		"INPUT_GITHUB_TOKEN=ghs_0123456789abcdef", "ANTHROPIC_API_KEY=sk-ant-0123456789", "SIGNING_KEY=first line 01234\n  second line 56789\nshort\n",
		"OPENAI_API_KEY=sk-ant-0123456789", "LITTLE_KEY=abc", "INPUT_PIPELINE=no-secret-at-all", "https_proxy=http://ada:password-of-proxy@proxy.example:8080",
	}})
	if err != nil {
		t.Fatal(err)
	}
	if err := j.Log.Close(); err != nil {
		t.Fatal(err)
	}
	before, _, stopped := strings.Cut(out.String(), "::stop-commands::")
	want := "::add-mask::ghs_0123456789abcdef\n::add-mask::sk-ant-0123456789\n::add-mask::first line 01234\n::add-mask::second line 56789\n::add-mask::password-of-proxy\n"
	if !stopped || before != want {
		t.Errorf("the job begins with\n%s\nwant\n%s", out.String(), want)
	}
}

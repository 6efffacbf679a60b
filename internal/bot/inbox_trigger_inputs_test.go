package bot

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/phases/engine"
)

// The runner is told of each secret of the job, line by line, before commands are switched off: it
// then hides them in the log of all later steps as well.
func TestSecretsOfAJobAreMasked(t *testing.T) {
	var out bytes.Buffer
	j, _, err := begin(environ.Env{Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out, Environ: []string{
		"INPUT_GITHUB_TOKEN=ghs_0123456789abcdef", "ANTHROPIC_API_KEY=sk-ant-0123456789", "SIGNING_KEY=first line 01234\n  second line 56789\nshort\n",
		"OPENAI_API_KEY=sk-ant-0123456789", "LITTLE_KEY=abc", "INPUT_PIPELINE=no-secret-at-all", "https_proxy=http://ada:password-of-proxy@proxy.example:8080",
	}})
	testenv.Must(t, err)
	testenv.Must(t, j.Log.Close())
	before, _, stopped := strings.Cut(out.String(), "::stop-commands::")
	want := "::add-mask::ghs_0123456789abcdef\n::add-mask::sk-ant-0123456789\n::add-mask::first line 01234\n::add-mask::second line 56789\n::add-mask::password-of-proxy\n"
	if !stopped || before != want {
		t.Errorf("the job begins with\n%s\nwant\n%s", out.String(), want)
	}
}

// A job stops before the token of an app ends, and its own token lasts as long as it does.
func TestTheTokenOfAnAppEnds(t *testing.T) {
	for name, tt := range map[string]struct {
		token, own, timeout string
		want                time.Duration // 0: never
		cause               error
	}{
		"an app's":               {"ghs_x", "false", "", 50 * time.Minute, engine.ErrTokenUp},
		"an app's, less is set":  {"ghs_x", "false", "20m", 20 * time.Minute, engine.ErrTimeUp},
		"an app's, more is set":  {"ghs_x", "false", "2h", 50 * time.Minute, engine.ErrTokenUp},
		"the job's":              {"ghs_x", "true", "", 0, nil},
		"not known":              {"ghs_x", "", "2h", 2 * time.Hour, engine.ErrTimeUp},
		"a person's":             {"github_pat_x", "false", "", 0, nil},
		"the job's, time is set": {"ghs_x", "true", "20m", 20 * time.Minute, engine.ErrTimeUp},
	} {
		synctest.Test(t, func(t *testing.T) {
			in, err := readInputs(environ.NewJob(environ.Env{Stdout: io.Discard, Stderr: io.Discard, Environ: []string{"INPUT_GITHUB_TOKEN=" + tt.token, "INPUT_OWN_TOKEN=" + tt.own, "INPUT_TIMEOUT=" + tt.timeout}}))
			testenv.Must(t, err)
			ctx, stop := in.within(t.Context())
			defer stop()
			began := time.Now()
			if _, ends := ctx.Deadline(); ends != (tt.want > 0) {
				t.Fatalf("%s: it ends: %v", name, ends)
			} else if !ends {
				return
			}
			<-ctx.Done()
			if took := time.Since(began); took != tt.want || context.Cause(ctx) != tt.cause {
				t.Errorf("%s: after %v, %v", name, took, context.Cause(ctx))
			}
		})
	}
}

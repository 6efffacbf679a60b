package agents

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

func TestGeminiFaults(t *testing.T) {
	for message, want := range map[string]metadata.Class{
		`[API Error: {"error":{"code":400,"status":"INVALID_ARGUMENT","message":"bad","details":[{"reason":"API_KEY_INVALID"}]}}]`: metadata.Auth,
		`[API Error: {"error":{"code":429,"status":"RESOURCE_EXHAUSTED"}}]`:                                                        metadata.RateLimited,

		`[API Error: {"error":{"code":503}}]`: metadata.Network,
		`[API Error: the word 401 in a text]`: metadata.Crash,
		`} {`:                                 metadata.Crash,
	} {
		if got := newCLI("gemini", pipelines.Agent{}, Options{}).told(message, errors.New(refusalIn(message))).Class; got != want {
			t.Errorf("%s: %s, want %s", message, got, want)
		}
	}
}

func TestChecks(t *testing.T) {
	t.Parallel() // most of it is waiting
	b := newBench(t)
	b.opts.Environ = append(b.opts.Environ, "GITHUB_TOKEN="+canary, "ANTHROPIC_API_KEY="+canary)
	for _, tt := range []struct {
		run    string
		pass   bool
		code   int
		output string
	}{
		{run: "echo out; echo err >&2; ls main.go", pass: true, output: "out\nerr\nmain.go\n"},
		{run: "echo no; exit 3", code: 3, output: "no\n"},
		{run: "kill -9 $$", code: -1},
		{run: "env | grep canary; sleep 300 & true", pass: true},
		{run: "printf 'a%.0s' $(seq 9000); echo; echo end; exit 1", code: 1, output: strings.Repeat("a", 600) + "\n[5155 bytes left out]\n" + strings.Repeat("a", 3245) + "\nend\n"},
	} {
		r, err := b.opts.Check(t.Context(), b.dir, pipelines.Check{Name: "unit", Run: tt.run})
		r.Output = strings.TrimPrefix(r.Output, "\n")
		want := metadata.CheckResult{Name: "unit", Run: tt.run, Pass: tt.pass, ExitCode: tt.code, Output: tt.output, DurationMS: r.DurationMS}
		if diff := cmp.Diff(want, r); diff != "" || err != nil {
			t.Errorf("error %v, result (-want +got):\n%s", err, diff)
		}
	}
	for timeout := time.Second; ; timeout *= 4 { // a busy machine begins late
		check := pipelines.Check{Name: "unit", Run: "echo start; sleep 300", Timeout: pipelines.Duration(timeout)}
		r, err := b.opts.Check(t.Context(), b.dir, check)
		if want := fmt.Sprintf("start\n\nreprise: it took longer than its %v and was ended\n", timeout); err == nil && !r.Pass && r.ExitCode == -1 && r.Output == want {
			break
		}
		if timeout > time.Minute {
			t.Fatalf("error %v, result %+v", err, r)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := b.opts.Check(ctx, b.dir, pipelines.Check{Name: "unit", Run: "sleep 60"}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("error %v, want that there was no time left", err)
	}
}

package agents

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/gate"
	"github.com/reprise-ci/reprise/internal/sandbox"
	"github.com/reprise-ci/reprise/internal/test/cloudtest"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
)

// What a call may ask are the models of its agent and of its step; a list of the
// pipeline adds to them, and says that there are no others.
func TestModelsOfACall(t *testing.T) {
	agent := pipelines.Agent{Use: "claude", Models: map[string]string{"heavy": "opus", "light": "haiku"}}
	for name, tt := range map[string]struct {
		task  engine.Task
		want  []string
		exact bool
	}{
		"nothing is named": {engine.Task{}, nil, false},
		"a model":          {engine.Task{Model: "sonnet"}, []string{"haiku", "opus", "sonnet"}, false},
		"a list":           {engine.Task{Model: "sonnet", Models: []string{"x"}}, []string{"haiku", "opus", "sonnet", "x"}, true},
		"an empty list":    {engine.Task{Model: "sonnet", Models: []string{}}, []string{"haiku", "opus", "sonnet"}, true},
		"a list alone":     {engine.Task{Models: []string{"x"}}, []string{"haiku", "opus", "x"}, true},
	} {
		way := wayOf(newCLI("claude", agent, Options{}), &Call{Task: tt.task, Call: sandbox.Call{User: t.TempDir()}})
		slices.Sort(way.Models)
		if diff := cmp.Diff(tt.want, way.Models); diff != "" || way.Exact != tt.exact {
			t.Errorf("%s: exact %v (-want +got):\n%s", name, way.Exact, diff)
		}
	}
}

// The identity of a job becomes a key of Claude's, and the program sees neither. One that is not taken is told of
// before the program is started.
func TestKeyOfAJob(t *testing.T) {
	refuses, models := false, []string{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.URL.Path == "/identity":
			fmt.Fprint(w, `{"value":"identity-`+canary+`"}`)
		case r.URL.Path == "/v1/oauth/token" && refuses:
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"error":"invalid_grant"}`)
		case r.URL.Path == "/v1/oauth/token":
			fmt.Fprint(w, `{"access_token":"short-`+canary+`","expires_in":600}`)
		default:
			models = append(models, r.Header.Get("Authorization"))
			fmt.Fprint(w, `{"type":"message","model":"m","content":[],"usage":{"input_tokens":1,"output_tokens":1}}`)
		}
	}))
	t.Cleanup(s.Close)
	b := newBench(t)
	b.install("claude", "ask by a token")
	b.opts.Environ = append(b.opts.Environ, "ANTHROPIC_FEDERATION_RULE_ID=fdrl_1", "ANTHROPIC_ORGANIZATION_ID=o", "ANTHROPIC_BASE_URL="+s.URL,
		"ACTIONS_ID_TOKEN_REQUEST_URL="+s.URL+"/identity", "ACTIONS_ID_TOKEN_REQUEST_TOKEN="+canary)
	var learned []string
	b.opts.Learn = func(_ string, secrets []string) { learned = append(learned, secrets...) }
	r, fault := b.run("claude")
	if fault != nil || !slices.Equal(models, []string{"Bearer short-" + canary}) || !slices.Contains(learned, "short-"+canary) {
		t.Errorf("%v, models were asked with %q, secrets are %q", fault, models, learned)
	}
	if !strings.Contains(r.Text, "ANTHROPIC_AUTH_TOKEN=reprise-") || strings.Contains(r.Text, canary) || strings.Contains(r.Text, "ACTIONS_") || strings.Contains(r.Text, "fdrl_1") {
		t.Errorf("the program has %s", r.Text)
	}
	if err := Probe("claude", pipelines.Agent{Use: "claude"}, b.dir, b.opts); err != nil {
		t.Error(err)
	}
	refuses = true
	want := "the identity of the job is not taken for a key: " + strings.TrimPrefix(s.URL, "http://") + " answers with 401: invalid_grant"
	_, fault = b.run("claude")
	if err := Probe("claude", pipelines.Agent{Use: "claude"}, b.dir, b.opts); fault == nil || fault.Class != metadata.Auth || !strings.Contains(fault.Error(), want) || !strings.Contains(err.Error(), want) || len(models) != 1 {
		t.Errorf("the call: %v; before it: %v", fault, err)
	}
}

// A key of a cloud is made before the program is started, and what is wrong with its settings is told then.
func TestKeyOfAJobInACloud(t *testing.T) {
	s := cloudtest.Start("http://127.0.0.1:1")
	t.Cleanup(s.Close)
	b := newBench(t)
	b.install("claude", "say nothing")
	bare := b.opts.Environ
	for lacking, env := range map[string][]string{"AWS_REGION": s.Bedrock(), "CLOUD_ML_REGION": s.Vertex()} {
		b.opts.Environ = append(slices.Clone(bare), env...)
		if err := Probe("claude", pipelines.Agent{Use: "claude"}, b.dir, b.opts); err != nil {
			t.Error(err)
		}
		b.opts.Environ = cloudtest.With(b.opts.Environ, lacking, "")
		want := " is set without " + lacking + ": set both"
		_, fault := b.run("claude")
		if err := Probe("claude", pipelines.Agent{Use: "claude"}, b.dir, b.opts); err == nil || !strings.Contains(err.Error(), want) || fault == nil || fault.Class != metadata.Auth || !strings.Contains(fault.Error(), want) {
			t.Errorf("before the call: %v; the call: %v", err, fault)
		}
	}
}

// What the service has answered last explains a failure for which the program has no
// class of its own, as Claude Code has none for a service that was full three times.
func TestWhatTheServiceAnswered(t *testing.T) {
	c := newCLI("claude", pipelines.Agent{Use: "claude"}, Options{})
	full := &gate.Trouble{Status: 529, RetryAfter: time.Minute, Ends: true}
	for name, tt := range map[string]struct {
		said  said
		heard *gate.Trouble
		want  metadata.Class
		after time.Duration
	}{
		"it ended without a result":   {said{}, full, metadata.RateLimited, time.Minute},
		"it failed and says not why":  {said{failed: c.fail(metadata.Crash, errors.New("API Error"))}, full, metadata.RateLimited, time.Minute},
		"it takes it for the network": {said{failed: c.fail(metadata.Network, errors.New("API Error"))}, full, metadata.RateLimited, time.Minute},
		"it says why":                 {said{failed: c.fail(metadata.Auth, errors.New("no key"))}, full, metadata.Auth, 0},
		"its session is gone":         {said{failed: c.gone("s")}, full, metadata.Session, 0},
		"the service has answered":    {said{failed: c.fail(metadata.Crash, errors.New("oh"))}, nil, metadata.Crash, 0},
		"it has a result":             {said{done: true}, full, "", 0},
	} {
		tt.said.hear(c, tt.heard)
		switch failed := tt.said.failed; {
		case failed == nil && tt.want != "", failed != nil && (failed.Class != tt.want || failed.RetryAfter != tt.after):
			t.Errorf("%s: %+v, want %s after %v", name, failed, tt.want, tt.after)
		}
	}
}

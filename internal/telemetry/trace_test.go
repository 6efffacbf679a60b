package telemetry

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/agents"
	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
)

func TestMain(m *testing.M) {
	testenv.Main(m)
}

// collector takes spans as a collector does, in the JSON form of OTLP.
type collector struct {
	*httptest.Server
	mu     sync.Mutex
	spans  []map[string]any
	about  map[string]string
	bodies string
	header http.Header
	path   string
	answer func(http.ResponseWriter)
}

func newCollector(t *testing.T) *collector {
	c := &collector{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		var form struct {
			ResourceSpans []struct {
				Resource   struct{ Attributes []attr }
				ScopeSpans []struct{ Spans []map[string]any }
			}
		}
		if err := json.Unmarshal(body, &form); err != nil {
			t.Errorf("a request is no JSON: %v", err)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.header, c.path, c.bodies = r.Header, r.URL.Path, c.bodies+string(body)
		for _, of := range form.ResourceSpans {
			c.about = texts(of.Resource.Attributes)
			for _, s := range of.ScopeSpans {
				c.spans = append(c.spans, s.Spans...)
			}
		}
		if c.answer != nil {
			c.answer(w)
			return
		}
		_, _ = w.Write([]byte(`{"partialSuccess":{}}`))
	}))
	t.Cleanup(c.Close)
	return c
}

type attr struct {
	Key   string
	Value map[string]any
}

func texts(all []attr) map[string]string {
	out := map[string]string{}
	for _, a := range all {
		for _, v := range a.Value {
			text, _ := v.(string)
			if n, is := v.(float64); is {
				text = strings.TrimRight(strings.TrimRight(json.Number(jsonOf(n)).String(), "0"), ".")
			}
			if b, is := v.(bool); is {
				text = jsonOf(b)
			}
			out[a.Key] = text
		}
	}
	return out
}

func jsonOf(v any) string { data, _ := json.Marshal(v); return string(data) }

// named gives the spans by name, with the name of what each lies in as ".in" and its
// attributes.
func (c *collector) named(t *testing.T) map[string]map[string]string {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	names := map[string]string{}
	for _, s := range c.spans {
		names[s["spanId"].(string)] = s["name"].(string)
	}
	out := map[string]map[string]string{}
	for _, s := range c.spans {
		var all []attr
		testenv.Must(t, json.Unmarshal([]byte(jsonOf(s["attributes"])), &all))
		of := texts(all)
		of[".in"], of[".trace"] = "", s["traceId"].(string)
		if parent, is := s["parentSpanId"].(string); is {
			of[".in"] = names[parent]
		}
		if code, is := s["status"].(map[string]any)["code"]; is {
			of[".status"] = jsonOf(code)
		}
		from, to := s["startTimeUnixNano"].(string), s["endTimeUnixNano"].(string)
		if len(from) != 19 || len(to) != 19 || to < from {
			t.Errorf("%s lasts from %s to %s", s["name"], from, to)
		}
		out[s["name"].(string)] = of
	}
	return out
}

// env is an environment that names a collector.
func testEnv(url string, more ...string) (environ.Env, *strings.Builder) {
	said := &strings.Builder{}
	e := environ.Env{Stderr: said, Environ: append([]string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + url, "A_TOKEN=hidden-0123456789"}, more...)}
	e.SecretFinder = e.Finder()
	return e, said
}

type scripted struct{ folder string }

// Run uses two tools, as claude prints it.
func (s scripted) Run(_ context.Context, t engine.Task) (engine.Result, error) {
	keeper := agents.NewKeeper(s.folder, 0, func(s string) string { return s }, time.Now)
	return keeper.Agent("writer", "claude", printing{keeper}).Run(context.Background(), t)
}

type printing struct{ keeper *agents.Keeper }

func (p printing) Run(_ context.Context, t engine.Task) (engine.Result, error) {
	for _, line := range []string{
		`{"type":"assistant","message":{"content":[{"type":"tool_use","name":"Read","input":{"file_path":"hidden-0123456789.go"}},{"type":"tool_use","name":"Bash","input":{"command":"go test"}}]}}`,
		`{"type":"user","message":{"content":[{"type":"tool_result","content":"fine"},{"type":"tool_result","content":"no","is_error":true}]}}`,
	} {
		p.keeper.Line(t, []byte(line))
	}
	return engine.Result{Model: "opus-1", Session: "s-1", Usage: metadata.Usage{InputTokens: 10, CachedTokens: 5, OutputTokens: 7, USD: 0.25}}, nil
}

type tree struct {
	engine.BranchTree
	dir string
}

func (t tree) Dir() string { return t.dir }

type silent struct{}

func (silent) Report(engine.Event) {}

// play has a run with one step, of an agent.
func play(t *testing.T, e environ.Env) {
	t.Helper()
	playOf(t, e, "run-1")
}

// playOf is play for the run of that id.
func playOf(t *testing.T, e environ.Env, id string) {
	t.Helper()
	ctx, end := Begin(t.Context(), e)
	defer end()
	run := metadata.Run{IssueNumber: "7", IssueTitle: "hidden-0123456789", Status: metadata.Running, Pipeline: metadata.Pipeline{Name: "full"}, Execution: metadata.Execution{ID: id}, Attempts: []metadata.Attempt{{N: 1, Phase: "design", Step: metadata.Execute}}}
	eng := newEngine(t)
	Follow(ctx, eng, run)
	over := took(t, eng, "design")
	run.Status = metadata.Completed
	eng.Report.Report(engine.Event{Run: run, Of: over, Done: &phases.Outcome{
		At: time.Now(), Duration: time.Second, Status: metadata.Succeeded, Model: "opus-1", Session: "s-1",
		Usage: metadata.Usage{InputTokens: 10, CachedTokens: 5, OutputTokens: 7, USD: 0.25},
	}})
}

// newEngine is an engine with an agent that uses two tools.
func newEngine(t *testing.T) *engine.Engine {
	return &engine.Engine{
		Journal: engine.Journal{Tree: tree{dir: filepath.Join(t.TempDir(), "tree")}, Plan: &pipelines.Pipeline{
			Agents: map[string]pipelines.Agent{"writer": {Use: "claude", Models: map[string]string{"": "opus"}}}, Phases: []pipelines.Phase{{Name: "design"}},
		}},
		Report: silent{},
	}
}

// took has the agent of a phase carry out its first attempt.
func took(t *testing.T, e *engine.Engine, phase string) phases.Decision {
	t.Helper()
	if _, err := (scripted{agents.TranscriptsFolder(filepath.Dir(e.Tree.Dir()))}).Run(t.Context(), engine.Task{Attempt: 1, Phase: phase, Model: "opus"}); err != nil {
		t.Fatal(err)
	}
	return phases.Decision{Do: phases.DoExecute, Phase: phase, Agent: "writer", Why: metadata.Because("not_begun")}
}

func TestRunIsATrace(t *testing.T) {
	c := newCollector(t)
	e, said := testEnv(c.URL, "OTEL_EXPORTER_OTLP_HEADERS=api-key=se%2Ccret-value,x=1", "OTEL_RESOURCE_ATTRIBUTES=team=a%20b,service.name=other", "OTEL_SERVICE_NAME=mine")
	play(t, e)
	if said.Len() > 0 {
		t.Errorf("said %q", said)
	}
	spans := c.named(t)
	in := map[string]string{}
	for name, s := range spans {
		in[name] = s[".in"]
		if s[".trace"] != spans["run full"][".trace"] {
			t.Errorf("%s is in another trace", name)
		}
	}
	want := map[string]string{
		"run full": "", "phase design": "run full", "design execute": "phase design",
		"invoke_agent writer": "design execute", "execute_tool Read": "invoke_agent writer", "execute_tool Bash": "invoke_agent writer",
	}
	if diff := cmp.Diff(want, in); diff != "" {
		t.Errorf("what lies in what (-want +got):\n%s", diff)
	}
	call := spans["invoke_agent writer"]
	for name, want := range map[string]string{
		"gen_ai.operation.name": "invoke_agent", "gen_ai.provider.name": "anthropic", "gen_ai.request.model": "opus", "gen_ai.response.model": "opus-1",
		"gen_ai.usage.input_tokens": "15", "gen_ai.usage.output_tokens": "7", "gen_ai.conversation.id": "s-1", "reprise.cost.usd": "0.25",
	} {
		if call[name] != want {
			t.Errorf("%s is %q, want %q", name, call[name], want)
		}
	}
	for name, want := range map[string]string{"execute_tool Read": "", "execute_tool Bash": "2", "design execute": ""} {
		if got := spans[name][".status"]; got != want {
			t.Errorf("the status of %s is %q, want %q", name, got, want)
		}
	}
	if spans["run full"]["reprise.status"] != "completed" || spans["run full"]["reprise.issue"] != "7" {
		t.Errorf("the run: %v", spans["run full"])
	}
	if strings.Contains(c.bodies, "hidden-0123456789") || !strings.Contains(c.bodies, "[A_TOKEN]") {
		t.Errorf("a secret is not masked:\n%s", c.bodies)
	}
	if c.path != "/v1/traces" || c.header.Get("Api-Key") != "se,cret-value" || c.header.Get("X") != "1" || c.header.Get("Content-Type") != "application/json" {
		t.Errorf("the request went to %s with %v", c.path, c.header)
	}
	if c.about["service.name"] != "mine" || c.about["team"] != "a b" || c.about["service.version"] == "" {
		t.Errorf("about the service: %v", c.about)
	}
}

// TestPhasesAtTheSameTime has two parts at work, and checks of one that fail.
func TestPhasesAtTheSameTime(t *testing.T) {
	c := newCollector(t)
	e, _ := testEnv(c.URL)
	ctx, end := Begin(t.Context(), e)
	run := metadata.Run{Status: metadata.Running, Execution: metadata.Execution{ID: "run-1"}, Pipeline: metadata.Pipeline{Name: "full"}}
	for n, name := range []string{"t1", "t2", "t3"} {
		run.Phases = append(run.Phases, metadata.Phase{Name: name, Lane: &metadata.Lane{}, Status: metadata.PhaseInProgress})
		run.Attempts = append(run.Attempts, metadata.Attempt{N: n + 1, Phase: name, Step: metadata.Execute})
	}
	eng := newEngine(t)
	Follow(ctx, eng, run)
	over := func(phase string, do phases.Do, o phases.Outcome) {
		o.At = time.Now()
		eng.Report.Report(engine.Event{Run: run, Of: phases.Decision{Do: do, Phase: phase}, Done: &o})
	}
	over("t1", phases.DoExecute, phases.Outcome{Status: metadata.Succeeded})
	over("t2", phases.DoExecute, phases.Outcome{Status: metadata.Errored, Class: "network", Why: metadata.Because("not_begun")})
	over("t1", phases.DoCheck, phases.Outcome{Status: metadata.Succeeded, Checks: []metadata.CheckResult{{Name: "unit", ExitCode: 3}}})
	run.Phases[0].Status = metadata.PhaseCompleted
	over("t1", phases.DoReview, phases.Outcome{Status: metadata.Succeeded})
	end()
	spans, count := c.named(t), map[string]int{}
	for _, s := range c.spans {
		count[s["name"].(string)]++
	}
	for name, in := range map[string]string{"phase t1": "run full", "phase t2": "run full", "t1 execute": "phase t1", "t1 check": "phase t1", "t1 review": "phase t1", "t2 execute": "phase t2"} {
		if spans[name][".in"] != in || count[name] != 1 {
			t.Errorf("%s lies in %q, want %q, and is there %d times", name, spans[name][".in"], in, count[name])
		}
	}
	if spans["t1 execute"]["reprise.attempt"] != "1" || spans["t2 execute"][".status"] != "2" || len(count) != 7 {
		t.Errorf("attempt %q, status %q, spans %v", spans["t1 execute"]["reprise.attempt"], spans["t2 execute"][".status"], count)
	}
	if !strings.Contains(c.bodies, `"name":"check unit"`) || !strings.Contains(c.bodies, `"value":{"intValue":"3"}`) {
		t.Errorf("the check is not told: %s", c.bodies)
	}
}

// TestRunsHaveOneTraceEach has two processes work on a run, and a third one on another.
func TestRunsHaveOneTraceEach(t *testing.T) {
	c := newCollector(t)
	var traces []string
	for _, id := range []string{"run-1", "run-1", "run-2"} {
		e, _ := testEnv(c.URL)
		playOf(t, e, id)
		traces = append(traces, c.named(t)["run full"][".trace"])
	}
	if traces[0] != traces[1] || traces[1] == traces[2] || len(traces[0]) != 32 {
		t.Errorf("traces: %v", traces)
	}
}

// TestCollectorFails has collectors that are down, refuse, answer late or lead elsewhere.
func TestCollectorFails(t *testing.T) {
	elsewhere := newCollector(t)
	down := httptest.NewServer(nil)
	down.Close()
	refusing, leading, partial := newCollector(t), newCollector(t), newCollector(t)
	refusing.answer = func(w http.ResponseWriter) { w.WriteHeader(http.StatusUnauthorized) }
	leading.answer = func(w http.ResponseWriter) {
		w.Header().Set("Location", elsewhere.URL)
		w.WriteHeader(http.StatusTemporaryRedirect)
	}
	partial.answer = func(w http.ResponseWriter) {
		_, _ = w.Write([]byte(`{"partialSuccess":{"rejectedSpans":"1","errorMessage":"too\nmany"}}`))
	}
	hold := make(chan struct{})
	slow := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-hold }))
	defer slow.Close()
	defer close(hold)
	for url, want := range map[string]string{
		down.URL: "connect", refusing.URL: "401", leading.URL: "307", partial.URL: "refused spans: too many", slow.URL: "", "ftp://x": "no http or https address",
	} {
		e, said := testEnv(url)
		if url == slow.URL {
			e.Environ = append(e.Environ, "OTEL_EXPORTER_OTLP_TIMEOUT=50")
		}
		play(t, e)
		if got := said.String(); strings.Count(got, "\n") != 1 || !strings.HasPrefix(got, "reprise: ") || !strings.Contains(got, want) {
			t.Errorf("%s: said %q, want one line with %q", url, got, want)
		}
	}
	if elsewhere.bodies != "" {
		t.Error("the spans went where the collector has led them")
	}
}

func TestNothingIsSentUnasked(t *testing.T) {
	c := newCollector(t)
	for _, more := range [][]string{{"OTEL_SDK_DISABLED=true"}, {"OTEL_TRACES_EXPORTER=none"}} {
		e, said := testEnv(c.URL, more...)
		play(t, e)
		if c.bodies != "" || said.Len() > 0 {
			t.Errorf("%v: sent %q, said %q", more, c.bodies, said)
		}
	}
	ctx, end := Begin(t.Context(), environ.Env{})
	if end(); ctx != t.Context() {
		t.Error("without a collector something is followed")
	}
}

func TestSettings(t *testing.T) {
	for _, tt := range []struct{ env, endpoint, wrong string }{
		{"OTEL_EXPORTER_OTLP_ENDPOINT=http://c:4318/", "http://c:4318/v1/traces", ""},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=http://c OTEL_EXPORTER_OTLP_TRACES_ENDPOINT=https://d/x", "https://d/x", ""},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=c:4317", "", "no http or https address"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=http://c OTEL_EXPORTER_OTLP_PROTOCOL=grpc", "", "4318"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=http://c OTEL_EXPORTER_OTLP_TRACES_TIMEOUT=5s", "", "number of milliseconds"},
		{"OTEL_EXPORTER_OTLP_ENDPOINT=http://c OTEL_EXPORTER_OTLP_HEADERS=secret-and-no-more", "", "no list such as"},
	} {
		e := environ.Env{Environ: strings.Fields(tt.env)}
		s, err := settingsOf(e.Getenv, "1")
		if s.endpoint != tt.endpoint || (err == nil) != (tt.wrong == "") || err != nil && !strings.Contains(err.Error(), tt.wrong) || err != nil && strings.Contains(err.Error(), "secret-and") {
			t.Errorf("%s: %q, %v", tt.env, s.endpoint, err)
		}
	}
}

// A secret is masked before a text is cut: half of one is found by nobody.
func TestSecretAtTheCut(t *testing.T) {
	for n := mostOfText - 40; n <= mostOfText; n++ {
		c := newCollector(t)
		e, _ := testEnv(c.URL)
		ctx, end := Begin(t.Context(), e)
		Follow(ctx, newEngine(t), metadata.Run{IssueTitle: strings.Repeat("a ", n/2) + strings.Repeat("a", n%2) + " hidden-0123456789"})
		end()
		if strings.Contains(c.bodies, "hidd") {
			t.Fatalf("behind %d characters, a part of a secret is sent: %s", n, c.bodies[strings.Index(c.bodies, "hidd"):])
		}
	}
}

// What opens the collector is masked in what is said of it.
func TestCollectorsPasswordIsMasked(t *testing.T) {
	c := newCollector(t)
	c.answer = func(w http.ResponseWriter) {
		_, _ = w.Write([]byte(`{"partialSuccess": {"rejectedSpans": 1, "errorMessage": "no se,cret-value, nor key-of-bearer"}}`))
	}
	e, said := testEnv(strings.Replace(c.URL, "//", "//ada:pass-word-1@", 1), "OTEL_EXPORTER_OTLP_HEADERS=api-key=se%2Ccret-value,authorization=Bearer%20key-of-bearer")
	play(t, e)
	for _, secret := range []string{"pass-word-1", "se,cret-value", "key-of-bearer"} {
		if strings.Contains(said.String(), secret) || said.Len() == 0 {
			t.Errorf("it says %s: %s", secret, said)
		}
	}
	e, said = testEnv("ftp://ada:pass-word-1@x")
	if _, end := Begin(t.Context(), e); strings.Contains(said.String(), "pass-word-1") || said.Len() == 0 {
		t.Errorf("it says %s", said)
	} else {
		end()
	}
}

package hooks

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

// record is a run in the middle of its life.
func record() metadata.Run {
	return metadata.Run{
		IssueNumber: "7", IssueTitle: "Say hello", IssueURL: "https://github.com/o/n/issues/7", BranchName: "reprise/issue-7", Status: metadata.Running,
		CurrentPhase: "design", Execution: metadata.Execution{ID: "run"}, Phases: metadata.Phases{{Name: "design", Status: metadata.PhaseInProgress, Written: 3}},
	}
}

func TestBetween(t *testing.T) {
	before, at := record(), time.Unix(100, 0)
	done, waiting, back, again, over := record(), record(), record(), record(), record()
	done.Phases[0].Status = metadata.PhaseCompleted
	waiting.Status, waiting.Stop = metadata.Waiting, &metadata.Stop{Code: metadata.AwaitingPerson, At: at}
	back.RollbackHistory = []metadata.Rollback{{ToPhase: "design", Reason: "keep REST"}}
	again.Decisions = []metadata.Decision{{Step: "retry", Phase: "design"}, {Step: "execute"}}
	over.Status, over.Phases[0].Status = metadata.Completed, metadata.PhaseCompleted
	later := waiting.Clone()
	later.Stop.At = at.Add(time.Second)
	for name, tt := range map[string]struct {
		before, after metadata.Run
		want          []string
	}{
		"nothing":            {before, before, nil},
		"begins":             {metadata.Run{}, before, []string{"run-start-0"}},
		"phase":              {before, done, []string{"run-phase-design-0-3"}},
		"waits":              {before, waiting, []string{"run-wait-0-100000"}},
		"waits on":           {waiting, waiting, nil},
		"waits for another":  {waiting, later, []string{"run-wait-0-101000"}},
		"goes on":            {waiting, before, nil},
		"back":               {done, back, []string{"run-rollback-1"}},
		"retry":              {before, again, []string{"run-retry-1"}},
		"the last one":       {before, over, []string{"run-phase-design-0-3", "run-complete-0-0"}},
		"taken back in part": {over, before, nil},
	} {
		var got []string
		for _, e := range Between(tt.before, tt.after, prompts.Words("en")) {
			got = append(got, e.ID)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Each step of a run's life is carried out by a job of its own, which knows nothing of the
// one before. Two events never have the same id, and a job that tells of a step once more
// gives the same ids.
func TestJobsOneAfterAnother(t *testing.T) {
	at := time.Unix(100, 0)
	life := []struct {
		kinds  []string
		change func(run *metadata.Run)
	}{
		{[]string{Start}, func(*metadata.Run) {}},
		{[]string{Wait}, func(run *metadata.Run) {
			run.Status, run.Stop = metadata.Waiting, &metadata.Stop{Code: metadata.AwaitingPerson, At: at}
		}},
		{[]string{Retry}, func(run *metadata.Run) {
			run.Status, run.Stop, run.Decisions = metadata.Running, nil, append(run.Decisions, metadata.Decision{Step: Retry, Phase: "design"})
		}},
		{[]string{Fail}, func(run *metadata.Run) {
			run.Status, run.Stop = metadata.Failed, &metadata.Stop{Code: metadata.AgentFailed, At: at.Add(time.Minute)}
		}},
		{[]string{Retry}, func(run *metadata.Run) {
			run.Status, run.Stop, run.Decisions = metadata.Running, nil, append(run.Decisions, metadata.Decision{Step: Retry, Phase: "design"})
		}},
		{[]string{Phase, Complete}, func(run *metadata.Run) {
			run.Status, run.Phases[0].Status = metadata.Completed, metadata.PhaseCompleted
		}},
		{nil, func(run *metadata.Run) {
			run.Status, run.Merges = metadata.Running, append(run.Merges, metadata.Merge{})
		}},
		{[]string{Complete}, func(run *metadata.Run) { run.Status = metadata.Completed }},
		{nil, func(run *metadata.Run) {
			run.Status, run.Phases[0].Status = metadata.Running, metadata.PhaseInProgress
			run.Phases[0].Touched++
			run.Attempts = append(run.Attempts, metadata.Attempt{})
		}},
		{[]string{Phase, Complete}, func(run *metadata.Run) {
			run.Status, run.Phases[0].Status = metadata.Completed, metadata.PhaseCompleted
		}},
		{[]string{Rollback}, func(run *metadata.Run) {
			run.Status, run.RollbackHistory = metadata.Running, append(run.RollbackHistory, metadata.Rollback{ToPhase: "design"})
			run.Phases[0].Status = metadata.PhasePending
			run.Phases[0].Generation++
		}},
		{[]string{Complete}, func(run *metadata.Run) { run.Status, run.Phases[0].Status = metadata.Completed, metadata.PhaseSkipped }},
		{[]string{Rollback}, func(run *metadata.Run) {
			run.Status, run.RollbackHistory = metadata.Running, append(run.RollbackHistory, metadata.Rollback{ToPhase: "design"})
			run.Phases[0].Status = metadata.PhasePending
			run.Phases[0].Generation++
		}},
		{[]string{Phase, Complete}, func(run *metadata.Run) {
			run.Status, run.Phases[0].Status = metadata.Completed, metadata.PhaseCompleted
		}},
	}
	var known metadata.Run
	seen := map[string]bool{}
	run := record()
	for i, step := range life {
		run = run.Clone()
		step.change(&run)
		var ids [2][]string
		for job := range ids { // the second carries out the same once more, as its first try never came on the branch
			teller, warned := telling(t, pipelines.Hook{On: []string{Start, Phase, Wait, Complete, Fail, Retry, Rollback}, Run: "tell"})
			var kinds []string
			teller.Check = func(_ context.Context, dir string, _ pipelines.Check) (metadata.CheckResult, error) {
				var e Event
				data, err := os.ReadFile(filepath.Join(dir, eventFile))
				if err == nil {
					err = json.Unmarshal(data, &e)
				}
				kinds, ids[job] = append(kinds, e.Data.Kind), append(ids[job], e.ID)
				return metadata.CheckResult{Pass: true}, err
			}
			teller.Known, teller.Newest, teller.Tip = known, true, func() string { return "c" }
			teller.Begin(run)
			after := run.Clone()
			after.UpdatedAt, after.Cost.USD = at.Add(time.Duration(job)*time.Hour), float64(job)
			teller.Committed(t.Context(), after)
			if !slices.Equal(kinds, step.kinds) || len(*warned) > 0 {
				t.Errorf("step %d, job %d: told of %q, want %q; warned %q", i, job, kinds, step.kinds, *warned)
			}
		}
		if !slices.Equal(ids[0], ids[1]) {
			t.Errorf("step %d: %q, and once more %q", i, ids[0], ids[1])
		}
		for _, id := range ids[0] {
			if seen[id] {
				t.Errorf("step %d: %s was the id of another event", i, id)
			}
			seen[id] = true
		}
		known = run
	}
}

// receiver takes webhooks, and is down for the first of them.
type receiver struct {
	mu   sync.Mutex
	down int
	got  []Event
	bad  []string
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, ask *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	body, _ := io.ReadAll(ask.Body) // what is not whole has another signature
	sum := hmac.New(sha256.New, []byte("a key of ours"))
	sum.Write(body)
	var e Event
	if err := json.Unmarshal(body, &e); err != nil || ask.Header.Get(signatureHeader) != "sha256="+hex.EncodeToString(sum.Sum(nil)) ||
		ask.Header.Get(deliveryHeader) != e.ID || ask.Header.Get(eventHeader) != e.Data.Kind || !strings.HasPrefix(ask.Header.Get("Content-Type"), "application/cloudevents+json") {
		r.bad = append(r.bad, string(body))
	}
	r.got = append(r.got, e)
	if r.down--; r.down >= 0 {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
}

// telling is a teller whose warnings can be read.
func telling(t *testing.T, hooks ...pipelines.Hook) (*Teller, *[]string) {
	t.Helper()
	warned := []string{}
	return &Teller{
		Hooks: hooks, Words: prompts.Words("en"), Mask: func(s string) string { return strings.ReplaceAll(s, "hello", "[MASKED]") },
		Getenv: func(name string) string { return map[string]string{"HOOK_KEY": "a key of ours"}[name] },
		Warn:   func(said string) { warned = append(warned, said) },
		Sleep:  func(context.Context, time.Duration) error { return nil },
		Proxy:  nil,
		File:   filepath.Join(t.TempDir(), "told.json"),
	}, &warned
}

// step tells what has happened between two records.
func step(t *testing.T, teller *Teller, before, after metadata.Run, commit string) {
	t.Helper()
	teller.Known, teller.Tip = before, func() string { return commit }
	teller.Committed(t.Context(), after)
}

func TestWebhook(t *testing.T) {
	r := &receiver{down: 2}
	server := httptest.NewTLSServer(r)
	defer server.Close()
	teller, warned := telling(t, pipelines.Hook{On: []string{Start, Complete}, URL: server.URL + "/secret/path", Secret: "HOOK_KEY"})
	teller.Roots = x509.NewCertPool()
	teller.Roots.AddCert(server.Certificate())
	step(t, teller, metadata.Run{}, record(), "c1")
	if len(r.bad) > 0 || len(r.got) != 3 || r.got[0].ID != "run-start-0" || r.got[2].ID != r.got[0].ID || len(*warned) > 0 {
		t.Fatalf("got %+v, bad %q, warned %q", r.got, r.bad, *warned)
	}
	want := Event{
		Version: "1.0", ID: "run-start-0", Source: "https://github.com/o/n/issues/7", Type: "reprise.run.start", Subject: "issue 7", Content: "application/json",
		Data: Data{Kind: "start", Issue: "7", Title: "Say [MASKED]", URL: "https://github.com/o/n/issues/7", Branch: "reprise/issue-7", Status: "running", Phase: "design"},
	}
	if diff := cmp.Diff(want, r.got[2], cmp.AllowUnexported(Event{})); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	r.down = 3
	step(t, teller, metadata.Run{}, record(), "c1")
	if want := []string{`hook 1 of the pipeline was not told of "start": it answered 503`}; len(r.got) != 6 || !slices.Equal(*warned, want) {
		t.Errorf("%d were sent, warned %q", len(r.got), *warned)
	}
}

// TestWebhooksThatAreRefused never leads to another address than the one of the pipeline.
func TestWebhooksThatAreRefused(t *testing.T) {
	there := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the redirect was followed") }))
	defer there.Close()
	server := httptest.NewTLSServer(http.RedirectHandler(there.URL, http.StatusTemporaryRedirect))
	defer server.Close()
	for _, tt := range []struct {
		hook pipelines.Hook
		want string
	}{
		{pipelines.Hook{URL: server.URL}, "it answered 307"},
		{pipelines.Hook{URL: "http://example.com"}, "does not begin with https://"},
		{pipelines.Hook{URL: server.URL, Secret: "NO_KEY"}, "the variable NO_KEY, which has its secret, is not set"},
		{pipelines.Hook{URL: "https://[::ffff:a.b]/"}, "https://"},
	} {
		teller, warned := telling(t, tt.hook)
		teller.Roots = x509.NewCertPool()
		teller.Roots.AddCert(server.Certificate())
		teller.Hooks[0].On = []string{Start}
		step(t, teller, metadata.Run{}, record(), "c1")
		if len(*warned) != 1 || !strings.Contains((*warned)[0], tt.want) || strings.Contains((*warned)[0], server.URL) {
			t.Errorf("%+v: warned %q", tt.hook, *warned)
		}
	}
}

// TestPrivateHosts are reached only if the pipeline names an address, or says so.
func TestPrivateHosts(t *testing.T) {
	teller, _ := telling(t)
	for address, want := range map[string][]string{
		"https://hooks.example.com/x": nil, "https://10.0.0.7:8443/x": {"10.0.0.7:8443"}, "https://[fd00::1]/": {"[fd00::1]:443"}, "https://localhost/": {"localhost:443"},
	} {
		for _, private := range []bool{false, true} {
			ask, err := http.NewRequest(http.MethodPost, address, nil)
			if err != nil {
				t.Fatal(err)
			}
			got := teller.world(pipelines.Hook{Private: private}, ask.URL)
			if private && want == nil {
				want = []string{"hooks.example.com:443"}
			}
			if !got.Open || !slices.Equal(got.Allow, want) {
				t.Errorf("%s, private %v: %+v", address, private, got)
			}
		}
	}
}

func TestCommand(t *testing.T) {
	teller, warned := telling(t, pipelines.Hook{On: []string{Start}, Run: "tell", Timeout: "3s"})
	var said Event
	teller.Check = func(_ context.Context, dir string, c pipelines.Check) (metadata.CheckResult, error) {
		data, err := os.ReadFile(filepath.Join(dir, eventFile))
		if err != nil || c.Run != "tell" || time.Duration(c.Timeout) != 3*time.Second {
			t.Errorf("%+v, %v", c, err)
		}
		return metadata.CheckResult{ExitCode: 4}, json.Unmarshal(data, &said)
	}
	step(t, teller, metadata.Run{}, record(), "c1")
	if want := []string{`hook 1 of the pipeline was not told of "start": its command ended with 4`}; said.ID != "run-start-0" || !slices.Equal(*warned, want) {
		t.Errorf("%+v, warned %q", said, *warned)
	}
	teller.Check = func(context.Context, string, pipelines.Check) (metadata.CheckResult, error) {
		return metadata.CheckResult{}, errors.New("no shell")
	}
	step(t, teller, metadata.Run{}, record(), "c1")
	if len(*warned) != 2 || !strings.Contains((*warned)[1], "no shell") {
		t.Errorf("warned %q", *warned)
	}
}

// A receiver that is down for longer than the tries is told later, by the same id and with
// the same text: with the next event, or by the next start.
func TestWhatWasNotTakenIsToldLater(t *testing.T) {
	r := &receiver{down: 3}
	server := httptest.NewTLSServer(r)
	defer server.Close()
	teller, warned := telling(t, pipelines.Hook{On: []string{Start, Phase}, URL: server.URL, Secret: "HOOK_KEY"})
	teller.Roots = x509.NewCertPool()
	teller.Roots.AddCert(server.Certificate())
	done := record()
	done.Phases[0].Status = metadata.PhaseCompleted
	ids := func() (all []string) {
		for _, e := range r.got {
			all = append(all, e.ID)
		}
		r.got = nil
		return all
	}
	const start, phase = "run-start-0", "run-phase-design-0-3"
	again := func(run metadata.Run, commit string) {
		teller.Known, teller.Newest, teller.Tip = run, true, func() string { return commit }
		teller.Begin(run)
		teller.Missed(t.Context())
	}
	step(t, teller, metadata.Run{}, record(), "c1")
	if got := ids(); !slices.Equal(got, []string{start, start, start}) || len(*warned) != 1 {
		t.Fatalf("%q, warned %q", got, *warned)
	}
	r.down = 5
	again(record(), "c1") // still down
	step(t, teller, record(), done, "c2")
	if got := ids(); !slices.Equal(got, []string{start, start, phase, phase, phase}) || len(*warned) != 2 {
		t.Errorf("%q, warned %q", got, *warned)
	}
	for range 2 { // once it is there, and then never again
		again(done, "c2")
	}
	if got := ids(); !slices.Equal(got, []string{start, phase}) || len(r.bad) > 0 || len(*warned) != 2 {
		t.Errorf("%q, bad %q, warned %q", got, r.bad, *warned)
	}
	r.down = 4
	step(t, teller, metadata.Run{}, record(), "c3")
	teller.Hooks[0].Timeout = "1s" // another hook from now on
	ids()
	if again(record(), "c3"); ids() != nil {
		t.Error("it was told of what another hook did not take")
	}
}

// Another machine, which has nothing but the record, tells what hooks have not taken: by the
// same id and with the same text. What others may have written into the record is told only
// if it is an event of this run that the hook asks for.
func TestWhatWasNotTakenIsToldElsewhere(t *testing.T) {
	r := &receiver{down: 3}
	server := httptest.NewTLSServer(r)
	defer server.Close()
	here := func() *Teller {
		teller, _ := telling(t, pipelines.Hook{On: []string{Start, Wait}, URL: server.URL, Secret: "HOOK_KEY"})
		teller.Roots = x509.NewCertPool()
		teller.Roots.AddCert(server.Certificate())
		teller.Newest = true
		return teller
	}
	waiting := record()
	waiting.UpdatedAt = time.Unix(200, 0).UTC()
	waiting.Status, waiting.Stop = metadata.Waiting, &metadata.Stop{Code: metadata.AwaitingPerson, Why: metadata.Said("hello?"), At: time.Unix(100, 0)}
	waiting.Cost.USD = 2
	first := here()
	step(t, first, record(), waiting, "c1")
	left := first.Untold()
	if len(left) != 1 || len(r.got) != 3 {
		t.Fatalf("%d were sent, left %+v", len(r.got), left)
	}
	want := r.got[2]
	later := record() // the run goes on, and waits no more
	later.UpdatedAt, later.Cost.USD = time.Unix(300, 0).UTC(), 3
	later.Execution.Untold = append(left, metadata.Untold{Hook: left[0].Hook, Kind: Complete, ID: "run-complete-9", At: time.Unix(1, 0)},
		metadata.Untold{Hook: left[0].Hook, Kind: Start, ID: "other-start-0", At: time.Unix(1, 0)}, metadata.Untold{Hook: "another", Kind: Start, ID: "run-start-0"})
	r.got = nil
	second := here()
	second.Known, second.Tip = later, func() string { return "c2" }
	second.Begin(later)
	second.Missed(t.Context())
	if diff := cmp.Diff([]Event{want}, r.got, cmp.AllowUnexported(Event{})); diff != "" {
		t.Errorf("told elsewhere (-first +then):\n%s", diff)
	}
	if left := second.Untold(); len(left) > 0 {
		t.Errorf("left %+v", left)
	}
	// The first machine, which has not seen that, tells it once more; and what was left on others.
	r.got = nil
	later.Execution.Untold = []metadata.Untold{left[0], {Hook: left[0].Hook, Kind: Start, ID: "run-start-0", At: time.Unix(1, 0), Status: metadata.Running}}
	first.At = func(context.Context, string) (metadata.Run, error) { return waiting, nil }
	first.Known, first.Tip = later, func() string { return "c3" }
	first.Begin(later)
	first.Missed(t.Context())
	if len(r.got) != 2 || r.got[0].ID != want.ID || r.got[1].ID != "run-start-0" || len(r.bad) > 0 {
		t.Errorf("on the first machine: %+v, bad %q", r.got, r.bad)
	}
}

// A start that was killed between a commit and its events has them told by the next one.
func TestWhatAKillHasCutOffIsTold(t *testing.T) {
	var said []string
	teller, warned := telling(t, pipelines.Hook{On: []string{Start, Phase}, Run: "tell"})
	teller.Check = func(_ context.Context, dir string, _ pipelines.Check) (metadata.CheckResult, error) {
		var e Event
		data, err := os.ReadFile(filepath.Join(dir, eventFile))
		said = append(said, e.ID)
		if err := json.Unmarshal(data, &e); err == nil {
			said[len(said)-1] = e.ID
		}
		return metadata.CheckResult{ExitCode: 0, Pass: true}, err
	}
	done := record()
	done.Phases[0].Status = metadata.PhaseCompleted
	teller.At = func(_ context.Context, commit string) (metadata.Run, error) {
		return map[string]metadata.Run{"c1": record()}[commit], map[bool]error{true: errors.New("it is gone")}[commit != "c1"]
	}
	again := func(run metadata.Run, commit string, newest bool) {
		teller.Known, teller.Newest, teller.Tip = run, newest, func() string { return commit }
		teller.Begin(run)
		teller.Missed(t.Context())
	}
	if again(record(), "c1", true); said != nil {
		t.Errorf("on a machine that knows nothing it told %q", said)
	}
	killed := record() // by a job that never gave it back
	killed.Execution.Lease = &metadata.Lease{Owner: "job-4"}
	killed.Phases[0].Status = metadata.PhaseCompleted
	killed.Execution.ID = "killed"
	teller.Before = func(_ context.Context, commit string) (metadata.Run, error) {
		older := killed.Clone()
		older.Phases[0].Status = metadata.PhaseInProgress
		return older, map[bool]error{true: errors.New("it is gone")}[commit != "k1"]
	}
	for range 2 { // the second knows what the first has told
		again(killed, "k1", true)
	}
	if want := []string{"killed-phase-design-0-3"}; !slices.Equal(said, want) || len(*warned) > 0 {
		t.Errorf("after a job that was killed: %q, want %q; warned %q", said, want, *warned)
	}
	killed.Execution.ID = "first" // after an earlier run of the issue, which was merged
	teller.Before = func(context.Context, string) (metadata.Run, error) { return record(), nil }
	if again(killed, "f1", true); !slices.Contains(said, "first-start-0") {
		t.Errorf("of a new run: %q", said)
	}
	said = said[:1]
	teller.Before = func(context.Context, string) (metadata.Run, error) { return metadata.Run{}, errors.New("it is gone") }
	killed.Execution.ID = "other"
	if again(killed, "k2", true); len(said) != 1 || len(*warned) != 1 {
		t.Errorf("%q; warned %q", said, *warned)
	}
	said, *warned = nil, nil
	teller.Known = metadata.Run{}
	teller.Begin(record())
	again(record(), "c1", true)
	again(record(), "c1", true)
	again(done, "c2", true)
	if want := []string{"run-start-0", "run-phase-design-0-3"}; !slices.Equal(said, want) || len(*warned) > 0 {
		t.Errorf("%q, want %q; warned %q", said, want, *warned)
	}
	if again(done, "c3", true); len(said) != 2 || len(*warned) != 1 {
		t.Errorf("%q; warned %q", said, *warned)
	}
	other := record()
	other.Execution.ID = "another"
	if again(other, "c4", true); len(said) != 2 {
		t.Errorf("of another run: %q", said)
	}
	teller.Known = metadata.Run{}
	teller.Begin(record())
	again(record(), "c1", true)
	if again(done, "c2", false); len(said) != 3 {
		t.Errorf("another machine has told of it, and it told %q", said[3:])
	}
}

// A name that leads to this machine is refused in words that say what to do.
func TestANameOfThisMachineIsRefused(t *testing.T) {
	teller, warned := telling(t, pipelines.Hook{On: []string{Start}, URL: "https://LOCALHOST:9/"})
	step(t, teller, metadata.Run{}, record(), "c1")
	if want := `hook 1 of the pipeline was not told of "start": its host has a private address; if that is meant, say private: true in the hook`; !slices.Equal(*warned, []string{want}) {
		t.Errorf("warned %q", *warned)
	}
}

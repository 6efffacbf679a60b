package hooks

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
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

	"github.com/reprise-ci/reprise/internal/git"
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
		for _, e := range between(tt.before, tt.after, prompts.Words("en")) {
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
		{[]string{start}, func(*metadata.Run) {}},
		{[]string{wait}, func(run *metadata.Run) {
			run.Status, run.Stop = metadata.Waiting, &metadata.Stop{Code: metadata.AwaitingPerson, At: at}
		}},
		{[]string{retry}, func(run *metadata.Run) {
			run.Status, run.Stop, run.Decisions = metadata.Running, nil, append(run.Decisions, metadata.Decision{Step: retry, Phase: "design"})
		}},
		{[]string{fail}, func(run *metadata.Run) {
			run.Status, run.Stop = metadata.Failed, &metadata.Stop{Code: metadata.AgentFailed, At: at.Add(time.Minute)}
		}},
		{[]string{retry}, func(run *metadata.Run) {
			run.Status, run.Stop, run.Decisions = metadata.Running, nil, append(run.Decisions, metadata.Decision{Step: retry, Phase: "design"})
		}},
		{[]string{phase, complete}, func(run *metadata.Run) {
			run.Status, run.Phases[0].Status = metadata.Completed, metadata.PhaseCompleted
		}},
		{nil, func(run *metadata.Run) {
			run.Status, run.Merges = metadata.Running, append(run.Merges, metadata.Merge{})
		}},
		{[]string{complete}, func(run *metadata.Run) { run.Status = metadata.Completed }},
		{nil, func(run *metadata.Run) {
			run.Status, run.Phases[0].Status = metadata.Running, metadata.PhaseInProgress
			run.Phases[0].Touched++
			run.Attempts = append(run.Attempts, metadata.Attempt{})
		}},
		{[]string{phase, complete}, func(run *metadata.Run) {
			run.Status, run.Phases[0].Status = metadata.Completed, metadata.PhaseCompleted
		}},
		{[]string{rollback}, func(run *metadata.Run) {
			run.Status, run.RollbackHistory = metadata.Running, append(run.RollbackHistory, metadata.Rollback{ToPhase: "design"})
			run.Phases[0].Status = metadata.PhasePending
			run.Phases[0].Generation++
		}},
		{[]string{complete}, func(run *metadata.Run) { run.Status, run.Phases[0].Status = metadata.Completed, metadata.PhaseSkipped }},
		{[]string{rollback}, func(run *metadata.Run) {
			run.Status, run.RollbackHistory = metadata.Running, append(run.RollbackHistory, metadata.Rollback{ToPhase: "design"})
			run.Phases[0].Status = metadata.PhasePending
			run.Phases[0].Generation++
		}},
		{[]string{phase, complete}, func(run *metadata.Run) {
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
			teller, warned := telling(t, pipelines.Hook{On: []string{start, phase, wait, complete, fail, retry, rollback}, Run: "tell"})
			var kinds []string
			teller.Check = func(_ context.Context, dir string, _ pipelines.Check) (metadata.CheckResult, error) {
				var e event
				data, err := os.ReadFile(filepath.Join(dir, "event.json"))
				if err == nil {
					err = json.Unmarshal(data, &e)
				}
				kinds, ids[job] = append(kinds, e.Data.Kind), append(ids[job], e.ID)
				return metadata.CheckResult{Pass: true}, err
			}
			teller.Known = known
			teller.Known.Execution.Told = []int{known.Revision}
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
	got  []event
	bad  []string
}

func (r *receiver) ServeHTTP(w http.ResponseWriter, ask *http.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	body, _ := io.ReadAll(ask.Body) // what is not whole has another signature
	sum := hmac.New(sha256.New, []byte("a key of ours"))
	sum.Write(body)
	var e event
	if err := json.Unmarshal(body, &e); err != nil || ask.Header.Get("X-Reprise-Signature-256") != "sha256="+hex.EncodeToString(sum.Sum(nil)) ||
		ask.Header.Get("X-Reprise-Delivery") != e.ID || ask.Header.Get("X-Reprise-Event") != e.Data.Kind || !strings.HasPrefix(ask.Header.Get("Content-Type"), "application/cloudevents+json") {
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
	}, &warned
}

// step tells what has happened between two records.
func step(t *testing.T, teller *Teller, before, after metadata.Run) {
	t.Helper()
	teller.Known = before
	teller.Known.Execution.Told = slices.Repeat([]int{before.Revision}, len(teller.Hooks))
	teller.Committed(t.Context(), after)
}

func TestWebhook(t *testing.T) {
	r := &receiver{down: 2}
	server := httptest.NewTLSServer(r)
	defer server.Close()
	teller, warned := telling(t, pipelines.Hook{On: []string{start, complete}, URL: server.URL + "/secret/path", Secret: "HOOK_KEY"})
	teller.Roots = x509.NewCertPool()
	teller.Roots.AddCert(server.Certificate())
	step(t, teller, metadata.Run{}, record())
	if len(r.bad) > 0 || len(r.got) != 3 || r.got[0].ID != "run-start-0" || r.got[2].ID != r.got[0].ID || len(*warned) > 0 {
		t.Fatalf("got %+v, bad %q, warned %q", r.got, r.bad, *warned)
	}
	want := event{
		Version: "1.0", ID: "run-start-0", Source: "https://github.com/o/n/issues/7", Type: "reprise.run.start", Subject: "issue 7", Content: "application/json",
		Data: data{Kind: "start", Issue: "7", Title: "Say [MASKED]", URL: "https://github.com/o/n/issues/7", Branch: "reprise/issue-7", Status: "running", Phase: "design"},
	}
	if diff := cmp.Diff(want, r.got[2]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	r.down = 3
	step(t, teller, metadata.Run{}, record())
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
		teller.Hooks[0].On = []string{start}
		step(t, teller, metadata.Run{}, record())
		if len(*warned) != 1 || !strings.Contains((*warned)[0], tt.want) || strings.Contains((*warned)[0], server.URL) {
			t.Errorf("%+v: warned %q", tt.hook, *warned)
		}
	}
}

// TestPrivateHosts are reached only if the pipeline names an address, or says so.
func TestPrivateHosts(t *testing.T) {
	for address, want := range map[string][]string{
		"https://hooks.example.com/x": nil, "https://10.0.0.7:8443/x": {"10.0.0.7:8443"}, "https://[fd00::1]/": {"[fd00::1]:443"}, "https://localhost/": {"localhost:443"},
	} {
		for _, private := range []bool{false, true} {
			ask, err := http.NewRequest(http.MethodPost, address, nil)
			if err != nil {
				t.Fatal(err)
			}
			got := world(pipelines.Hook{Private: private}, ask.URL)
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
	teller, warned := telling(t, pipelines.Hook{On: []string{start}, Run: "tell", Timeout: "3s"})
	var said event
	teller.Check = func(_ context.Context, dir string, c pipelines.Check) (metadata.CheckResult, error) {
		data, err := os.ReadFile(filepath.Join(dir, "event.json"))
		if err != nil || c.Run != "tell" || time.Duration(c.Timeout) != 3*time.Second {
			t.Errorf("%+v, %v", c, err)
		}
		return metadata.CheckResult{ExitCode: 4}, json.Unmarshal(data, &said)
	}
	step(t, teller, metadata.Run{}, record())
	if want := []string{`hook 1 of the pipeline was not told of "start": its command ended with 4`}; said.ID != "run-start-0" || !slices.Equal(*warned, want) {
		t.Errorf("%+v, warned %q", said, *warned)
	}
	teller.Check = func(context.Context, string, pipelines.Check) (metadata.CheckResult, error) {
		return metadata.CheckResult{}, errors.New("no shell")
	}
	step(t, teller, metadata.Run{}, record())
	if len(*warned) != 2 || !strings.Contains((*warned)[1], "no shell") {
		t.Errorf("warned %q", *warned)
	}
}

// The life of a run in four revisions, in which its first phase is completed by the second and
// waits for people in the third.
func life() (all []metadata.Run) {
	begun, done, waits, over := record(), record(), record(), record()
	done.Phases[0].Status = metadata.PhaseCompleted
	waits.Phases[0].Status, waits.Status, waits.Stop = metadata.PhaseCompleted, metadata.Waiting, &metadata.Stop{Code: metadata.AwaitingPerson, Why: metadata.Said("hello?"), At: time.Unix(100, 0)}
	over.Phases[0].Status, over.Status = metadata.PhaseCompleted, metadata.Completed
	for i, run := range []metadata.Run{begun, done, waits, over} {
		run.Revision, run.UpdatedAt = i+1, time.Unix(int64(200+i), 0).UTC()
		all = append(all, run)
	}
	return all
}

// What a hook does not take is told later, by the same id and with the same text: with the
// next event, and by the next start, on whichever machine that is. What it has taken is told
// again only if a start was killed before it could note that.
func TestWhatWasNotTakenIsToldLater(t *testing.T) {
	const start, phase, wait, over = "run-start-0", "run-phase-design-0-0", "run-wait-0-100000", "run-complete-0-0"
	r := &receiver{down: 3}
	server := httptest.NewTLSServer(r)
	defer server.Close()
	runs := life()
	for i := range runs {
		runs[i].Phases[0].Written = 0
	}
	var warned *[]string
	here := func(known metadata.Run, told ...int) *Teller {
		var teller *Teller
		teller, warned = telling(t, pipelines.Hook{On: []string{"start", "phase", "wait", complete}, URL: server.URL, Secret: "HOOK_KEY"})
		teller.Roots = x509.NewCertPool()
		teller.Roots.AddCert(server.Certificate())
		teller.Since = func(_ context.Context, run metadata.Run, revision int) ([]metadata.Run, error) {
			return append([]metadata.Run{{}}, runs...)[revision : run.Revision+1], nil
		}
		teller.Known, r.got = known, nil
		teller.Known.Execution.Told = told
		return teller
	}
	want := func(what string, teller *Teller, told, warnings int, ids ...string) {
		t.Helper()
		var got []string
		for _, e := range r.got {
			got = append(got, e.ID)
		}
		if diff := cmp.Diff(ids, got); diff != "" || !slices.Equal(teller.Told(), []int{told}) || len(*warned) != warnings || len(r.bad) > 0 {
			t.Errorf("%s: told %v, want %d; warned %q; bad %q (-want +got):\n%s", what, teller.Told(), told, *warned, r.bad, diff)
		}
		r.got = nil
	}
	first := here(metadata.Run{})
	first.Committed(t.Context(), runs[0])
	want("down", first, 0, 1, start, start, start)
	first.Committed(t.Context(), runs[1])
	want("up again", first, 2, 1, start, phase)
	r.down = 3
	first.Committed(t.Context(), runs[2])
	said := r.got[0]
	want("down again", first, 2, 2, wait, wait, wait)
	for name, told := range map[string][]int{"another start": {2}, "of a record that does not say it": nil} {
		next := here(runs[2], told...)
		next.Missed(t.Context())
		if len(r.got) == 1 && !cmp.Equal(said, r.got[0]) {
			t.Errorf("%s: told %+v, and at first %+v", name, r.got[0], said)
		}
		want(name, next, 3, 0, wait)
		next.Missed(t.Context())
		next.Committed(t.Context(), runs[3])
		want(name+", which goes on", next, 4, 0, over)
	}
	r.down = 1
	next := here(runs[3], 0)
	next.Missed(t.Context())
	want("a start that finds it down", next, 0, 1, start)
	next = here(runs[3], 4)
	next.Missed(t.Context())
	want("nothing is left", next, 4, 0)
}

// branch has a record with this revision in each commit, the newest first; 0: it has none.
type branch []int

func (b branch) ReadFile(_ context.Context, commit, _ string) ([]byte, error) {
	data, err := os.ReadFile("../../metadata/testdata/version-4.json")
	if commit == "c0" {
		err = fs.ErrNotExist
	}
	return []byte(strings.Replace(string(data), `"revision": 9`, `"revision": `+commit[1:], 1)), err
}

func (b branch) Log(context.Context, string) (all []git.LogEntry, err error) {
	for _, revision := range b {
		all = append(all, git.LogEntry{Commit: fmt.Sprint("c", revision)})
	}
	return all, nil
}

// Records are read from the branch, from the one that was told last on.
func TestSince(t *testing.T) {
	for name, tt := range map[string]struct {
		branch branch
		told   int
		want   []int
	}{
		"one":                {branch{9, 8, 7, 6}, 8, []int{8, 9}},
		"nothing":            {branch{9, 8}, 9, []int{9}},
		"more":               {branch{9, 8, 0, 7, 6}, 7, []int{7, 8, 9}},
		"from the beginning": {branch{9, 2, 1, 0}, 0, []int{0, 1, 2, 9}},
		"no first revision":  {branch{9, 8, 0}, 7, []int{0, 8, 9}},
	} {
		data, _ := tt.branch.ReadFile(t.Context(), "c9", "")
		run, err := metadata.Parse(data, "")
		if err != nil {
			t.Fatal(err)
		}
		records, err := Past{Branch: tt.branch}.Since(t.Context(), run, tt.told)
		var got []int
		for _, r := range records {
			got = append(got, r.Revision)
		}
		if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
			t.Errorf("%s (-want +got):\n%s, %v", name, diff, err)
		}
	}
}

// A webhook is tried on this machine without a certificate.
func TestAHookOnThisMachine(t *testing.T) {
	told := 0
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { told++ }))
	defer server.Close()
	teller, warned := telling(t, pipelines.Hook{On: []string{start}, URL: strings.Replace(server.URL, "127.0.0.1", "localhost", 1) + "/x"})
	step(t, teller, metadata.Run{}, record())
	if told != 1 || len(*warned) > 0 {
		t.Errorf("told %d times, warned %q", told, *warned)
	}
}

// A name that leads to this machine is refused in words that say what to do.
func TestANameOfThisMachineIsRefused(t *testing.T) {
	teller, warned := telling(t, pipelines.Hook{On: []string{start}, URL: "https://LOCALHOST:9/"})
	step(t, teller, metadata.Run{}, record())
	if want := `hook 1 of the pipeline was not told of "start": its host has a private address; if that is meant, say private: true in the hook`; !slices.Equal(*warned, []string{want}) {
		t.Errorf("warned %q", *warned)
	}
}

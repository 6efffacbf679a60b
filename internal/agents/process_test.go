package agents

import (
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases/engine"
)

// Every way an agent can go wrong ends in time, with the right class, and with
// none of its processes left.
func TestEndings(t *testing.T) {
	for _, tt := range []struct {
		fake          string
		timeout, idle time.Duration
		class         metadata.Class // none for a result
		why           string         // in the error, or in the warnings
	}{
		{fake: "hang silently", idle: 200 * time.Millisecond, class: metadata.IdleTimeout, why: "no output for 200ms"},
		{fake: "hang silently", timeout: 200 * time.Millisecond, class: metadata.StepTimeout, why: "longer than its 200ms"},
		{fake: "hang and talk", timeout: 400 * time.Millisecond, class: metadata.StepTimeout, why: "longer than its 400ms"},
		{fake: "hang without ears", timeout: 200 * time.Millisecond, class: metadata.StepTimeout, why: "longer than its 200ms"},
		{fake: "hold stdout"},
		// How many is not held: an orphan of a call beside this one may be among them.
		{fake: "daemon", why: "left processes behind ("},
		{fake: "daemon of a daemon", why: "left processes behind ("},
		{fake: "bear many", timeout: 400 * time.Millisecond, class: metadata.StepTimeout, why: "longer than its 400ms"},
		{fake: "say nothing", class: metadata.Crash, why: "it ended without a result"},
		{fake: "result, then exit status 1", why: "gave its result, then it ended with exit status 1"},
		{fake: "result, then hang", why: "gave its result, then did not end by itself"},
		{fake: "be killed", class: metadata.Crash, why: "it was killed (perhaps the machine was out of memory) without a result"},
		{fake: "crash", class: metadata.Crash, why: "it ended with exit status 3 without a result: fatal: cannot find module"},
	} {
		t.Run(tt.fake, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.install("claude", tt.fake)
			if tt.fake == "result, then hang" {
				b.opts.Linger = 100 * time.Millisecond
			}
			if tt.timeout > 0 {
				b.task.Timeout = tt.timeout
			}
			if tt.idle > 0 {
				b.task.Idle = tt.idle
			}
			began := time.Now()
			r, fault := b.run("claude")
			if took := time.Since(began); took > hangs {
				t.Errorf("it took %v", took)
			}
			told := strings.Join(r.Warnings, "\n")
			if tt.class == "" {
				if fault != nil || r.Text != "Done." || r.Usage.USD != 0.01 {
					t.Errorf("result %+v, error %+v", r, fault)
				}
			} else if fault == nil || fault.Class != tt.class {
				t.Fatalf("error %+v, want class %s", fault, tt.class)
			} else {
				told = fault.Error()
			}
			if !strings.Contains(told, tt.why) {
				t.Errorf("it says %q, want %q", told, tt.why)
			}
		})
	}
}

// A program that waits for a model is not idle while the model's answer comes, however long
// that takes; it is once nothing more comes of it.
func TestAnswersAreNoSilence(t *testing.T) {
	for _, tt := range []struct {
		name   string
		pieces int
		hangs  bool // after those
		class  metadata.Class
	}{
		{"it comes to its end", 30, false, ""},
		{"it stops", 15, true, metadata.IdleTimeout},
		{"it never begins", 0, true, metadata.IdleTimeout},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			const every, idle = 200 * time.Millisecond, 2 * time.Second
			service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_, _ = io.Copy(io.Discard, r.Body)
				w.Header().Set("Content-Type", "text/event-stream")
				for range tt.pieces {
					io.WriteString(w, "event: ping\ndata: {\"type\":\"ping\"}\n\n")
					w.(http.Flusher).Flush()
					time.Sleep(every)
				}
				if tt.hangs {
					<-r.Context().Done()
				}
			}))
			defer service.Close()
			b := newBench(t)
			b.install("claude", "ask a model")
			b.opts.Environ = append(b.opts.Environ, "ANTHROPIC_API_KEY=sk", "ANTHROPIC_BASE_URL="+service.URL)
			b.task.Idle = idle
			began := time.Now()
			r, fault := b.run("claude")
			took := time.Since(began)
			if tt.class == "" && (fault != nil || r.Text != "Done.") || tt.class != "" && (fault == nil || fault.Class != tt.class) {
				t.Errorf("result %+v, error %v", r, fault)
			}
			if least := time.Duration(tt.pieces)*every + idle; tt.hangs && took < least-every {
				t.Errorf("it took %v, want at least %v", took, least)
			}
		})
	}
}

// A grandchild that holds standard output open must not delay the end.
func TestHeldStdoutDoesNotDelay(t *testing.T) {
	b := newBench(t)
	b.opts.Grace = time.Minute
	b.install("claude", "hold stdout")
	began := time.Now()
	if _, fault := b.run("claude"); fault != nil {
		t.Error(fault)
	}
	if took := time.Since(began); took > hangs {
		t.Errorf("it took %v", took)
	}
}

func TestCancel(t *testing.T) {
	b := newBench(t)
	b.install("claude", "hang and talk")
	why := errors.New("the budget is used up")
	ctx, cancel := context.WithCancelCause(t.Context())
	time.AfterFunc(200*time.Millisecond, func() { cancel(why) })
	_, err := b.agent("claude").Run(ctx, b.task)
	if !errors.Is(err, why) || len(b.processes()) > 0 {
		t.Errorf("error %v, processes %q", err, b.processes())
	}
}

// In a folder of PATH that the user may not enter there is no program.
func TestMissingInClosedFolder(t *testing.T) {
	testenv.Ordinary(t, func(t *testing.T) {
		b := newBench(t)
		closed := filepath.Join(b.dir, "closed")
		testenv.Must(t, os.Mkdir(closed, 0o000))
		b.opts.Environ[0] = "PATH=" + closed
		_, fault := b.run("claude")
		if fault == nil || !strings.Contains(fault.Error(), `there is no program "claude" in PATH`) {
			t.Errorf("%+v, want it to say that there is no such program", fault)
		}
		want := "permission denied"
		if os.Geteuid() == 0 { // root enters all folders
			want = "there is no program " + closed
		}
		if _, err := (cli{opts: b.opts}).find(filepath.Join(closed, "claude"), ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("a program with its folder: %v, want %q", err, want)
		}
	})
}

func TestMissing(t *testing.T) {
	b := newBench(t)
	b.opts.Environ[0] = "PATH=" + b.bin
	for _, name := range []string{"claude", "codex", "gemini", "command"} {
		_, fault := b.run(name)
		if fault == nil || fault.Class != metadata.Missing || (fault.Hint == "") != (name == "command") {
			t.Errorf("%s: %+v, want class missing and, for those we know, a hint", name, fault)
		}
	}
	b.write(filepath.Join(b.bin, "claude"), "#!/bin/sh\n")
	if _, fault := b.run("claude"); fault == nil || fault.Class != metadata.Missing || !strings.Contains(fault.Error(), "not executable") {
		t.Errorf("%+v, want it to say that the file is not executable", fault)
	}
	b.write(filepath.Join(b.bin, "codex"), "no program")
	testenv.Must(t, os.Chmod(filepath.Join(b.bin, "codex"), 0o755))
	if _, fault := b.run("codex"); fault == nil || fault.Class != metadata.Missing {
		t.Errorf("%+v, want class missing for a file that is no program", fault)
	}
}

// Output of any amount is read with little memory, and never stops the agent.
func TestMemoryIsBounded(t *testing.T) {
	limit, megabytes := 8<<20, "60"
	if raceDetector() {
		limit *= 4 // it keeps books on all memory
	}
	for _, tt := range []struct {
		fake string
		args []string
		warn string
	}{
		{"flood", []string{"stdout", megabytes}, ""},
		{"flood", []string{"stderr", megabytes}, ""},
		{"one long line", []string{megabytes}, "printed 1 lines of more than 2097152 bytes"},
	} {
		t.Run(tt.fake+" "+tt.args[0], func(t *testing.T) {
			b := newBench(t)
			b.install("claude", tt.fake, tt.args...)
			kept := 0
			grew := growth(func() {
				r, fault := b.run("claude")
				if fault != nil || r.Text != "Done." || !strings.Contains(strings.Join(r.Warnings, ""), tt.warn) {
					t.Errorf("result %+v, error %+v", r, fault)
				}
				kept = len(r.Stderr)
			})
			t.Logf("memory grew by %.1f MB", float64(grew)/(1<<20))
			if grew > limit || kept > 10<<10 {
				t.Errorf("memory grew by %d bytes, %d of standard error were kept", grew, kept)
			}
		})
	}
}

func raceDetector() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.ContainsFunc(info.Settings, func(s debug.BuildSetting) bool { return s.Key == "-race" && s.Value == "true" })
}

// growth is by how much the resident memory grew at most while f ran.
func growth(f func()) int {
	debug.FreeOSMemory()
	before := resident()
	peak, stop := before, make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(2 * time.Millisecond):
				peak = max(peak, resident())
			}
		}
	})
	f()
	close(stop)
	wg.Wait()
	return peak - before
}

func resident() int {
	data, _ := os.ReadFile("/proc/self/statm")
	pages, _ := strconv.Atoi(strings.Fields(string(data) + " 0 0")[1])
	return pages * os.Getpagesize()
}

func TestBadUTF8(t *testing.T) {
	b := newBench(t)
	b.install("claude", "bad UTF-8")
	var transcript string
	b.opts.Transcript = func(_ engine.Task, line []byte) { transcript += string(line) }
	r, fault := b.run("claude")
	if fault != nil || r.Text != "e\uFFFDf" || r.Stderr != "c\uFFFDd" || !strings.Contains(transcript, "a\uFFFD") {
		t.Errorf("text %q, standard error %q, transcript %q, error %v", r.Text, r.Stderr, transcript, fault)
	}
}

// Other parts of reprise run programs at the same time. Their exit statuses
// are theirs, whatever session they run in.
func TestSweepStealsNoExitStatus(t *testing.T) {
	b := newBench(t)
	b.install("claude", "daemon")
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for i := range 4 {
		wg.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					if n == 0 {
						t.Error("no program ran beside the agent")
					}
					return
				default:
				}
				cmd := exec.Command("/bin/sh", "-c", "exit 7")
				cmd.SysProcAttr = []*syscall.SysProcAttr{nil, {Setpgid: true}, {Setsid: true}, nil}[i]
				if _ = cmd.Run(); cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != 7 {
					t.Errorf("another program's exit status was lost: %v", cmd.ProcessState)
				}
			}
		})
	}
	for range 4 {
		if _, fault := b.run("claude"); fault != nil {
			t.Error(fault)
		}
	}
	close(stop)
	wg.Wait()
}

// Agents of parallel tasks do not end each other's processes.
func TestParallelCalls(t *testing.T) {
	slow := newBench(t)
	slow.install("claude", "play then hang", recording(t, "claude-write"))
	slow.opts.Linger = time.Second
	var wg sync.WaitGroup
	wg.Go(func() {
		if r, fault := slow.run("claude"); fault != nil || !strings.Contains(strings.Join(r.Warnings, ""), "did not end by itself") {
			t.Errorf("the slow one was ended by others: %+v, %v", r, fault)
		}
	})
	b := newBench(t)
	b.install("claude", "daemon")
	for range 10 {
		if _, fault := b.run("claude"); fault != nil {
			t.Error(fault)
		}
	}
	wg.Wait()
}

// BenchmarkFlood reads 5 GB.
func BenchmarkFlood(bm *testing.B) {
	b := newBench(bm)
	b.install("claude", "flood", "stdout", "5000")
	b.task.Timeout = 10 * time.Minute
	for bm.Loop() {
		grew := growth(func() { b.run("claude") })
		bm.ReportMetric(float64(grew)/(1<<20), "MB-memory")
	}
	bm.SetBytes(5000 << 20)
}

// A newer Claude Code tells what the whole session has cost, an older one what the call has.
func TestCostOfASession(t *testing.T) {
	for before, want := range map[float64]float64{0: 0.01, 0.0099: 0.0001, 0.5: 0.01} {
		b := newBench(t)
		b.write(filepath.Join(b.dir, "stream"), goodResult+"\n")
		b.install("claude", "play", filepath.Join(b.dir, "stream"), "0")
		b.task.SpentUSD = before
		if r, fault := b.run("claude"); fault != nil || math.Abs(r.Usage.USD-want) > 1e-9 {
			t.Errorf("after $%v: %+v, %v", before, r.Usage, fault)
		}
	}
}

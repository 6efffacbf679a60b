//go:build slow || e2e

package main

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/internal/test/model"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/internal/test/world"
	"github.com/reprise-ci/reprise/metadata"
)

var (
	workIssues = flag.Int("work-issues", 16, "issues of the tests of reprise work")
	workTakes  = flag.Duration("work-takes", 5*time.Second, "time of a call in BenchmarkWork")
	workKills  = flag.Int("work-kills", 20, "kills of the worker and of its runs")
)

// service is a model that has no room now and then.
type service struct {
	*model.Server
	latency, every, storm time.Duration // of an answer; of storms, which take so long
	began                 time.Time
	refused               atomic.Int64
	answered              map[string]int // by what was asked; the server's lock guards it
}

func newService(t testing.TB, s *service) *service {
	s.began, s.answered = time.Now(), map[string]int{}
	s.Server = model.Start(func(r model.Request) model.Reply {
		if s.every > 0 && time.Since(s.began)%s.every < s.storm {
			s.refused.Add(1)
			return model.RateLimit(1)
		}
		s.answered[r.Prompt()]++
		return model.Say("Yes.").After(s.latency)
	})
	t.Cleanup(s.Close)
	return s
}

// newQueue is a stand with a folder of n issues, which an agent does that asks the service, in two steps each.
func newQueue(t testing.TB, s *service, n int) *stand {
	q := &stand{t: &testing.T{}, dir: t.TempDir()}
	for i := range n {
		q.write(fmt.Sprintf("issues/%d.md", 100+i), fmt.Sprintf("# Issue %d\n", 100+i))
	}
	q.write("own.cue", `
agents: own: {use: "command", command: ["asks"], env: ["ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"]}
phases: [{name: "build", goal: "Build.", access: "tree", retry: {max: 5, initial: "1s"}}]
`)
	vars, err := world.Make(q.dir)
	testenv.Must(t, err)
	q.env = append(append(os.Environ(), vars...), "ANTHROPIC_API_KEY=sk-ant-of-a-test-000000", "ANTHROPIC_BASE_URL="+s.URL, "GOGC=100")
	return q
}

// work starts a worker with eight runs at a time.
func (s *stand) work(more ...string) *life {
	args := append([]string{"work", s.path("issues"), "--jobs", "8"}, more...)
	return s.start(append(args, "--", "--pipeline", s.path("own.cue"), "--sandbox", "off")...)
}

// holders gives the processes that work on runs now.
func (s *stand) holders() (all []int) {
	dirs, _ := filepath.Glob(s.path("runs/*/[0-9]*")) // the pattern is well formed
	for _, dir := range dirs {
		if pid := folders.Holder(dir); pid > 0 {
			all = append(all, pid)
		}
	}
	return all
}

// Issues are done once each, whatever is killed, and though the service refuses much: none is lost, and no step of any
// is done twice.
func TestWorkIsKilled(t *testing.T) {
	s := newService(t, &service{latency: 300 * time.Millisecond, every: 5 * time.Second, storm: time.Second})
	q := newQueue(t, s, *workIssues)
	seed := uint64(time.Now().UnixNano())
	t.Logf("seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	l, killed := q.work(), 0
	for killed < *workKills {
		time.Sleep(time.Duration(50+random.IntN(400)) * time.Millisecond)
		at := q.holders()
		if random.IntN(4) == 0 || len(at) == 0 {
			_ = l.cmd.Process.Kill() // it may have ended
			if l.code() == 0 {
				break // all is done
			}
			killed++
			l = q.work()
		} else if syscall.Kill(at[random.IntN(len(at))], syscall.SIGKILL) == nil {
			killed++
		}
	}
	code := l.code()
	for try := 0; code != 0 && try < 5; try++ { // one that was killed five times in a row is left to the next worker
		l = q.work()
		code = l.code()
	}
	if code != 0 {
		t.Fatalf("exit code %d\n%s", code, l.said.String())
	}
	for i := range *workIssues {
		branch := fmt.Sprintf("reprise/issue-%d", 100+i)
		if run, err := world.Audit(q.path("project"), branch); err != nil || run.Status != metadata.Completed {
			t.Errorf("%s: %s, %v", branch, run.Status, err)
		}
	}
	if at := q.holders(); len(at) > 0 {
		t.Errorf("processes %v are left", at)
	}
	t.Logf("%d issues, %d kills, %d requests answered and %d refused", *workIssues, killed, len(s.Requests())-int(s.refused.Load()), s.refused.Load())
}

// Two workers in two clones share the issues: each step is asked for once.
func TestTwoWorkersShareTheIssues(t *testing.T) {
	s := newService(t, &service{latency: 300 * time.Millisecond})
	q := newQueue(t, s, *workIssues)
	other := *q
	if out, err := exec.Command("git", "clone", "-q", q.path("origin.git"), q.path("other")).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	other.env = append(slices.Clone(q.env), "REPRISE_HOME="+q.path("runs-of-other"))
	one, two := q.work("--push"), other.work("--push", "--repo", q.path("other"))
	if a, b := one.code(), two.code(); a != 0 || b != 0 {
		t.Fatalf("exit codes %d and %d\n%s\n%s", a, b, one.said.String(), two.said.String())
	}
	for i := range *workIssues {
		id := strconv.Itoa(100 + i)
		for _, step := range []string{" build execute", " build review"} {
			if n := s.answered[id+step]; n != 1 {
				t.Errorf("issue %s: %d of%s", id, n, step)
			}
		}
		if run, err := world.Audit(q.path("origin.git"), "reprise/issue-"+id); err != nil || run.Status != metadata.Completed {
			t.Errorf("issue %s: %s, %v", id, run.Status, err)
		}
	}
}

// The share of the time of eight workers that runs make use of, and how the memory of the worker grows: a run alone takes
// so long, and all together with one worker.
func BenchmarkWork(b *testing.B) {
	for b.Loop() {
		s := newService(b, &service{latency: *workTakes})
		q := newQueue(b, s, *workIssues+1)
		began := time.Now()
		if l := q.start("run", "--issue-file", q.path(fmt.Sprintf("issues/%d.md", 100+*workIssues)), "--pipeline", q.path("own.cue"), "--sandbox", "off"); l.code() != 0 {
			b.Fatal(l.said.String())
		}
		alone := time.Since(began)
		began = time.Now()
		l, most := q.work(), []float64{}
	waiting:
		for {
			select {
			case <-l.over:
				break waiting
			case <-time.After(time.Second):
				if kb := residentOf(l.cmd.Process.Pid); kb > 0 {
					most = append(most, kb)
				}
			}
		}
		if l.code() != 0 {
			b.Fatal(l.said.String())
		}
		took := time.Since(began)
		b.ReportMetric(float64(*workIssues)*alone.Seconds()/took.Seconds()/8, "of-N/op")
		b.ReportMetric(most[len(most)/4]/1024, "MB-first-quarter")
		b.ReportMetric(most[len(most)-1]/1024, "MB-end")
	}
}

// residentOf gives what a process has in memory, in KB; 0 where that cannot be said.
func residentOf(pid int) float64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid)) // on another system there is none
	_, rest, _ := strings.Cut(string(text), "VmRSS:")
	kb, _ := strconv.ParseFloat(strings.TrimSpace(strings.Split(rest, "kB")[0]), 64)
	return kb
}

// How many requests a service refuses, in storms: of eight separate loops, and of one worker.
func BenchmarkWorkInStorms(b *testing.B) {
	for b.Loop() {
		var refused [2]float64
		for i, apart := range []bool{true, false} {
			s := newService(b, &service{latency: 200 * time.Millisecond, every: 20 * time.Second, storm: 8 * time.Second})
			q := newQueue(b, s, *workIssues)
			if apart {
				ids := make(chan int)
				var all sync.WaitGroup
				for range 8 {
					all.Go(func() {
						for id := range ids {
							for q.start("run", "--issue-file", q.path(fmt.Sprintf("issues/%d.md", id)), "--pipeline", q.path("own.cue"), "--sandbox", "off").code() != 0 {
								time.Sleep(time.Second)
							}
						}
					})
				}
				for n := range *workIssues {
					ids <- 100 + n
				}
				close(ids)
				all.Wait()
			} else if l := q.work(); l.code() != 0 {
				b.Fatal(l.said.String())
			}
			refused[i] = float64(s.refused.Load())
		}
		b.ReportMetric(refused[0], "refused-apart")
		b.ReportMetric(refused[1], "refused")
		b.ReportMetric(100*refused[1]/refused[0], "%")
	}
}

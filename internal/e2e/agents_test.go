//go:build e2e

package e2e

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/reprise-ci/reprise/internal/agents"
	m "github.com/reprise-ci/reprise/internal/test/model"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
)

// agent is an agent of this place.
func (p *place) agent(use string) engine.Agent {
	p.t.Helper()
	a, err := agents.For(use, pipelines.Agent{Use: use}, agents.Options{Environ: p.environ()})
	testenv.Must(p.t, err)
	return a
}

// task is a task at this place, in the work tree of a run.
func (p *place) task(access pipelines.Access) engine.Task {
	return engine.Task{
		Issue: "7", Title: "A demo", Phase: "planning", Step: metadata.Execute, Attempt: 1,
		Prompt: "Write the plan.", Dir: p.repo, Artifact: p.artifact(), Access: access,
		Session: uuid.NewString(), Timeout: 10 * time.Minute, Idle: 5 * time.Minute, // a busy machine starts programs slowly
	}
}

// artifact is the path of the task's artifact, in a folder that is there.
func (p *place) artifact() string {
	p.t.Helper()
	dir := filepath.Join(p.repo, ".reprise", "issue-7", "00_planning")
	testenv.Must(p.t, os.MkdirAll(dir, 0o755))
	return filepath.Join(dir, "planning.md")
}

// do carries out a task that has to end without an error.
func (p *place) do(use string, t engine.Task) engine.Result {
	p.t.Helper()
	r, err := p.agent(use).Run(p.t.Context(), t)
	if err != nil {
		p.t.Fatalf("%v\nresult: %+v", err, r)
	}
	return r
}

// fail carries out a task that has to end with an error of that class, and
// soon: the programs themselves would go on trying for minutes.
func (p *place) fail(use string, t engine.Task, want metadata.Class) *engine.AgentError {
	p.t.Helper()
	began := time.Now()
	r, err := p.agent(use).Run(p.t.Context(), t)
	var ae *engine.AgentError
	if !errors.As(err, &ae) || ae.Class != want {
		p.t.Fatalf("error %v (%+v), want class %s\nresult: %+v", err, ae, want, r)
	}
	if took := time.Since(began); took > 4*time.Minute {
		p.t.Errorf("it took %v to notice", took)
	}
	return ae
}

// each runs a test for Claude Code, Codex and more agents, beside the other tests.
func each(t *testing.T, test func(t *testing.T, use string), more ...string) {
	t.Parallel()
	for _, use := range append([]string{"claude", "codex"}, more...) {
		t.Run(use, func(t *testing.T) { test(t, use) })
	}
}

// perCall is what one request costs at the scripted model, in the terms of the
// record: what is written to a cache counts as input.
var perCall = metadata.Usage{InputTokens: 1200, CachedTokens: 500, OutputTokens: 50}

func wantUsage(t *testing.T, got metadata.Usage, calls int) {
	t.Helper()
	want := metadata.Usage{InputTokens: int64(calls) * perCall.InputTokens, CachedTokens: int64(calls) * perCall.CachedTokens, OutputTokens: int64(calls) * perCall.OutputTokens}
	plain := metadata.Usage{InputTokens: got.InputTokens, CachedTokens: got.CachedTokens, OutputTokens: got.OutputTokens}
	if d := cmp.Diff(want, plain); d != "" {
		t.Errorf("usage of %d requests (-want +got):\n%s", calls, d)
	}
	if got.USD <= 0 {
		t.Errorf("it cost %v US dollars, want more than nothing", got.USD)
	}
}

func TestWritesTheArtifact(t *testing.T) {
	each(t, func(t *testing.T, use string) {
		p := newPlace(t)
		p.says(m.Turns(m.Write(p.artifact(), "# Plan\n"), m.Say("Done.")))
		var seen []engine.Activity
		task := p.task(pipelines.AccessArtifacts)
		task.Notify = func(a engine.Activity) { seen = append(seen, a) }
		r := p.do(use, task)
		if got := p.read(task.Artifact); strings.TrimSpace(got) != "# Plan" {
			t.Errorf("the artifact reads %q", got)
		}
		if r.Text != "Done." || r.ToolCalls != 1 || len(r.Denials) != 0 || r.Session == "" || r.Model == "" || len(r.Warnings) > 0 { // a model without a price would be one
			t.Errorf("result %+v", r)
		}
		wantUsage(t, r.Usage, 2)
		if len(seen) == 0 || !strings.Contains(fmt.Sprint(seen), r.Session) {
			t.Errorf("notified of %+v, want the session and what the agent does", seen)
		}
	})
}

// The verdict of reviews is what every run depends on: both programs must take
// its schema, and give back what passes as a verdict.
func TestGivesATypedVerdict(t *testing.T) {
	gates := []string{"The cause is named"}
	each(t, func(t *testing.T, use string) {
		p := newPlace(t)
		p.says(func(r m.Request) m.Reply { return m.Answer(judgement(r, gates, false)) })
		task := p.task(pipelines.AccessRead)
		task.Step, task.Schema = metadata.Review, json.RawMessage(phases.VerdictSchema)
		r := p.do(use, task)
		v, wrong := phases.ParseVerdict(r.Structured, gates)
		if len(wrong) > 0 || v.Verdict != metadata.Fail || len(v.Findings) != 1 || v.Findings[0].Title != finding {
			t.Errorf("%s\nis %+v, with mistakes %q", r.Structured, v, wrong)
		}
	})
}

func TestProseIsNoStructuredAnswer(t *testing.T) {
	each(t, func(t *testing.T, use string) {
		p := newPlace(t)
		p.says(m.Always(m.Say("All is well, I think.")))
		task := p.task(pipelines.AccessRead)
		task.Step, task.Schema = metadata.Review, json.RawMessage(phases.VerdictSchema)
		if r := p.do(use, task); r.Structured != nil || r.Text != "All is well, I think." {
			t.Errorf("structured %s, text %q", r.Structured, r.Text)
		}
	})
}

func TestServiceErrors(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reply m.Reply
		class metadata.Class
	}{
		"key":   {m.Fail(401), metadata.Auth},
		"limit": {m.RateLimit(30), metadata.RateLimited},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, use string) {
				p := newPlace(t)
				p.says(m.Always(test.reply))
				task := p.task(pipelines.AccessArtifacts)
				task.Idle = time.Minute // long enough, also for a slow start, to see why there is no answer
				ae := p.fail(use, task, test.class)
				if ae.Agent == "" || test.class == metadata.Auth && ae.Hint == "" {
					t.Errorf("error %+v, want the agent's name and a hint", ae)
				}
				// Claude Code says for how long it would wait itself, which in 2.1.332 is up to a quarter more than it was told.
				if use == "claude" && test.class == metadata.RateLimited && (ae.RetryAfter < 30*time.Second || ae.RetryAfter > 38*time.Second) {
					t.Errorf("come back after %v, want 30s", ae.RetryAfter)
				}
			})
		})
	}
}

// Programs try for minutes where a service has no room and does not say for how long.
func TestNoRoomEndsTheCallSoon(t *testing.T) {
	t.Parallel()
	for _, status := range []int{429, 529} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			each(t, func(t *testing.T, use string) {
				p := newPlace(t)
				p.says(m.Always(m.Fail(status)))
				began := time.Now()
				ae := p.fail(use, p.task(pipelines.AccessArtifacts), metadata.RateLimited)
				if n := len(p.model.Requests()); n > 4 || n >= 3 && ae.RetryAfter < 30*time.Second || time.Since(began) > 2*time.Minute {
					t.Errorf("after %d requests and %v: %+v", n, time.Since(began), ae)
				}
			})
		})
	}
}

// One error on the way is the program's own business.
func TestGoesOnAfterAPassingError(t *testing.T) {
	t.Parallel()
	for name, reply := range map[string]m.Reply{"server error": m.Fail(500), "cut stream": m.Cut("I will now")} {
		t.Run(name, func(t *testing.T) {
			each(t, func(t *testing.T, use string) {
				p := newPlace(t)
				p.says(m.Turns(reply, m.Say("Done.")))
				if r := p.do(use, p.task(pipelines.AccessArtifacts)); r.Text != "Done." {
					t.Errorf("result %+v", r)
				}
			})
		})
	}
}

func TestStreamsThatAlwaysBreakOff(t *testing.T) {
	each(t, func(t *testing.T, use string) {
		p := newPlace(t)
		p.says(m.Always(m.Cut("I will now")))
		p.fail(use, p.task(pipelines.AccessArtifacts), metadata.Network)
	})
}

func TestHangs(t *testing.T) {
	t.Parallel()
	for class, limits := range map[metadata.Class][2]time.Duration{
		metadata.IdleTimeout: {10 * time.Minute, 3 * time.Second},
		metadata.StepTimeout: {3 * time.Second, 10 * time.Minute},
	} {
		t.Run(string(class), func(t *testing.T) {
			each(t, func(t *testing.T, use string) {
				p := newPlace(t)
				p.says(m.Always(m.Hang()))
				task := p.task(pipelines.AccessArtifacts)
				task.Timeout, task.Idle = limits[0], limits[1]
				p.fail(use, task, class)
			})
		})
	}
}

// While an answer comes the program says nothing, and is not idle; once no more of it comes,
// it is.
func TestALongAnswerIsNoSilence(t *testing.T) {
	t.Parallel()
	const idle = 30 * time.Second // a busy machine starts programs slowly
	t.Run("comes", func(t *testing.T) {
		each(t, func(t *testing.T, use string) {
			p := newPlace(t)
			p.says(m.Always(m.Say("Done.").Over(80 * time.Second)))
			task := p.task(pipelines.AccessArtifacts)
			task.Idle = idle
			if r := p.do(use, task); r.Text != "Done." {
				t.Errorf("result %+v", r)
			}
		})
	})
	t.Run("stops", func(t *testing.T) {
		each(t, func(t *testing.T, use string) {
			p := newPlace(t)
			p.says(m.Always(m.Say("I will now").Over(40 * time.Second).ThenHang()))
			task := p.task(pipelines.AccessArtifacts)
			task.Idle = idle
			began := time.Now()
			p.fail(use, task, metadata.IdleTimeout)
			if took := time.Since(began); took < 65*time.Second {
				t.Errorf("it was ended after %v, while the answer came", took)
			}
		})
	})
}

// Claude Code tells of a long answer piece by piece where it does not come through the proxy.
// The log has none of that.
func TestALongAnswerPastTheProxyIsNoSilence(t *testing.T) {
	p := newPlace(t)
	p.write("home/.claude/settings.json", fmt.Sprintf(`{"env":{"ANTHROPIC_BASE_URL":%q}}`, p.model.URL))
	p.says(m.Always(m.Say("Done.").Over(80 * time.Second)))
	lines := 0
	opts := agents.Options{Environ: p.environ(), Transcript: func(_ engine.Task, line []byte) {
		if lines++; strings.Contains(string(line), "stream_event") {
			t.Errorf("the log has %s", line)
		}
	}}
	a, err := agents.For("claude", pipelines.Agent{Use: "claude"}, opts)
	testenv.Must(t, err)
	task := p.task(pipelines.AccessArtifacts)
	task.Idle = 30 * time.Second // a busy machine starts programs slowly
	if r, err := a.Run(t.Context(), task); err != nil || r.Text != "Done." || lines == 0 || r.Usage.ByGate {
		t.Errorf("result %+v, error %v, %d lines", r, err, lines)
	}
}

// A command that takes too long is cut by the program, which then goes on.
func TestALongCommandIsCut(t *testing.T) {
	each(t, func(t *testing.T, use string) {
		p := newPlace(t)
		p.says(waiting(use, "sleep 100"))
		task := p.task(pipelines.AccessTree)
		task.Idle = time.Minute // a busy machine starts programs slowly
		if r := p.do(use, task); r.Text != "Done." {
			t.Errorf("result %+v", r)
		}
	})
}

// waiting is a model that runs a command, waits for it as long as it may, and is done.
func waiting(use, command string) m.Script {
	if use != "codex" {
		return m.Turns(m.Run(command), m.Say("Done."))
	}
	return func(r m.Request) m.Reply {
		switch {
		case len(r.Results()) == 0 && r.Offers("exec"):
			return m.Tool("exec", "// @exec: {\"yield_time_ms\": 300000}\nconst c = await tools.exec_command({cmd: '"+command+"', yield_time_ms: 1000})\nconst w = await tools.write_stdin({session_id: c.session_id, chars: '', yield_time_ms: 300000})\ntext(JSON.stringify(w))")
		case len(r.Results()) == 0:
			return m.Tool("exec_command", map[string]any{"cmd": command, "yield_time_ms": 1000})
		case len(r.Results()) == 1 && !r.Offers("exec"):
			return m.Tool("write_stdin", map[string]any{"session_id": session(fmt.Sprint(r.Results())), "chars": "", "yield_time_ms": 300_000})
		}
		return m.Say("Done.")
	}
}

// session finds the number of a command that goes on.
func session(text string) int {
	n := 0
	if _, after, ok := strings.Cut(text, "session ID "); ok {
		fmt.Sscan(after, &n)
	}
	return n
}

func TestIsCancelled(t *testing.T) {
	each(t, func(t *testing.T, use string) {
		p := newPlace(t)
		ctx, cancel := context.WithCancel(t.Context())
		p.says(func(m.Request) m.Reply { cancel(); return m.Hang() })
		began := time.Now()
		_, err := p.agent(use).Run(ctx, p.task(pipelines.AccessArtifacts))
		if err == nil || time.Since(began) > 5*time.Minute {
			t.Errorf("error %v after %v", err, time.Since(began))
		}
	})
}

func TestStopsAtTheTurnLimit(t *testing.T) {
	p := newPlace(t)
	p.says(m.Turns(m.Write(p.artifact(), "# Plan\n"), m.Say("Done.")))
	task := p.task(pipelines.AccessArtifacts)
	task.Turns = 1
	if r := p.do("claude", task); r.Limit != "turns" || p.read(task.Artifact) != "# Plan\n" {
		t.Errorf("limit %q, artifact %q", r.Limit, p.read(task.Artifact))
	}
}

func TestStopsAtTheBudget(t *testing.T) {
	p := newPlace(t)
	p.says(m.Turns(m.Write(p.artifact(), "# Plan\n"), m.Say("Done.")))
	task := p.task(pipelines.AccessArtifacts)
	task.BudgetUSD = 0.0001
	r := p.do("claude", task)
	testenv.Is(t, "limit", r.Limit, "budget")
	wantUsage(t, r.Usage, 1)
}

// Going on with a session costs only what is new, whatever the program counts.
func TestGoesOnWithASession(t *testing.T) {
	each(t, func(t *testing.T, use string) {
		p := newPlace(t)
		p.says(m.Turns(m.Write(p.artifact(), "# Plan\n"), m.Say("Done."), m.Say("Better.")))
		task := p.task(pipelines.AccessArtifacts)
		task.Prompt = "Write the first plan."
		first := p.do(use, task)
		task.Prompt, task.Session, task.Resume, task.Step = "Name the cause.", first.Session, true, metadata.Revise
		second := p.do(use, task)
		requests := p.model.Requests()
		got := requests[len(requests)-1].Prompts()
		if len(got) != 2 || !strings.Contains(got[0], "Write the first plan.") || !strings.Contains(got[1], "Name the cause.") {
			t.Errorf("the model was told %q", got)
		}
		if second.Session != first.Session || second.Text != "Better." {
			t.Errorf("session %s, then %+v", first.Session, second)
		}
		wantUsage(t, second.Usage, 1)
		if want := first.Usage.USD / 2; math.Abs(second.Usage.USD-want) > want/100 {
			t.Errorf("one more request cost $%v after two for $%v, want $%v", second.Usage.USD, first.Usage.USD, want)
		}
	})
}

// A session that goes on knows what it wrote: it writes the same file again
// without being refused and having to read it first.
func TestWritesAgainInASession(t *testing.T) {
	p := newPlace(t)
	p.says(m.Turns(m.Write(p.artifact(), "# Pla\n"), m.Edit(p.artifact(), "Pla", "Plan"), m.Say("Done."), m.Write(p.artifact(), "# Better\n"), m.Say("Better.")))
	task := p.task(pipelines.AccessArtifacts)
	first := p.do("claude", task)
	time.Sleep(1500 * time.Millisecond)
	task.Prompt, task.Session, task.Resume, task.Step = "Make it better.", first.Session, true, metadata.Revise
	p.do("claude", task)
	if got := p.read(task.Artifact); strings.TrimSpace(got) != "# Better" {
		requests := p.model.Requests()
		t.Errorf("the artifact reads %q, after %+v", got, requests[len(requests)-1].Results())
	}
}

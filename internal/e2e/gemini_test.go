//go:build e2e

package e2e

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/agents"
	"github.com/reprise-ci/reprise/internal/sandbox"
	m "github.com/reprise-ci/reprise/internal/test/model"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
)

// contained is the real program at a place, in the sandbox, where networks may be closed.
func (p *place) contained(use string) engine.Agent {
	p.t.Helper()
	return p.containedAs(pipelines.Agent{Use: use})
}

// containedAs is the same of an agent of a pipeline.
func (p *place) containedAs(agent pipelines.Agent) engine.Agent {
	p.t.Helper()
	self := built(p.t)
	opts, note, err := agents.Options{Environ: p.environ()}.Contain(sandbox.Required, sandbox.Sandbox{
		Helper: []string{self, "sandboxed", "--"}, State: filepath.Join(p.root, "homes"), Closed: true,
	})
	if err != nil || note != "" {
		p.t.Fatal(note, err)
	}
	a, err := agents.For(agent.Use, agent, opts)
	testenv.Must(p.t, err)
	return a
}

// geminiAgent is the real Gemini CLI at a place, in the sandbox.
func geminiAgent(t *testing.T, p *place) engine.Agent {
	t.Helper()
	p.more = append(p.more, "GEMINI_API_KEY="+theKey, "GOOGLE_GEMINI_BASE_URL="+p.model.URL)
	return p.contained("gemini")
}

// geminiTask is one for a model that is named: by itself the program asks another one first
// which it should take.
func geminiTask(p *place) engine.Task {
	t := p.task(pipelines.AccessTree)
	t.Model, t.Network = "gemini-2.5-pro", pipelines.Network{Closed: true}
	return t
}

// Gemini works through the gate like the others: it writes, runs commands, sees no key and
// nothing of the network, and all that it asks is counted.
func TestGemini(t *testing.T) {
	p := newPlace(t)
	look := `env; tr '\0' ' ' < /proc/$PPID/environ; grep -rlsE 'test-ke[y]' ~ "$TMPDIR" . && echo in a file; echo looked`
	p.says(m.Turns(m.Write(p.artifact(), "# Plan\n"), m.Run(look), m.Say("Done.")))
	task := geminiTask(p)
	r, err := geminiAgent(t, p).Run(t.Context(), task)
	if err != nil || r.Text != "Done." || strings.TrimSpace(p.read(task.Artifact)) != "# Plan" {
		t.Fatalf("%+v, %v", r, err)
	}
	requests := p.model.Requests()
	for _, r := range requests {
		if got := r.Header.Get("X-Goog-Api-Key"); got != theKey || placeholder.MatchString(fmt.Sprint(r.Header)) || r.Model != task.Model {
			t.Errorf("the model %s was shown %q, with %v", r.Model, got, r.Header)
		}
		testenv.Lacks(t, "what the program saw", string(r.Body), theKey)
	}
	seen := requests[len(requests)-1].Results()
	if said := fmt.Sprint(seen); !strings.Contains(said, "looked") || strings.Contains(said, "in a file") || !placeholder.MatchString(said) {
		t.Errorf("the program saw %s", said)
	}
	wantUsage(t, r.Usage, len(requests))
	if slices.ContainsFunc(r.Refused, func(h engine.Refused) bool { return strings.Contains(h.Host, "googleapis") }) {
		t.Errorf("it needs a host that it was refused: %+v", r.Refused)
	}
}

// Gemini tells what it is about with a tool, which is no look at anything.
func TestGeminiToolsThatTell(t *testing.T) {
	for name, tt := range map[string]struct {
		turns []m.Reply
		calls int
	}{
		"it tells":           {nil, 0},
		"it tells and reads": {[]m.Reply{m.Tool("read_file", map[string]string{"file_path": "main.go"})}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			topic := m.Tool("update_topic", map[string]string{"title": "A review", "summary": "I judge.", "strategic_intent": "To judge."})
			p.says(m.Turns(slices.Concat([]m.Reply{topic}, tt.turns, []m.Reply{m.Say("Done.")})...))
			task := geminiTask(p)
			task.Access = pipelines.AccessRead
			r, err := geminiAgent(t, p).Run(t.Context(), task)
			if err != nil || r.Text != "Done." || r.ToolCalls != tt.calls || len(r.Denials) > 0 {
				t.Fatalf("%+v, %v", r, err)
			}
			requests := p.model.Requests()
			if last := requests[len(requests)-1]; !last.Offers("update_topic") || len(last.Results()) != 1+len(tt.turns) {
				t.Errorf("its tools are %q, and said %+v", last.Tools, last.Results())
			}
		})
	}
}

// The limits hold for Gemini, which has none of its own, and a wrong key ends it at once.
func TestGeminiIsHeld(t *testing.T) {
	for name, tt := range map[string]struct {
		set  func(*engine.Task)
		want string
	}{
		"turns":  {func(t *engine.Task) { t.Turns = 3 }, "turns"},
		"budget": {func(t *engine.Task) { t.BudgetUSD = 0.05 }, "budget"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			n := 0
			p.says(func(m.Request) m.Reply {
				if n++; n == 1 {
					return m.Write(p.artifact(), "# Plan\n").Costing(m.Usage{Input: 3000, Output: 2000})
				}
				return m.Run(fmt.Sprintf("echo %d", n)).Costing(m.Usage{Input: 3000, Output: 2000}) // a loop of the same is ended by the program
			})
			task := geminiTask(p)
			tt.set(&task)
			r, err := geminiAgent(t, p).Run(t.Context(), task)
			asked := len(p.model.Requests())
			if err != nil || r.Limit != tt.want || tt.want == "turns" && asked != 3 {
				t.Errorf("limit %q after %d requests, %v", r.Limit, asked, err)
			}
			if one := r.Usage.USD / float64(asked); tt.want == "budget" && (r.Usage.USD < 0.05 || r.Usage.USD > 0.05+1.01*one) {
				t.Errorf("$%v after %d requests", r.Usage.USD, asked)
			}
			if strings.TrimSpace(p.read(task.Artifact)) != "# Plan" {
				t.Error("what was written is lost")
			}
		})
	}
	t.Run("a wrong key", func(t *testing.T) {
		p := newPlace(t)
		p.says(m.Always(m.Fail(401)))
		_, err := geminiAgent(t, p).Run(t.Context(), geminiTask(p))
		if why, ok := err.(*engine.AgentError); !ok || why.Class != metadata.Auth || len(p.model.Requests()) > 2 {
			t.Errorf("after %d requests: %v", len(p.model.Requests()), err)
		}
	})
}

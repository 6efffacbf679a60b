//go:build e2e

package e2e

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/agents"
	"github.com/reprise-ci/reprise/internal/test/cloudtest"
	m "github.com/reprise-ci/reprise/internal/test/model"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
)

// inCloud is Claude Code in a place, in a job without a stored key that asks Bedrock or Vertex AI.
func inCloud(t *testing.T, cloud string) (*place, *cloudtest.Server, engine.Agent) {
	t.Helper()
	p := newPlace(t)
	s := cloudtest.Start(p.model.URL)
	t.Cleanup(s.Close)
	environ := slices.DeleteFunc(p.environ(), func(kv string) bool { return strings.HasPrefix(kv, "ANTHROPIC_") })
	environ = append(environ, map[string][]string{"bedrock": s.Bedrock(), "vertex": s.Vertex()}[cloud]...)
	a, err := agents.For("claude", pipelines.Agent{Use: "claude"}, agents.Options{Environ: environ})
	testenv.Must(t, err)
	return p, s, a
}

// Claude Code asks its models in a cloud by a key that it never has, and what it uses counts.
func TestKeysOfCloudsStayOutside(t *testing.T) {
	for cloud, of := range map[string]struct {
		models string // what sonnet is there, and by which key
		usd    float64
	}{
		"bedrock": {"us.anthropic.claude-sonnet-4-5-20250929-v1:0 AWS4-HMAC-SHA256 Credential=ASIA", 0.024},
		"vertex":  {"claude-sonnet-5-5 Bearer token-of-key-2", 0.016},
	} {
		t.Run(cloud, func(t *testing.T) {
			p, s, a := inCloud(t, cloud)
			p.says(m.Turns(m.Run(`env; cat /proc/self/environ /proc/$PPID/environ; echo looked`).Costing(m.Usage{Input: 3000, Output: 200}), m.Say("Done.").Costing(m.Usage{Input: 3000, Output: 200})))
			task := p.task(pipelines.AccessTree)
			task.Model = "sonnet"
			r, err := a.Run(t.Context(), task)
			if err != nil || r.Text != "Done." {
				t.Fatalf("%+v, %v", r, err)
			}
			if r.Usage.InputTokens != 6000 || r.Usage.OutputTokens != 400 || r.Usage.USD < of.usd-1e-4 || r.Usage.USD > of.usd+1e-4 || len(r.Warnings) > 0 {
				t.Errorf("usage %+v, warnings %q", r.Usage, r.Warnings)
			}
			for _, asked := range s.Asked() {
				if !strings.HasPrefix(asked, of.models) {
					t.Errorf("asked %s", asked)
				}
			}
			requests := p.model.Requests()
			if len(requests) != 2 || !strings.Contains(fmt.Sprint(requests[1].Results()), "looked") {
				t.Fatalf("asked %d times", len(requests))
			}
			for _, secret := range s.Secrets() {
				if strings.Contains(string(requests[1].Body), secret) {
					t.Errorf("the program saw %s: %+v", secret, requests[1].Results())
				}
			}
		})
	}
}

// Limits hold in a cloud as elsewhere, where the gate is the only way out.
func TestLimitsHoldInClouds(t *testing.T) {
	for _, cloud := range []string{"bedrock", "vertex"} {
		t.Run(cloud, func(t *testing.T) {
			p, s, a := inCloud(t, cloud)
			p.says(m.Always(m.Run("true").Costing(m.Usage{Input: 3000, Output: 200})))
			task := p.task(pipelines.AccessTree)
			task.BudgetUSD, task.Network = 0.05, pipelines.Network{Closed: true}
			r, err := a.Run(t.Context(), task)
			one := r.Usage.USD / float64(len(s.Asked()))
			if err != nil || r.Limit != "budget" || r.Usage.USD < 0.05 || r.Usage.USD > 0.05+1.01*one {
				t.Errorf("limit %q after %d requests for $%v, %v", r.Limit, len(s.Asked()), r.Usage.USD, err)
			}
		})
	}
}

// What a cloud answers in place of a model has the class that it has elsewhere.
func TestCloudsThatDoNotAnswer(t *testing.T) {
	for _, cloud := range []string{"bedrock", "vertex"} {
		for status, want := range map[int]metadata.Class{429: metadata.RateLimited, 403: metadata.Auth} {
			t.Run(fmt.Sprintf("%s %d", cloud, status), func(t *testing.T) {
				p, s, a := inCloud(t, cloud)
				p.says(m.Always(m.Say("Done.")))
				s.Set(cloudtest.How{Status: status})
				_, err := a.Run(t.Context(), p.task(pipelines.AccessTree))
				var fault *engine.AgentError
				if !errors.As(err, &fault) || fault.Class != want || len(s.Asked()) > 8 { // 2.1.332 asks Vertex AI so often
					t.Errorf("%v, after %d requests", err, len(s.Asked()))
				}
			})
		}
	}
}

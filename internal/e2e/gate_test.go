//go:build e2e

package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/agents"
	m "github.com/reprise-ci/reprise/internal/test/model"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
)

// theKey is the key that the user of a place has.
const theKey = "test-key"

// placeholder is the form of what agents have in place of a key.
var placeholder = regexp.MustCompile(`reprise-[0-9a-f]{32}`)

// The model sees the real key and no other, and the program and what it starts see
// it nowhere: not in variables, of their own or of the programs above them, and not in files.
func TestTheKeyStaysOutside(t *testing.T) {
	each(t, func(t *testing.T, use string) {
		p := newPlace(t)
		p.says(m.Turns(m.Run(`env; for e in /proc/self/environ /proc/$PPID/environ; do tr '\0' ' ' < $e; done
			grep -rlsE 'test-ke[y]' ~ "$TMPDIR" . && echo in a file; echo looked`), m.Say("Done.")))
		p.do(use, p.task(pipelines.AccessTree))
		for _, r := range p.model.Requests() {
			shown := r.Header.Get("X-Api-Key") + strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
			if shown != theKey || placeholder.MatchString(fmt.Sprint(r.Header)) {
				t.Errorf("the model was shown %q, with %v", shown, r.Header)
			}
			testenv.Lacks(t, "what the program saw", string(r.Body), theKey)
		}
		results := p.model.Requests()[1].Results()
		if len(results) != 1 || !strings.Contains(results[0].Text, "looked") || strings.Contains(results[0].Text, "in a file") {
			t.Errorf("the program saw %+v", results)
		}
	})
}

// A key of Claude's own login is kept outside as well.
func TestATokenOfALoginStaysOutside(t *testing.T) {
	p := newPlace(t)
	p.says(m.Turns(m.Run("env"), m.Say("Done.")))
	environ := slices.DeleteFunc(p.environ(), func(kv string) bool { return strings.HasPrefix(kv, "ANTHROPIC_API_KEY=") })
	a, err := agents.For("claude", pipelines.Agent{Use: "claude"}, agents.Options{
		Environ: append(environ, "CLAUDE_CODE_OAUTH_TOKEN=sk-ant-oat01-the-token"),
	})
	testenv.Must(t, err)
	r, err := a.Run(t.Context(), p.task(pipelines.AccessTree))
	if err != nil || r.Text != "Done." {
		t.Fatalf("%+v, %v", r, err)
	}
	for _, r := range p.model.Requests() {
		if got := r.Header.Get("Authorization"); got != "Bearer sk-ant-oat01-the-token" {
			t.Errorf("the model was shown %q, %v", got, r.Header)
		}
		testenv.Lacks(t, "what the program saw", string(r.Body), "the-token")
	}
}

// A key that is made of a job's identity is one that Claude Code never has, and by which the model is asked.
func TestAKeyOfAJobStaysOutside(t *testing.T) {
	p := newPlace(t)
	p.says(m.Turns(m.Run("env"), m.Say("Done.")))
	model, err := url.Parse(p.model.URL)
	testenv.Must(t, err)
	made := map[string]string{"/identity": `{"value":"identity-of-the-job"}`, "/v1/oauth/token": `{"access_token":"sk-ant-oat01-of-the-job","expires_in":600}`}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if made[r.URL.Path] == "" {
			httputil.NewSingleHostReverseProxy(model).ServeHTTP(w, r)
			return
		}
		fmt.Fprint(w, made[r.URL.Path])
	}))
	t.Cleanup(s.Close)
	environ := slices.DeleteFunc(p.environ(), func(kv string) bool { return strings.HasPrefix(kv, "ANTHROPIC_") })
	a, err := agents.For("claude", pipelines.Agent{Use: "claude"}, agents.Options{
		Environ: append(environ, "ANTHROPIC_FEDERATION_RULE_ID=fdrl_1", "ANTHROPIC_ORGANIZATION_ID=o", "ANTHROPIC_BASE_URL="+s.URL,
			"ACTIONS_ID_TOKEN_REQUEST_URL="+s.URL+"/identity", "ACTIONS_ID_TOKEN_REQUEST_TOKEN=token-of-the-job"),
	})
	testenv.Must(t, err)
	r, err := a.Run(t.Context(), p.task(pipelines.AccessTree))
	if err != nil || r.Text != "Done." {
		t.Fatalf("%+v, %v", r, err)
	}
	for _, r := range p.model.Requests() {
		if got := r.Header.Get("Authorization"); got != "Bearer sk-ant-oat01-of-the-job" || !strings.HasSuffix(r.Header.Get("Anthropic-Beta"), ",oauth-2025-04-20") || r.Header.Get("X-Api-Key") != "" {
			t.Errorf("the model was shown %q, %v", got, r.Header)
		}
		testenv.Lacks(t, "what the program saw", string(r.Body), "of-the-job")
	}
}

// asker is a program that asks the model again and again, whatever it is told.
const asker = `#!/bin/sh
mkdir -p "$(dirname "$REPRISE_ARTIFACT")" && echo "# Plan" > "$REPRISE_ARTIFACT"
exec node -e '
const ask = async () => {
	for (;;) {
		const r = await fetch(process.env.REPRISE_MODEL_URL + "/v1/messages", {method: "POST",
			headers: {"x-api-key": process.env.ANTHROPIC_API_KEY, "content-type": "application/json"},
			body: JSON.stringify({model: "claude-opus-4-5", max_tokens: 10, messages: [{role: "user", content: "on"}]})});
		await r.text();
		await new Promise(done => setTimeout(done, 50));
	}
};
ask();
'
`

// asking is an agent of each kind in a place whose model never comes to an end.
func asking(t *testing.T, use string) (*place, engine.Agent) {
	p := newPlace(t)
	p.says(m.Always(m.Run("true").Costing(m.Usage{Input: 3000, Output: 200})))
	if use != "command" {
		p.says(func(r m.Request) m.Reply {
			if len(r.Results()) == 0 {
				return m.Write(p.artifact(), "# Plan\n").Costing(m.Usage{Input: 3000, Output: 200})
			}
			return m.Run("true").Costing(m.Usage{Input: 3000, Output: 200})
		})
		return p, p.agent(use)
	}
	p.write("asker", asker)
	testenv.Must(t, os.Chmod(filepath.Join(p.root, "asker"), 0o755))
	a, err := agents.For("command", pipelines.Agent{Use: "command", Command: []string{filepath.Join(p.root, "asker")}, Env: []string{"ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"}}, agents.Options{Environ: p.environ()})
	testenv.Must(t, err)
	return p, a
}

func TestLimitsHoldForEveryAgent(t *testing.T) {
	t.Parallel()
	for _, use := range []string{"claude", "codex", "command"} {
		t.Run(use+" turns", func(t *testing.T) {
			p, a := asking(t, use)
			task := p.task(pipelines.AccessTree)
			task.Turns = 3
			r, err := a.Run(t.Context(), task)
			if err != nil || r.Limit != "turns" || len(p.model.Requests()) != 3 {
				t.Errorf("limit %q after %d requests, %v", r.Limit, len(p.model.Requests()), err)
			}
			if strings.TrimSpace(p.read(task.Artifact)) != "# Plan" {
				t.Error("what was written is lost")
			}
			if r.Usage.InputTokens != 9000 || r.Usage.OutputTokens != 600 || r.Usage.USD <= 0 {
				t.Errorf("usage %+v", r.Usage)
			}
		})
		t.Run(use+" budget", func(t *testing.T) {
			p, a := asking(t, use)
			task := p.task(pipelines.AccessTree)
			task.Model = map[string]string{"codex": "gpt-5.1-codex"}[use]
			task.BudgetUSD = 0.05
			r, err := a.Run(t.Context(), task)
			one := r.Usage.USD / float64(len(p.model.Requests()))
			if err != nil || r.Limit != "budget" || r.Usage.USD < 0.05 || r.Usage.USD > 0.05+1.01*one {
				t.Errorf("limit %q after %d requests for $%v, %v", r.Limit, len(p.model.Requests()), r.Usage.USD, err)
			}
			if strings.TrimSpace(p.read(task.Artifact)) != "# Plan" {
				t.Error("what was written is lost")
			}
		})
	}
}

// A key that is wrong ends the call at the first answer.
func TestAWrongKeyIsTriedOnce(t *testing.T) {
	each(t, func(t *testing.T, use string) {
		p := newPlace(t)
		p.says(m.Always(m.Fail(401)))
		p.fail(use, p.task(pipelines.AccessArtifacts), metadata.Auth)
		if n := len(p.model.Requests()); n > 2 {
			t.Errorf("it was tried %d times", n)
		}
	})
}

// The reviewer's typed answer passes as it did, and a model that is not named is refused.
func TestAModelThatIsNotNamed(t *testing.T) {
	each(t, func(t *testing.T, use string) {
		p := newPlace(t)
		p.more = append(p.more, "ANTHROPIC_MODEL=")
		p.says(m.Always(m.Say("Done.")))
		task := p.task(pipelines.AccessRead)
		task.Model = map[string]string{"claude": "haiku", "codex": "gpt-5-nano"}[use]
		p.do(use, task)
		data, _ := json.Marshal(p.model.Requests()[0].Model)
		testenv.Has(t, "what was asked for", string(data), task.Model)
	})
}

// In a closed network an agent reaches its model and nothing else; what it asked for
// besides is known.
func TestAClosedNetworkHasTheModelAlone(t *testing.T) {
	each(t, func(t *testing.T, use string) {
		p := newPlace(t)
		p.more = []string{"GEMINI_API_KEY=" + theKey, "GOOGLE_GEMINI_BASE_URL=" + p.model.URL}
		world := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("the world was reached") }))
		defer world.Close()
		look := fmt.Sprintf(`node -e '
			const proxy = new URL(process.env.HTTP_PROXY);
			fetch("%s").then(() => console.log("reached"), () => console.log("out of reach"));
			require("http").get({host: proxy.hostname, port: proxy.port, path: "http://else.test/", headers: {
				"proxy-authorization": "Basic " + Buffer.from(proxy.username + ":" + proxy.password).toString("base64")}},
				r => { console.log("status " + r.statusCode); r.resume(); });'`, world.URL)
		p.says(m.Turns(m.Run(look), m.Say("Done.")))
		a := p.contained(use)
		task := p.task(pipelines.AccessTree)
		task.Model, task.Network = map[string]string{"gemini": "gemini-2.5-pro"}[use], pipelines.Network{Closed: true}
		r, err := a.Run(t.Context(), task)
		if err != nil || r.Text != "Done." {
			t.Fatalf("%+v, %v", r, err)
		}
		results := p.model.Requests()[1].Results()
		testenv.Has(t, "what the program saw", fmt.Sprint(results), "out of reach", "status 403")
		if !slices.Contains(r.Refused, engine.Refused{Host: "else.test:80", Count: 1}) {
			t.Errorf("refused: %+v", r.Refused)
		}
	}, "gemini")
}

// A service on this machine that the user's own settings of a program name is reached out of a closed network.
func TestAServiceOnThisMachineThatSettingsName(t *testing.T) {
	each(t, func(t *testing.T, use string) {
		p := newPlace(t)
		p.says(m.Always(m.Say("Done.")))
		p.write("home/.claude/settings.json", fmt.Sprintf(`{"env":{"ANTHROPIC_BASE_URL":%q}}`, p.model.URL))
		p.write("home/.codex/config.toml", fmt.Sprintf("model_provider = \"mine\"\n[model_providers.mine]\nname = \"mine\"\nbase_url = %q\nwire_api = \"responses\"\n", p.model.URL+"/v1"))
		a := p.contained(use)
		task := p.task(pipelines.AccessTree)
		task.Network = pipelines.Network{Closed: true}
		if r, err := a.Run(t.Context(), task); err != nil || r.Text != "Done." {
			t.Errorf("%+v, %v", r, err)
		}
	})
}

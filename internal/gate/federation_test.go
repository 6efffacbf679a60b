package gate

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
)

// exchanges plays GitHub, which gives a job its identity, and Anthropic, which gives a key for that and takes it.
type exchanges struct {
	*httptest.Server
	refusal string // what Anthropic says in place of a key
	github  int    // status of GitHub's answer; 0: it is good
	made    int
	seen    []string // what reached a model
	env     []string
}

func newExchanges(t *testing.T) *exchanges {
	t.Helper()
	x := &exchanges{}
	x.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.URL.Path == "/identity" && x.github != 0:
			w.WriteHeader(x.github)
			fmt.Fprintf(w, `{"message":"no, %s"}`, r.Header.Get("Authorization"))
		case r.URL.Path == "/identity":
			if got := r.Header.Get("Authorization") + r.URL.Query().Get("audience") + r.URL.Query().Get("api-version"); got != "Bearer request-tokenhttps://api.anthropic.com2" {
				t.Errorf("GitHub was asked with %s", got)
			}
			fmt.Fprintf(w, `{"value":"identity-of-the-job"}`)
		case r.URL.Path == "/v1/oauth/token" && x.refusal != "":
			w.WriteHeader(http.StatusUnauthorized)
			io.WriteString(w, x.refusal)
		case r.URL.Path == "/v1/oauth/token":
			var order map[string]string
			if err := json.NewDecoder(r.Body).Decode(&order); err != nil {
				t.Error(err)
			}
			want := "urn:ietf:params:oauth:grant-type:jwt-bearer identity-of-the-job fdrl_1 org-1 svac_1"
			if got := strings.Join([]string{order["grant_type"], order["assertion"], order["federation_rule_id"], order["organization_id"], order["service_account_id"]}, " "); got != want || len(order) != 5 {
				t.Errorf("asked for a key with %v", order)
			}
			if beta := r.Header.Get("Anthropic-Beta"); beta != "oauth-2025-04-20,oidc-federation-2026-04-01" {
				t.Errorf("asked for a key with %s", beta)
			}
			x.made++
			fmt.Fprintf(w, `{"access_token":"short-lived-%d","token_type":"Bearer","expires_in":3600}`, x.made)
		default:
			x.seen = append(x.seen, r.Header.Get("Authorization")+" "+r.Header.Get("Anthropic-Beta")+" "+r.Header.Get("X-Api-Key"))
			io.WriteString(w, anthropicWhole)
		}
	}))
	t.Cleanup(x.Close)
	x.env = []string{
		"ANTHROPIC_FEDERATION_RULE_ID=fdrl_1", "ANTHROPIC_ORGANIZATION_ID=org-1", "ANTHROPIC_SERVICE_ACCOUNT_ID=svac_1", "ANTHROPIC_BASE_URL=" + x.URL,
		"ACTIONS_ID_TOKEN_REQUEST_URL=" + x.URL + "/identity?api-version=2", "ACTIONS_ID_TOKEN_REQUEST_TOKEN=request-token",
	}
	return x
}

// A job's identity becomes a key that the program never has, and that is made anew before it ends.
func TestFederation(t *testing.T) {
	x, learned := newExchanges(t), []string{}
	f := Federate("claude", x.env, func(s string) { learned = append(learned, s) })
	p := openedPassage(t, Call{Agent: "claude", Env: x.env[:1:1], Federation: f})
	if slices.ContainsFunc(p.Env, func(kv string) bool { return strings.HasPrefix(kv, federationRule) }) || !slices.Contains(p.Env, "ANTHROPIC_AUTH_TOKEN="+p.gate.Placeholder()) {
		t.Errorf("the program has %q", p.Env)
	}
	// It asks the gate; the address of the service stands in the environment of the job alone.
	p = openedPassage(t, Call{Agent: "claude", Env: []string{x.env[0], x.env[3]}, Federation: f})
	asked := func() {
		t.Helper()
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, p.gate.URL("anthropic")+"/v1/messages", strings.NewReader(`{"model":"large-1","max_tokens":1}`))
		r.Header.Set("Authorization", "Bearer "+p.gate.Placeholder())
		r.Header.Set("Anthropic-Beta", "one")
		res := fetched(t, r)
		if got := textOf(t, res); got != anthropicWhole {
			t.Errorf("%d %s", res.StatusCode, got)
		}
	}
	asked()
	asked()
	f.renew = time.Now() // it nears its end
	asked()
	f.renew, x.refusal = time.Now(), `{"error":"invalid_grant"}` // and cannot be renewed, but is good for some minutes
	asked()
	told := len(learned)
	asked()
	if len(learned) != told {
		t.Error("each request tries to renew the key")
	}
	if got := strings.Join(x.seen, "|"); got != "Bearer short-lived-1 one,oauth-2025-04-20 |Bearer short-lived-1 one,oauth-2025-04-20 |Bearer short-lived-2 one,oauth-2025-04-20 |Bearer short-lived-2 one,oauth-2025-04-20 |Bearer short-lived-2 one,oauth-2025-04-20 " {
		t.Errorf("the model was asked with %s", got)
	}
	if got := strings.Join(slices.Compact(learned), " "); got != "identity-of-the-job short-lived-1 identity-of-the-job short-lived-2 identity-of-the-job" {
		t.Errorf("secrets are %s", got)
	}
	f.renew, f.ends = time.Now(), time.Now()
	res := send(t, p.gate, http.MethodPost, p.gate.URL("anthropic")+"/v1/messages", p.gate.Placeholder(), strings.NewReader(`{"model":"large-1","max_tokens":1}`))
	if got := textOf(t, res); res.StatusCode != http.StatusBadGateway || !strings.Contains(got, "invalid_grant") || len(x.seen) != 5 {
		t.Errorf("%d %s, asked %d times", res.StatusCode, got, len(x.seen))
	}
}

// What is wrong is said in one sentence, without what is secret, and no model is asked.
func TestFederationRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(x *exchanges)
		want   string
	}{
		"no organisation": {func(x *exchanges) { x.env = slices.Delete(x.env, 1, 2) }, "ANTHROPIC_FEDERATION_RULE_ID is set without ANTHROPIC_ORGANIZATION_ID: set both"},
		"no permission":   {func(x *exchanges) { x.env = x.env[:4] }, "give the job on GitHub the permission id-token: write"},
		"no https":        {func(x *exchanges) { x.env[3] = "ANTHROPIC_BASE_URL=http://gw.test" }, "has no https"},
		"GitHub":          {func(x *exchanges) { x.github = 403 }, "GitHub does not give the job its identity: HOST answers with 403: no, Bearer [the key]"},
		"OAuth": {
			func(x *exchanges) {
				x.refusal = `{"error":"invalid_grant","error_description":"wrong audience in identity-of-the-job"}`
			},
			"not taken for a key: HOST answers with 401: invalid_grant: wrong audience in [the key]; its federation rule has to fit this repository and the audience https://api.anthropic.com",
		},
		"Anthropic": {func(x *exchanges) { x.refusal = `{"type":"error","error":{"type":"x","message":"no rule\nfits"}}` }, "HOST answers with 401: no rule; its federation"},
		"a long one": {
			func(x *exchanges) { x.refusal = `{"error":"` + strings.Repeat("x", 285) + `identity-of-the-job"}` }, "HOST answers with 401: xxx",
		},
		"a page": {func(x *exchanges) { x.refusal = "<html>" }, "HOST answers with 401; its federation"},
		"nobody": {func(x *exchanges) { x.Close() }, "HOST gives no answer: "},
	} {
		x := newExchanges(t)
		tt.change(x)
		err := Federate("claude", x.env, func(string) {}).Check()
		want := strings.ReplaceAll(tt.want, "HOST", strings.TrimPrefix(x.URL, "http://"))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "request-token") || strings.Contains(err.Error(), "identity-of") || len(x.seen) > 0 {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	env := newExchanges(t).env
	for _, more := range []string{"ANTHROPIC_API_KEY=a", "CLAUDE_CODE_OAUTH_TOKEN=a", "CLAUDE_CODE_USE_BEDROCK=1"} {
		if Federate("claude", append([]string{more}, env...), nil) != nil {
			t.Errorf("with %s, a key is made", more)
		}
	}
	if Federate("codex", env, nil) != nil || Federate("claude", nil, nil) != nil {
		t.Error("a key is made that nobody asks for")
	}
}

package gate

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/pipelines"
)

// A program whose login cannot stay outside reaches its service by itself; any other
// has the gate alone.
func TestHosts(t *testing.T) {
	for name, tt := range map[string]struct {
		call Call
		want []string
	}{
		"a key":             {Call{Agent: "claude", Env: []string{"ANTHROPIC_API_KEY=k"}}, nil},
		"a login":           {Call{Agent: "claude"}, []string{"api.anthropic.com", "console.anthropic.com", "platform.claude.com"}},
		"Codex":             {Call{Agent: "codex", Login: true}, []string{"api.openai.com", "chatgpt.com", "auth.openai.com"}},
		"Vertex":            {Call{Agent: "claude", Env: []string{"CLAUDE_CODE_USE_VERTEX=1", "CLOUD_ML_REGION=europe-west1"}}, []string{"europe-west1-aiplatform.googleapis.com", "aiplatform.googleapis.com", "oauth2.googleapis.com"}},
		"an odd region":     {Call{Agent: "claude", Env: []string{"CLAUDE_CODE_USE_VERTEX=1", "CLOUD_ML_REGION=x.evil/"}}, []string{"us-east-1-aiplatform.googleapis.com", "aiplatform.googleapis.com", "oauth2.googleapis.com"}},
		"a program of ours": {Call{Agent: "worker"}, nil},
		"settings": {
			Call{Agent: "claude", Settings: []byte(`{"env":{"ANTHROPIC_BASE_URL":"https://models.example:8443/v1"},"x":"http://other.example","y":"https://$HOST/z"}`)},
			[]string{"api.anthropic.com", "console.anthropic.com", "platform.claude.com", "models.example:8443", "other.example"},
		},
	} {
		if diff := cmp.Diff(tt.want, tt.call.hosts()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// What was refused is told, with what would allow it, but not what a program asks
// for at each start.
func TestRefusals(t *testing.T) {
	seen := Report{Refused: []refused{{Host: "chatgpt.com:443", Count: 1}, {Host: "pypi.org:443", Count: 2}}}
	var r Told
	(&Passage{call: Call{Agent: "codex"}}).Complete(seen, &r)
	want := Told{
		Refused:  []refused{{Host: "pypi.org:443", Count: 2}},
		Warnings: []string{"codex was refused hosts that the pipeline does not allow: pypi.org:443 (2); `network: allow: [\"pypi.org:443\"]` would allow them"},
	}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A host of this machine that settings name, or the pipeline allows, is asked for by the gate, as a network of the
// call's own has no other way to it; all else there stays the call's.
func TestHostsOfThisMachine(t *testing.T) {
	there := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	defer there.Close()
	host := strings.TrimPrefix(there.URL, "http://")
	closed := pipelines.Network{Closed: true}
	for name, c := range map[string]Call{
		"settings": {Agent: "codex", Settings: []byte("model_provider = \"mine\"\n[model_providers.mine]\nbase_url = \"" + there.URL + "/v1\"\n"), Network: closed},
		"pipeline": {Network: pipelines.Network{Closed: true, Allow: []string{host}}},
		"neither":  {Network: closed},
	} {
		p := openedPassage(t, c)
		asks, err := url.Parse(process.Lookup(p.Env, "HTTP_PROXY"))
		if err != nil {
			t.Fatal(err)
		}
		res, err := (&http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(asks)}}).Get(there.URL)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		byGate := !strings.HasPrefix(process.Lookup(p.Env, "NO_PROXY"), "127.0.0.1")
		if want := name != "neither"; byGate != want || (res.StatusCode == http.StatusOK) != want {
			t.Errorf("%s: NO_PROXY is %q, status %d", name, process.Lookup(p.Env, "NO_PROXY"), res.StatusCode)
		}
	}
}

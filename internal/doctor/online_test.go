package doctor

import (
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/pipelines"
)

// A key is tried by a list of models: it goes to its own service alone, in the header
// of that, and is never shown.
func TestOnline(t *testing.T) {
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		t.Errorf("a redirection was followed, with %v", r.Header)
	}))
	defer other.Close()
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path + " " + r.Header.Get("X-Api-Key") + r.Header.Get("Authorization") + r.Header.Get("X-Goog-Api-Key") {
		case "/v1/models right", "/models Bearer right", "/v1beta/models right":
		case "/v1/models busy":
			w.WriteHeader(http.StatusTooManyRequests)
		case "/v1/models moved":
			http.Redirect(w, r, other.URL, http.StatusFound)
		default:
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	defer service.Close()
	at := []string{"ANTHROPIC_BASE_URL=" + service.URL, "OPENAI_BASE_URL=" + service.URL + "/", "GOOGLE_GEMINI_BASE_URL=" + service.URL}
	host := strings.TrimPrefix(service.URL, "http://")
	for name, tt := range map[string]struct {
		use, key string
		want     Check
	}{
		"claude":     {"claude", "ANTHROPIC_API_KEY=right", well("claude key", host+" takes it: it has listed its models, which costs nothing")},
		"codex":      {"codex", "OPENAI_API_KEY=right", well("codex key", host+" takes it: it has listed its models, which costs nothing")},
		"gemini":     {"gemini", "GEMINI_API_KEY=right", well("gemini key", host+" takes it: it has listed its models, which costs nothing")},
		"refused":    {"claude", "ANTHROPIC_API_KEY=wrong", lacking("claude key", host+" refuses it (401)", "make a new one there, and store it where this one is")},
		"busy":       {"claude", "ANTHROPIC_API_KEY=busy", hinted("claude key", host+" has answered with 429, which says nothing about the key", "")},
		"moved":      {"claude", "ANTHROPIC_API_KEY=moved", hinted("claude key", host+" has answered with 302, which says nothing about the key", "")},
		"of another": {"codex", "ANTHROPIC_API_KEY=right", hinted("codex key", "not tried: there is no key in a variable that can be asked about without the program", "start codex once by hand to see that it works")},
	} {
		p := programs{env: environ.Env{Environ: append([]string{tt.key}, at...)}}
		plan := &pipelines.Pipeline{Agents: map[string]pipelines.Agent{"own": {Use: tt.use}}, Phases: []pipelines.Phase{{Execute: pipelines.Step{Agent: "own"}}}}
		if diff := cmp.Diff([]Check{tt.want}, p.online(t.Context(), []*pipelines.Pipeline{plan})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A login in a file beside the key is told, and which of the two the program goes by.
func TestOnlineBesideALogin(t *testing.T) {
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.Header.Get("Authorization"), "wrong") {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}))
	defer service.Close()
	host := strings.TrimPrefix(service.URL, "http://")
	home := t.TempDir()
	for _, name := range []string{".claude/.credentials.json", ".codex/auth.json", ".gemini/oauth_creds.json"} {
		err := os.MkdirAll(filepath.Dir(filepath.Join(home, name)), 0o755)
		if err == nil {
			err = os.WriteFile(filepath.Join(home, name), []byte("{}"), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	takes := host + " takes it: it has listed its models, which costs nothing"
	for key, want := range map[string]Check{
		"ANTHROPIC_API_KEY=right": well("claude key", takes),
		"CODEX_API_KEY=right":     well("codex key", takes),
		"GEMINI_API_KEY=right":    well("gemini key", takes),
	} {
		use, _, _ := strings.Cut(want.Name, " ")
		p := programs{env: environ.Env{Environ: []string{"HOME=" + home, key, "ANTHROPIC_BASE_URL=" + service.URL, "OPENAI_BASE_URL=" + service.URL, "GOOGLE_GEMINI_BASE_URL=" + service.URL}}}
		plan := &pipelines.Pipeline{Agents: map[string]pipelines.Agent{"own": {Use: use}}, Phases: []pipelines.Phase{{Execute: pipelines.Step{Agent: "own"}}}}
		if diff := cmp.Diff([]Check{want}, p.online(t.Context(), []*pipelines.Pipeline{plan})); diff != "" {
			t.Errorf("%s (-want +got):\n%s", key, diff)
		}
	}
}

package gate

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/pipelines"
)

// A program holds what lies in a file of its own, and what leads it past the gate; a
// key in a variable it does not.
func TestWhatProgramsHold(t *testing.T) {
	all := map[string]pipelines.Agent{"a": {Use: "claude"}, "b": {Use: "codex"}, "c": {Use: "gemini"}, "d": {Use: "command"}, "e": {Use: "claude"}}
	for name, tt := range map[string]struct {
		files map[string]string
		env   []string
		want  []heldKey
	}{
		"nothing":             {nil, nil, nil},
		"keys":                {nil, []string{"ANTHROPIC_API_KEY=a", "OPENAI_API_KEY=b", "GEMINI_API_KEY=c"}, nil},
		"logins":              {map[string]string{".claude/.credentials.json": "{}", ".codex/auth.json": "{}", ".gemini/oauth_creds.json": "{}"}, nil, []heldKey{{"claude", []string{".credentials.json"}}, {"codex", []string{"auth.json"}}, {"gemini", []string{"oauth_creds.json"}}}},
		"a login and a key":   {map[string]string{".codex/auth.json": "{}"}, []string{"OPENAI_API_KEY=b"}, []heldKey{{"codex", []string{"auth.json"}}}},
		"logged out":          {map[string]string{".codex/auth.json": "\n"}, nil, nil},
		"elsewhere":           {map[string]string{"there/auth.json": "{}"}, []string{"CODEX_HOME=HOME/there"}, []heldKey{{"codex", []string{"auth.json"}}}},
		"Bedrock":             {map[string]string{".aws/credentials": "[default]"}, []string{"CLAUDE_CODE_USE_BEDROCK=1"}, []heldKey{{"claude", []string{"credentials", "Amazon Bedrock"}}}},
		"files of no Bedrock": {map[string]string{".aws/credentials": "[default]"}, nil, nil},
		"Vertex":              {map[string]string{".claude/settings.json": "{}"}, []string{"CLAUDE_CODE_USE_VERTEX=1", "GOOGLE_GENAI_USE_VERTEXAI=true"}, []heldKey{{"claude", []string{"Google Vertex AI"}}, {"gemini", []string{"Google Vertex AI"}}}},
		"settings":            {map[string]string{".claude/settings.json": `{"apiKeyHelper":"x"}`, ".codex/config.toml": "model_provider = \"mine\""}, nil, []heldKey{{"claude", []string{"settings.json"}}, {"codex", []string{"config.toml"}}}},
		"settings of Gemini":  {map[string]string{".gemini/settings.json": `{"security":{"auth":{"selectedType":"oauth-personal"}}}`}, []string{"GEMINI_API_KEY=c"}, []heldKey{{"gemini", []string{"settings.json"}}}},
		"a key by choice":     {map[string]string{".gemini/settings.json": `{"security":{"auth":{"selectedType":"gemini-api-key"}}}`}, []string{"GEMINI_API_KEY=c"}, nil},
		"other settings":      {map[string]string{".claude/settings.json": `{"model":"x"}`, ".codex/config.toml": "model = \"x\"", ".gemini/settings.json": "{}"}, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			for file, text := range tt.files {
				file = filepath.Join(home, file)
				testenv.Must(t, os.MkdirAll(filepath.Dir(file), 0o755))
				testenv.Must(t, os.WriteFile(file, []byte(text), 0o600))
			}
			env := []string{"HOME=" + home}
			for _, kv := range tt.env {
				if kv == "CODEX_HOME=HOME/there" {
					kv = "CODEX_HOME=" + filepath.Join(home, "there")
				}
				env = append(env, kv)
			}
			if d := cmp.Diff(tt.want, KeysHeldBy(all, slices.Clip(env))); d != "" {
				t.Error(d)
			}
		})
	}
}

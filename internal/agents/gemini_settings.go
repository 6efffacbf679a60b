package agents

import (
	"bytes"
	"encoding/json"

	"github.com/reprise-ci/reprise/internal/gate"
)

// chosenKey gives settings in which Gemini uses a key, unless they choose another way: by itself it takes the gate for
// a way to log in, and refuses that (0.61.0).
func chosenKey(settings []byte) []byte {
	all := map[string]any{}
	if len(bytes.TrimSpace(settings)) > 0 && json.Unmarshal(settings, &all) != nil || gate.GeminiChooses(settings) || all == nil {
		return settings
	}
	below := func(in map[string]any, name string) map[string]any {
		out, ok := in[name].(map[string]any)
		if !ok {
			out = map[string]any{}
			in[name] = out
		}
		return out
	}
	below(below(all, "security"), "auth")["selectedType"] = "gemini-api-key"
	out, err := json.Marshal(all)
	if err != nil {
		return settings // unreachable: it was JSON before
	}
	return out
}

package agents

import (
	"encoding/json"
	"errors"
	"path/filepath"
)

// claudeEvent is a line that Claude Code prints; each kind fills some of it.
type claudeEvent struct {
	Type, Subtype string
	Session       string `json:"session_id"`
	Model         string
	Message       struct {
		ID, Model string
		Content   []claudeBlock
		Usage     claudeUsage
	}
	Word json.RawMessage `json:"error"`

	// Of init.
	Servers []struct{ Name, Status string } `json:"mcp_servers"`

	// Of api_retry.
	Status  int     `json:"error_status"`
	DelayMS float64 `json:"retry_delay_ms"`

	// Of result.
	IsError    bool `json:"is_error"`
	APIStatus  int  `json:"api_error_status"`
	Turns      int  `json:"num_turns"`
	Result     string
	USD        float64 `json:"total_cost_usd"`
	Usage      claudeUsage
	ModelUsage map[string]struct {
		Input         int64 `json:"inputTokens"`
		Output        int64 `json:"outputTokens"`
		CacheRead     int64 `json:"cacheReadInputTokens"`
		CacheCreation int64 `json:"cacheCreationInputTokens"`
	}
	Denials []struct {
		Tool string `json:"tool_name"`
	} `json:"permission_denials"`
	Errors []string
}

// claudeBlock is a part of a message.
type claudeBlock struct {
	Type, Text, Thinking, Name, ID string
	Input, Content                 json.RawMessage
	Of                             string `json:"tool_use_id"`
	IsError                        bool   `json:"is_error"`
}

// claudeUsage is what a message, or a call, used.
type claudeUsage struct {
	Input         int64 `json:"input_tokens"`
	Output        int64 `json:"output_tokens"`
	CacheRead     int64 `json:"cache_read_input_tokens"`
	CacheCreation int64 `json:"cache_creation_input_tokens"`
}

// codexEvent is a line that Codex prints.
type codexEvent struct {
	Type    string
	Thread  string `json:"thread_id"`
	Message string
	Error   struct{ Message string }
	Usage   codexUsage
	Item    codexItem
}

// codexItem is what Codex says or does.
type codexItem struct {
	Type, Text, Command, Tool, Server, Query, Status, Message string
	Output                                                    string `json:"aggregated_output"`
	ExitCode                                                  *int   `json:"exit_code"`
	Arguments                                                 json.RawMessage
	Changes                                                   []struct{ Path, Kind string }
	Result                                                    struct{ Content json.RawMessage } // of a server's tool
}

// codexUsage is what a session of Codex has used since it began, so also in
// the calls before this one.
type codexUsage struct {
	Input  int64 `json:"input_tokens"` // cached ones are among them
	Cached int64 `json:"cached_input_tokens"`
	Output int64 `json:"output_tokens"` // reasoning is among them
}

// geminiEvent is a line that Gemini prints.
type geminiEvent struct {
	Type, Role, Content, Status, Output, Message string
	Session                                      string `json:"session_id"`
	Model                                        string
	Delta                                        bool
	Tool                                         string          `json:"tool_name"`
	ToolID                                       string          `json:"tool_id"`
	Parameters                                   json.RawMessage `json:"parameters"`
	Error                                        struct{ Type, Message string }
	Stats                                        struct {
		Input  int64 `json:"input_tokens"` // cached ones are among them
		Output int64 `json:"output_tokens"`
		Cached int64
	}
}

// decode reads JSON from a program into v, and says whether it was JSON. What does not fit is left out.
func decode(data []byte, v any) bool {
	err := json.Unmarshal(data, v)
	return err == nil || errors.As(err, new(*json.UnmarshalTypeError))
}

// target says on what a tool is used: the argument that says most, with paths seen from
// dir; "" if none does.
func target(input json.RawMessage, dir string) string {
	var given map[string]any
	decode(input, &given)
	for _, key := range []string{"file_path", "notebook_path", "absolute_path", "path", "dir_path", "command", "pattern", "url", "query", "description", "prompt"} {
		if text, is := given[key].(string); is && text != "" {
			return within(text, dir)
		}
	}
	return ""
}

// within makes a path short that lies in a work tree.
func within(file, dir string) string {
	if rel, err := filepath.Rel(dir, file); dir != "" && filepath.IsAbs(file) && err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return file
}

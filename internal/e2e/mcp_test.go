//go:build e2e

package e2e

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/reprise-ci/reprise/internal/agents"
	m "github.com/reprise-ci/reprise/internal/test/model"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/pipelines"
)

// wordServer is the variable that has this program be a server of tools, which tells the
// meaning of words.
const wordServer = "E2E_WORD_SERVER"

// mcpKey is the key that servers of tools want to be shown.
const mcpKey = "wordbook-5f4dcc3b5aa765d6"

// serveWords answers requests of MCP on a line each.
func serveWords(in io.Reader, out io.Writer, key string) {
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		if answer := answerWords(lines.Bytes(), key); answer != nil {
			fmt.Fprintf(out, "%s\n", answer)
		}
	}
}

// answerWords answers one request of MCP; nil is for what wants no answer.
func answerWords(line []byte, key string) []byte {
	var r struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params struct {
			Name      string
			Version   string `json:"protocolVersion"`
			Arguments map[string]string
		} `json:"params"`
	}
	if json.Unmarshal(line, &r) != nil || r.ID == nil {
		return nil
	}
	var result any
	switch r.Method {
	case "initialize":
		result = map[string]any{"protocolVersion": r.Params.Version, "capabilities": map[string]any{"tools": map[string]any{}}, "serverInfo": map[string]string{"name": "words", "version": "1"}}
	case "ping":
		result = map[string]any{}
	case "tools/list":
		schema := map[string]any{"type": "object", "properties": map[string]any{"word": map[string]string{"type": "string"}}}
		result = map[string]any{"tools": []any{
			map[string]any{"name": "meaning", "description": "The meaning of a word", "inputSchema": schema},
			map[string]any{"name": "forget", "description": "Forget a word", "inputSchema": schema},
		}}
	case "tools/call":
		text := r.Params.Name + " of " + r.Params.Arguments["word"] + ": to do again from the start"
		if key != mcpKey {
			text = "I was not shown the key"
		}
		result = map[string]any{"content": []any{map[string]string{"type": "text", "text": text}}}
	default:
		answer, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": r.ID, "error": map[string]any{"code": -32601, "message": "no such method"}})
		return answer
	}
	answer, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": r.ID, "result": result})
	return answer
}

// wordsOverHTTP is such a server on loopback.
func wordsOverHTTP(t *testing.T) (address string, asked func() int) {
	t.Helper()
	var mu sync.Mutex
	n := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		switch {
		case r.Method != http.MethodPost:
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		case err != nil || r.URL.Path != "/mcp" || r.Header.Get("Authorization") != "Bearer "+mcpKey:
			http.Error(w, "who are you?", http.StatusForbidden)
			return
		}
		mu.Lock()
		n++
		mu.Unlock()
		answer := answerWords(body, mcpKey)
		if answer == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Write(answer)
	}))
	t.Cleanup(func() { s.CloseClientConnections(); s.Close() })
	return s.URL + "/mcp", func() int { mu.Lock(); defer mu.Unlock(); return n }
}

// words is this program as a server of tools at the place, in a folder of PATH.
func (p *place) words() {
	p.t.Helper()
	self, err := os.Executable()
	testenv.Must(p.t, err)
	data := testenv.Read(p.t, self)
	p.write("bin/wordbook", data)
	testenv.Must(p.t, os.Chmod(filepath.Join(p.root, "bin", "wordbook"), 0o755))
	p.more = append(p.more, "PATH="+programs+":"+filepath.Join(p.root, "bin")+":"+os.Getenv("PATH"), "WORDBOOK_KEY="+mcpKey)
}

// with is an agent of this place that is given more.
func (p *place) with(use string, set pipelines.ToolSet) func(access pipelines.Access) ([]string, string) {
	p.t.Helper()
	a, err := agents.For(use, pipelines.Agent{Use: use, ToolSet: set}, agents.Options{Environ: lastOf(p.environ())})
	testenv.Must(p.t, err)
	return func(access pipelines.Access) ([]string, string) {
		r, err := a.Run(p.t.Context(), p.task(access))
		if err != nil {
			p.t.Fatalf("%v\nresult: %+v", err, r)
		}
		return r.Warnings, r.Text
	}
}

// lastOf gives an environment in which each variable is there once, as its last value.
func lastOf(env []string) (out []string) {
	values := map[string]string{}
	for _, kv := range env {
		name, value, _ := strings.Cut(kv, "=")
		values[name] = value
	}
	for name, value := range values {
		out = append(out, name+"="+value)
	}
	return out
}

// asks is a model that uses two tools of a server, and says what it was answered.
func asks(server string) m.Script {
	return func(r m.Request) m.Reply {
		results := r.Results()
		if used := []string{"meaning", "forget"}; len(results) < len(used) {
			return m.Served(server, used[len(results)], map[string]string{"word": "reprise"})
		}
		said := ""
		for _, result := range results {
			said += result.Text + "\n"
		}
		return m.Say(said)
	}
}

// A model uses the tools of servers that the pipeline names, over standard input and over
// HTTP, and is told what they answer.
func TestToolsByMCP(t *testing.T) {
	each(t, func(t *testing.T, use string) {
		for name, server := range map[string]func(*testing.T, *place) pipelines.ToolServer{
			"stdio": func(_ *testing.T, p *place) pipelines.ToolServer {
				p.words()
				return pipelines.ToolServer{Command: "wordbook", Args: []string{"it's", "$HOME"}, Env: map[string]string{wordServer: "yes", "KEY": "env:WORDBOOK_KEY"}}
			},
			"HTTP": func(t *testing.T, p *place) pipelines.ToolServer {
				address, _ := wordsOverHTTP(t)
				p.more = append(p.more, "WORDBOOK_KEY="+mcpKey)
				return pipelines.ToolServer{URL: address, Headers: map[string]string{"Authorization": "Bearer env:WORDBOOK_KEY"}}
			},
		} {
			t.Run(name, func(t *testing.T) {
				p := newPlace(t)
				p.says(asks("word-book"))
				set := pipelines.ToolSet{MCP: map[string]pipelines.ToolServer{"word-book": server(t, p)}, Tools: pipelines.ToolChoice{Deny: []string{"word-book.forget"}}, Effort: "low"}
				warnings, text := p.with(use, set)(pipelines.AccessRead)
				if !strings.Contains(text, "meaning of reprise: to do again from the start") || strings.Contains(strings.Join(warnings, " "), "MCP") {
					t.Errorf("text %q, warnings %q", text, warnings)
				}
				testenv.Lacks(t, "what a denied tool left", text, "forget of")
				for _, r := range p.model.Requests() {
					testenv.Lacks(t, "what the model saw", string(r.Body), mcpKey)
				}
			})
		}
	})
}

// A server that does not start is said, with the last words of it.
func TestServersThatDoNotStart(t *testing.T) {
	each(t, func(t *testing.T, use string) {
		p := newPlace(t)
		p.says(asks("broken"))
		warnings, text := p.with(use, pipelines.ToolSet{MCP: map[string]pipelines.ToolServer{
			"broken": {Command: "/bin/sh", Args: []string{"-c", "echo no dictionary here >&2; exit 3"}},
			"gone":   {URL: "http://127.0.0.1:1/mcp"},
		}})(pipelines.AccessRead)
		said := strings.Join(warnings, "\n")
		testenv.Has(t, "the warnings", said, "the MCP server broken ", "no dictionary here", "the MCP server gone ")
		testenv.Lacks(t, "the text", text, "to do again")
	})
}

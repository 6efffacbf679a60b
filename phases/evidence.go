package phases

import (
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// dictated writes the last words of an agent that may not write itself as
// the artifact: its prompt has told it so.
func (e *Engine) dictated(d Decision, artifact string, r Result, x *effects) error {
	text := document(r)
	if a := e.access(d); a != pipelines.AccessNone && a != pipelines.AccessRead || text == "" {
		return nil
	}
	root, err := os.OpenRoot(e.Tree.Dir())
	if err != nil {
		return err
	}
	defer func() { _ = root.Close() }() // what was written is closed
	if err := root.MkdirAll(filepath.FromSlash(path.Dir(artifact)), 0o755); err != nil {
		return fmt.Errorf("%s: %w", artifact, err)
	}
	data := []byte(text + "\n")
	if err := root.WriteFile(filepath.FromSlash(artifact), data, 0o644); err != nil {
		return fmt.Errorf("%s: %w", artifact, err)
	}
	x.files[artifact] = data
	return nil
}

// document gives the last words without the report that may end them.
func document(r Result) string {
	text := strings.TrimSpace(r.Text)
	if json.Valid([]byte(text)) {
		return ""
	}
	if before, after, ok := cutLast(text, "```json\n"); ok && json.Valid([]byte(strings.TrimSuffix(after, "```"))) {
		text = strings.TrimSpace(before)
	}
	return text
}

// artifact gives the digest and size of a file of the tree, or says why it cannot
// be had. It never follows a link out of the tree.
func (e *Engine) artifact(name string) (sum string, size int, wrong metadata.Reason) {
	root, err := os.OpenRoot(e.Tree.Dir())
	if err != nil {
		return "", 0, metadata.Because("not_readable", "file", name, "error", err)
	}
	defer func() { _ = root.Close() }() // opened for reading
	if info, err := root.Lstat(filepath.FromSlash(name)); err != nil {
		return "", 0, metadata.Because("not_written", "file", name)
	} else if !info.Mode().IsRegular() {
		return "", 0, metadata.Because("not_regular", "file", name)
	}
	data, err := folders.ReadFile(root, name, maxFile)
	if err != nil {
		return "", 0, metadata.Because("not_readable", "file", name, "error", err)
	}
	return digest(data), len(strings.TrimSpace(string(data))), ""
}

// files lists the artifact files of the phase after a writing step.
func (e *Engine) files(run metadata.Run, p *pipelines.Phase, s sorted) []string {
	all := append([]string{path.Join(e.folder(run, p), p.Writes)}, run.Phase(p.Name).OutputFiles...)
	all = append(all, s.artifacts...)
	var out []string
	seen := map[string]bool{}
	for _, f := range all {
		if _, _, wrong := e.artifact(f); wrong == "" && !seen[f] {
			seen[f] = true
			out = append(out, f)
		}
	}
	return out
}

// structured gives the structured answer: the typed one, else the last fenced
// JSON block of the text.
func structured(r Result) json.RawMessage {
	if len(r.Structured) > 0 {
		return r.Structured
	}
	_, after, ok := cutLast(r.Text, "```json\n")
	if !ok {
		return nil
	}
	body, _, ok := strings.Cut(after, "\n```")
	if !ok || !json.Valid([]byte(body)) {
		return nil
	}
	return json.RawMessage(body)
}

func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}

// circumstances names what may explain why a call brought nothing.
func circumstances(r Result) []metadata.Reason {
	var out []metadata.Reason
	if r.Limit != "" {
		out = append(out, metadata.Because("limit_reached", "limit", r.Limit))
	}
	if len(r.Denials) > 0 {
		out = append(out, metadata.Because("tools_refused", "tools", r.Denials))
	}
	if r.ToolCalls == 0 {
		out = append(out, metadata.Because("no_tool_used"))
	}
	return out
}

func agentWhy(ae *AgentError) string {
	why := ae.Error()
	if ae.Hint != "" {
		why += "; " + ae.Hint
	}
	return why
}

// mostStderr is how much of what an agent's program wrote to standard error is
// kept, in Unicode code points.
const mostStderr = 1000

// lastWords is the end of what a program wrote to standard error, from the
// beginning of a line where there is one.
func lastWords(stderr string) string {
	stderr = strings.TrimSpace(clean(stderr))
	r := []rune(stderr)
	if len(r) <= mostStderr {
		return stderr
	}
	end := string(r[len(r)-mostStderr:])
	if _, rest, ok := strings.Cut(end, "\n"); ok {
		return rest
	}
	return "…" + end
}

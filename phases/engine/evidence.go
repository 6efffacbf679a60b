package engine

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
)

// writeDictated writes the last message of an agent as the artifact, if the
// agent itself may not write. Its prompt says so.
func (e *Engine) writeDictated(w *work) error {
	text, artifact := phases.AnsweredDocument(w.call.result.Text), w.artifact()
	if phases.AccessOf(e.Plan, w.d).Writes() || text == "" {
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
	w.files[artifact] = data
	return nil
}

// artifact gives the digest and size of a file as read has it, or says why it
// cannot be had.
func (e *Engine) artifact(ctx context.Context, read func(context.Context, string) ([]byte, error), name string) (sum string, size int, wrong metadata.Reason) {
	data, err := read(ctx, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", 0, e.unwritten(name)
	case err != nil:
		return "", 0, metadata.Because("not_readable", "file", name, "error", err)
	}
	return phases.DigestOf(data), len(strings.TrimSpace(string(data))), ""
}

// unwritten says why there is no file where one was to be written.
func (e *Engine) unwritten(name string) metadata.Reason {
	root, err := os.OpenRoot(e.Tree.Dir())
	if err != nil {
		return metadata.Because("not_readable", "file", name, "error", err)
	}
	defer func() { _ = root.Close() }() // opened for reading
	if info, err := root.Lstat(filepath.FromSlash(name)); err == nil && !info.Mode().IsRegular() {
		return metadata.Because("not_regular", "file", name)
	}
	return metadata.Because("not_written", "file", name)
}

// files lists the artifact files of the phase after a writing step.
func (e *Engine) files(ctx context.Context, w *work) []string {
	all := append([]string{w.artifact()}, w.rec.OutputFiles...)
	all = append(all, w.changes.Artifacts...)
	var out []string
	seen := map[string]bool{}
	for _, f := range all {
		if _, _, wrong := e.artifact(ctx, w.read, f); wrong == "" && !seen[f] {
			seen[f] = true
			out = append(out, f)
		}
	}
	return out
}

// maxRefused is how many hosts that were refused are recorded.
const maxRefused = 20

// refusedText lists hosts that were refused: "example.com:443 (2), ...".
func refusedText(all []Refused) string {
	var out []string
	for _, r := range all[:min(len(all), maxRefused)] {
		out = append(out, fmt.Sprintf("%.100s (%d)", r.Host, r.Count))
	}
	return strings.Join(out, ", ")
}

// circumstances names what may explain why a call gave no result.
func circumstances(r Result) []metadata.Reason {
	out := hindrances(r)
	if r.ToolCalls == 0 {
		out = append(out, metadata.Because("no_tool_used"))
	}
	return out
}

// hindrances names what kept an agent from doing more.
func hindrances(r Result) (out []metadata.Reason) {
	if r.Limit != "" {
		out = append(out, metadata.Because("limit_reached", "limit", r.Limit))
	}
	if len(r.Denials) > 0 {
		out = append(out, metadata.Because("tools_refused", "tools", r.Denials))
	}
	if len(r.Refused) > 0 {
		out = append(out, metadata.Because("hosts_refused", "hosts", refusedText(r.Refused)))
	}
	return out
}

// WhyBroke says which agent failed, in the masked words of its error, and what a
// person can do about it.
func WhyBroke(ae *AgentError, mask func(string) string) metadata.Reason {
	said := metadata.Said(mask(fmt.Sprint(ae.Err)))
	if ae.Hint == "" {
		return metadata.Because("agent_broke", "agent", ae.Agent, "error", said)
	}
	return metadata.Because("agent_broke_do", "agent", ae.Agent, "error", said, "hint", ae.Hint)
}

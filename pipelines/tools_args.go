package pipelines

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Further arguments of programs are let through one by one: most options say what a
// program may do, which files it takes its settings from, or how it reports to
// reprise, and each release may have new ones.

// claudeOptions are those of Claude Code, and whether a value follows.
func claudeOptions() map[string]bool {
	return map[string]bool{"--append-system-prompt": true, "--betas": true, "--fallback-model": true, "--exclude-dynamic-system-prompt-sections": false}
}

// codexSettings are those that -c may set.
func codexSettings() []string {
	return []string{
		"developer_instructions", "model_auto_compact_token_limit", "model_context_window", "model_reasoning_summary", "model_verbosity", "tool_output_token_limit",
	}
}

// args notes each argument that is not let through.
func (w *wrong) args() {
	all := w.agent.Args
	for i := 0; i < len(all); i++ {
		at := i
		name, value, has := strings.Cut(all[i], "=")
		needs, known := claudeOptions()[name]
		if w.agent.Use == "codex" {
			needs, known = true, name == "-c" || name == "--config"
		}
		if known && needs && !has && i+1 < len(all) {
			i++
			value, has = all[i], true
		}
		if why := w.badArgument(name, value, known, needs, has); why != "" {
			w.add(why, "args", at)
		}
	}
}

// badArgument says why an option with a value is not let through, or "".
func (w *wrong) badArgument(name, value string, known, needs, has bool) string {
	switch {
	case !known && w.agent.Use == "codex":
		return fmt.Sprintf("%q could open the sandbox or change what reprise relies on, expected -c with one of %s", name, strings.Join(codexSettings(), ", "))
	case !known:
		return fmt.Sprintf("%q could open the sandbox or change what reprise relies on, expected one of %s", name, strings.Join(slices.Sorted(maps.Keys(claudeOptions())), ", "))
	case needs && (!has || value == ""):
		return name + " needs a value"
	case !needs && has:
		return name + " takes no value"
	case strings.HasPrefix(value, "-") || strings.ContainsRune(value, 0):
		return fmt.Sprintf("%q is no value of %s", value, name)
	}
	if setting, given, _ := strings.Cut(value, "="); w.agent.Use == "codex" && (!slices.Contains(codexSettings(), setting) || given == "" || strings.ContainsAny(given, "\r\n")) {
		return fmt.Sprintf("%q could open the sandbox or change what reprise relies on, expected NAME=VALUE on one line, with one of %s", setting, strings.Join(codexSettings(), ", "))
	}
	return ""
}

package agents

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
)

// claude is Claude Code.
type claude struct{ cli }

// maxArgument is how long one argument of a program may be on Linux.
const maxArgument = 128<<10 - 1

// claudeVars are the variables Claude Code needs. The clouds' are let through
// only where it is told to use a cloud.
func claudeVars(env []string) []string {
	vars := []string{
		"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "ANTHROPIC_CUSTOM_HEADERS",
		"ANTHROPIC_MODEL", "ANTHROPIC_DEFAULT_*_MODEL", "ANTHROPIC_SMALL_FAST_MODEL",
		"CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CONFIG_DIR", "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX",
		"CLAUDE_CODE_MAX_RETRIES", "CLAUDE_CODE_MAX_OUTPUT_TOKENS", "MAX_THINKING_TOKENS", "API_TIMEOUT_MS",
	}
	if process.Lookup(env, "CLAUDE_CODE_USE_BEDROCK") != "" {
		vars = append(vars, "AWS_*", "ANTHROPIC_BEDROCK_BASE_URL", "CLAUDE_CODE_SKIP_BEDROCK_AUTH")
	}
	if process.Lookup(env, "CLAUDE_CODE_USE_VERTEX") != "" {
		vars = append(vars, "GOOGLE_APPLICATION_CREDENTIALS", "GOOGLE_CLOUD_PROJECT", "CLOUD_ML_REGION", "VERTEX_REGION_*",
			"ANTHROPIC_VERTEX_PROJECT_ID", "ANTHROPIC_VERTEX_BASE_URL", "CLAUDE_CODE_SKIP_VERTEX_AUTH")
	}
	return vars
}

// Run carries out one task with Claude Code.
func (a claude) Run(ctx context.Context, t engine.Task) (engine.Result, error) {
	s := &claudeStream{cli: a.cli, task: t, messages: map[string]claudeUsage{}}
	s.result.Session = t.Session
	return a.run(ctx, t, &s.said, a.prepare, s.line)
}

func (a claude) prepare(c *Call) (string, error) {
	t := c.Task
	args := []string{
		"-p", "--output-format", "stream-json", "--verbose",
		// The repository's own .claude settings are a program somebody else
		// wrote: its hooks would run before anything is asked.
		"--setting-sources", "user", "--strict-mcp-config", "--disable-slash-commands",
		"--permission-mode", "dontAsk", "--tools", strings.Join(claudeTools(t.Access), ","),
		"--settings", claudeSettings(t),
	}
	option := func(name, value string, given bool) {
		if given {
			args = append(args, name, value)
		}
	}
	option("--model", t.Model, t.Model != "")
	option("--max-turns", strconv.Itoa(t.Turns), t.Turns > 0)
	option("--max-budget-usd", strconv.FormatFloat(t.BudgetUSD, 'f', -1, 64), t.BudgetUSD > 0)
	option("--resume", t.Session, t.Session != "" && t.Resume)
	option("--session-id", t.Session, t.Session != "" && !t.Resume)
	option("--json-schema", string(t.Schema), t.Schema != nil)
	if err := uuid.Validate(t.Session); t.Session != "" && err != nil {
		return "", fmt.Errorf("session %q: Claude Code takes only a UUID: %w", t.Session, err)
	}
	if len(t.Schema) > maxArgument {
		return "", fmt.Errorf("the JSON Schema of the answer has %d bytes, Claude Code can take %d", len(t.Schema), maxArgument)
	}
	c.Argv = append(c.Argv, args...)
	for name, value := range map[string]string{
		// Commits between two calls would change the prompt of a resumed
		// session, and it would be paid for anew.
		"CLAUDE_CODE_DISABLE_GIT_INSTRUCTIONS":     "1",
		"CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
		"CLAUDE_CODE_DISABLE_BACKGROUND_TASKS":     "1",
		// Else "@/some/file" in the text of an issue brings in that file, from
		// anywhere, whatever the tools may read.
		"CLAUDE_CODE_DISABLE_ATTACHMENTS": "1",
		"DISABLE_AUTOUPDATER":             "1",
		"CLAUDE_CODE_TMPDIR":              c.Temp, // else it is a folder all calls share
	} {
		c.Env = process.SetVar(c.Env, name, value)
	}
	if longest := (t.Idle - 30*time.Second).Milliseconds(); longest > 0 {
		// A command that says nothing for longer than the idle limit is cut by
		// the program, which then goes on, and not by us with all its work.
		c.Env = process.SetVar(c.Env, "BASH_MAX_TIMEOUT_MS", strconv.FormatInt(longest, 10))
	}
	if strings.HasPrefix(t.Prompt, "/") {
		return "\n" + t.Prompt, nil // at the very start it would be taken for a command of the program
	}
	return t.Prompt, nil
}

// claudeTools lists the tools that exist at all for an access level. None of
// them reaches the network.
func claudeTools(a pipelines.Access) []string {
	switch a {
	case pipelines.AccessTree:
		return []string{"Read", "Glob", "Grep", "Write", "Edit", "Bash"}
	case pipelines.AccessArtifacts:
		return []string{"Read", "Glob", "Grep", "Write", "Edit"}
	case pipelines.AccessRun:
		return []string{"Read", "Glob", "Grep", "Bash"}
	case pipelines.AccessRead:
		return []string{"Read", "Glob", "Grep"}
	}
	return nil
}

// claudeSettings says what those tools may do without being asked; all else is
// refused. Reading within the work tree needs no rule.
func claudeSettings(t engine.Task) string {
	allow := []string{}
	switch t.Access {
	case pipelines.AccessTree:
		allow = append(below(t.Dir), "Bash", "Read")
	case pipelines.AccessRun:
		allow = append(allow, "Bash", "Read")
	case pipelines.AccessArtifacts:
		if t.Artifact != "" {
			allow = below(filepath.Dir(t.Artifact))
		}
	}
	data, _ := json.Marshal(map[string]any{"permissions": map[string]any{"allow": allow}}) // strings only
	return string(data)
}

// below gives the rules that let files below a folder be written. The program
// asks for a rule for the path as it is named and for where links lead.
func below(dir string) []string {
	dirs := []string{dir}
	if real, err := filepath.EvalSymlinks(dir); err == nil && real != dir {
		dirs = append(dirs, real)
	}
	var rules []string
	for _, d := range dirs {
		rules = append(rules, "Edit(/"+filepath.ToSlash(d)+"/**)")
	}
	return rules
}

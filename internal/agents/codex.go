package agents

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/phases/engine"
	"github.com/reprise-ci/reprise/pipelines"
)

// codex is OpenAI's Codex.
type codex struct{ cli }

// Run carries out one task.
func (a codex) Run(ctx context.Context, t engine.Task) (engine.Result, error) {
	s := &codexStream{said: said{cli: a.cli, task: t}}
	s.result.Model = t.Model
	s.over = func(code int) {
		if code != 0 && t.Resume && s.thread == "" {
			s.failed = a.gone(t.Session)
		}
	}
	s.complete = s.addUsage
	return a.run(ctx, t, &s.said, func(c *Call) (string, error) { return a.prepare(c, s) }, s.line)
}

func (a codex) prepare(c *Call, s *codexStream) (string, error) {
	t := c.Task
	s.home = cmp.Or(process.Lookup(c.Env, "CODEX_HOME"), filepath.Join(c.Home, ".codex"))
	if t.Resume {
		s.before = readRollout(s.home, t.Session).usage
	}
	c.Argv = append(c.Argv, "exec", "--json", "--color", "never", "--skip-git-repo-check", "-C", t.Dir)
	if t.Model != "" {
		c.Argv = append(c.Argv, "-m", t.Model)
	}
	c.Argv = append(c.Argv, codexSandbox(t, a.opts.Contained)...)
	settings := []string{
		`web_search="disabled"`,
		// A repository's own .codex folder is a program somebody else wrote.
		fmt.Sprintf(`projects={%s={trust_level="untrusted"}}`, tomlString(t.Dir)),
		// A login shell would have the PATH of the system in place of ours, and so none of the
		// programs that a job has installed.
		"allow_login_shell=false",
		// What the model runs needs no key of the model.
		`shell_environment_policy.exclude=["OPENAI_API_KEY","CODEX_API_KEY"]`,
	}
	if longest := max(c.patience(), codexLeastWait); c.Task.Idle > 0 && longest < codexLongestWait {
		settings = append(settings, fmt.Sprintf("background_terminal_max_timeout=%d", longest))
	}
	if url := process.Lookup(c.Env, "OPENAI_BASE_URL"); url != "" { // the program itself ignores the variable
		settings = append(settings, "openai_base_url="+tomlString(url))
	}
	if effort := cmp.Or(t.Effort, a.agent.Effort); effort != "" {
		if effort == "max" { // said for a phase, and not for Codex
			effort = "xhigh"
		}
		settings = append(settings, "model_reasoning_effort="+tomlString(effort))
	}
	if key := c.servers.key(); key != "" {
		c.Env = process.SetVar(c.Env, serverKey, key)
	}
	for _, setting := range append(settings, c.servers.codexSettings(c.patience())...) {
		c.Argv = append(c.Argv, "-c", setting)
	}
	if key := process.Lookup(c.Env, "OPENAI_API_KEY"); key != "" && process.Lookup(c.Env, "CODEX_API_KEY") == "" && !exists(filepath.Join(s.home, "auth.json")) {
		c.Env = process.SetVar(c.Env, "CODEX_API_KEY", key) // the one it reads when it runs without a person
	}
	c.Argv = append(c.Argv, a.agent.Args...)
	if err := a.schema(c, s); err != nil {
		return "", err
	}
	for _, file := range t.Images {
		// A resumed session has the images already. Codex splits the option at commas.
		if !t.Resume && !strings.Contains(file, ",") {
			c.Argv = append(c.Argv, "--image="+file)
		}
	}
	if t.Resume && t.Session != "" {
		if !sessionForm().MatchString(t.Session) {
			return "", a.gone(t.Session)
		}
		c.Argv = append(c.Argv, "resume", t.Session)
	}
	c.Argv = append(c.Argv, "-")
	return t.Prompt, nil
}

// How long Codex waits for a command that goes on, in milliseconds: at most as long as we let it be silent (0.169.0).
const (
	codexLeastWait   = 5_000
	codexLongestWait = 300_000
)

// schema hands over the schema of the answer, in the strict form that the
// service demands. What cannot be said in it is left to the prompt.
func (a codex) schema(c *Call, s *codexStream) error {
	if c.Task.Schema == nil {
		return nil
	}
	schema, ok, err := strictSchema(c.Task.Schema)
	if err != nil {
		return fmt.Errorf("the JSON Schema of the answer: %w", err)
	}
	if !ok {
		return nil
	}
	s.schema = c.Task.Schema
	file := filepath.Join(c.Temp, "schema.json")
	if err := os.WriteFile(file, schema, 0o600); err != nil {
		return err
	}
	c.Argv = append(c.Argv, "--output-schema", file)
	return nil
}

// codexSandbox says what commands of the model may write, and keeps them from the network, unless something stronger is
// around reprise.
func codexSandbox(t engine.Task, contained bool) []string {
	switch {
	case t.Access == pipelines.AccessNone:
		return []string{"--sandbox", "read-only", "--disable", "shell_tool"}
	case contained:
		return []string{"--sandbox", "danger-full-access"}
	case t.Access.Runs(): // in the folder of -C
		return []string{"--sandbox", "workspace-write", "-c", "sandbox_workspace_write.exclude_slash_tmp=true"}
	case t.Access == pipelines.AccessArtifacts && t.Artifact != "":
		files := fmt.Sprintf(`permissions.reprise.filesystem={":root"="read",":tmpdir"="write",%s="write"}`, tomlString(filepath.Dir(t.Artifact)))
		return []string{"-c", `default_permissions="reprise"`, "-c", files}
	}
	return []string{"--sandbox", "read-only"}
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

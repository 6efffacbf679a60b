package setup

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// called is what is looked at of the workflow that others call, and of the action.
type called struct {
	On struct {
		Call struct {
			Inputs  map[string]struct{ Default string }
			Secrets map[string]yaml.Node
		} `yaml:"workflow_call"`
	}
	Inputs map[string]struct{ Default string } // of an action
	Jobs   map[string]struct {
		If          string
		Needs       yaml.Node
		RunsOn      string `yaml:"runs-on"`
		Permissions map[string]string
		Concurrency map[string]string
		Outputs     map[string]string
		Steps       []struct {
			Uses      string
			With, Env map[string]string
		}
	}
}

func readCalled(t *testing.T, text string) called {
	t.Helper()
	var w called
	testenv.Must(t, yaml.Unmarshal([]byte(text), &w))
	return w
}

// Whoever calls the workflow can say what the action can be told, and each of its
// jobs hears it.
func TestJobsInputs(t *testing.T) {
	jobs, action := readCalled(t, testenv.Read(t, "../../"+Jobs)), readCalled(t, testenv.Read(t, "../../action.yml"))
	want := action.Inputs
	for _, own := range []string{"command", "issue", "github-token"} { // each job has its own
		delete(want, own)
	}
	delete(want, "dispatch") // needs a permission that the workflow would ask of everybody
	for name, value := range map[string]string{"agent": DefaultAgent, "timeout": "5h30m"} {
		want[name] = struct{ Default string }{value}
	}
	if got := jobs.On.Call.Inputs["runs-on"].Default; got != `"ubuntu-24.04"` { // for the jobs, not for the action
		t.Errorf("they run on %s", got)
	}
	delete(jobs.On.Call.Inputs, "runs-on")
	if diff := cmp.Diff(want, jobs.On.Call.Inputs); diff != "" {
		t.Errorf("inputs (-action +workflow):\n%s", diff)
	}
	secrets := []string{"CLAUDE_CODE_OAUTH_TOKEN"}
	for _, a := range AgentInstalls() {
		secrets = append(secrets, a.Secret)
	}
	slices.Sort(secrets)
	secrets = slices.Compact(secrets)
	if diff := cmp.Diff(slices.Sorted(slices.Values(append(slices.Clone(secrets), "SECRETS", "TOKEN"))), slices.Sorted(maps.Keys(jobs.On.Call.Secrets))); diff != "" {
		t.Errorf("secrets (-want +got):\n%s", diff)
	}
	calls := 0
	for name, job := range jobs.Jobs {
		for _, s := range job.Steps {
			if s.Uses != DefaultUses() {
				continue
			}
			calls++
			for input := range want {
				if s.With[input] != "${{ inputs."+input+" }}" {
					t.Errorf("job %s: input %s is %q", name, input, s.With[input])
				}
			}
			if s.With["github-token"] != "${{ secrets.TOKEN || github.token }}" {
				t.Errorf("job %s: the token is %q", name, s.With["github-token"])
			}
			if works, keys := slices.Contains([]string{"run", "task", "join"}, name), slices.Sorted(maps.Keys(s.Env)); works != slices.Equal(keys, append(slices.Clone(secrets), "REPRISE_SECRETS")) || !works && len(keys) > 0 {
				t.Errorf("job %s has the keys %q", name, keys)
			}
		}
	}
	if calls != 5 {
		t.Errorf("the action is called %d times", calls)
	}
}

// The jobs that a workflow calls are those that it would have itself.
func TestJobsAsLong(t *testing.T) {
	long, err := Workflow{Long, DefaultUses(), true, nil, []string{DefaultAgent}}.Text()
	testenv.Must(t, err)
	want, got := readCalled(t, long).Jobs, readCalled(t, testenv.Read(t, "../../"+Jobs)).Jobs
	if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(got))); diff != "" {
		t.Fatalf("jobs (-long +called):\n%s", diff)
	}
	for name, w := range want {
		g := got[name]
		asked := strings.NewReplacer("inputs.label", "'reprise'", "inputs.branch-prefix", "'reprise/issue-'",
			"(github.event.sender.type != 'Bot' || inputs.allowed-bots != '')", "github.event.sender.type != 'Bot'").Replace(g.If)
		for what, pair := range map[string][2]any{
			"if": {w.If, asked}, "runs-on": {"${{ fromJSON(inputs.runs-on) }}", g.RunsOn}, "permissions": {w.Permissions, g.Permissions}, "concurrency": {w.Concurrency, g.Concurrency}, "outputs": {w.Outputs, g.Outputs},
		} {
			if diff := cmp.Diff(pair[0], pair[1]); diff != "" {
				t.Errorf("job %s, %s (-long +called):\n%s", name, what, diff)
			}
		}
	}
}

// The short form asks for what the job run needs, which GitHub starts none with less of.
func TestShortGives(t *testing.T) {
	short, err := Workflow{Short, DefaultUses(), false, nil, []string{"claude", "codex"}}.Text()
	testenv.Must(t, err)
	var w WorkflowYAML
	testenv.Must(t, yaml.Unmarshal([]byte(short), &w))
	job := w.Jobs["reprise"]
	if _, ours := job.Ours(); job.Uses != "reprise-ci/reprise/"+Jobs+"@v1" || !ours {
		t.Errorf("it calls %s", job.Uses)
	}
	var permissions, secrets map[string]string
	for node, to := range map[*yaml.Node]*map[string]string{&job.Permissions: &permissions, &job.Secrets: &secrets} {
		testenv.Must(t, node.Decode(to))
	}
	if diff := cmp.Diff(readCalled(t, testenv.Read(t, "../../"+Jobs)).Jobs["run"].Permissions, permissions); diff != "" {
		t.Errorf("permissions (-run +given):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"ANTHROPIC_API_KEY": "${{ secrets.ANTHROPIC_API_KEY }}", "OPENAI_API_KEY": "${{ secrets.OPENAI_API_KEY }}"}, secrets); diff != "" {
		t.Errorf("secrets (-want +got):\n%s", diff)
	}
	if got := job.With["agent"].Value; got != "claude, codex" {
		t.Errorf("agent: %s", got)
	}
}

// What installs agents for the short form knows all that the long form does.
func TestInstallScript(t *testing.T) {
	script := testenv.Read(t, "../../.github/action/agents/install")
	names := slices.Sorted(maps.Keys(AgentInstalls()))
	if !strings.Contains(script, "\t"+strings.Join(names, " | ")+") install ") {
		t.Errorf("it does not name %s", names)
	}
	for _, a := range AgentInstalls() {
		if a.Setup != "" && !strings.Contains(script, "node_modules/"+a.Package+"/"+a.Setup+"\n") {
			t.Errorf("it does not run %s of %s", a.Setup, a.Package)
		}
	}
}

func TestStanding(t *testing.T) {
	for _, tt := range []struct {
		name, existing string
		want           Workflow
	}{
		{"nothing", "", Workflow{}},
		{"unreadable", "a: [", Workflow{}},
		{"its own jobs", "jobs: {a: {steps: [{uses: me/reprise@v1}]}}", Workflow{Long, "me/reprise@v1", false, nil, nil}},
		{"called", "jobs: {a: {uses: me/reprise/.github/workflows/run.yml@v1}}", Workflow{Short, "me/reprise@v1", false, nil, nil}},
		{"the action's own", "jobs: {a: {steps: [{uses: ./}]}}", Workflow{Long, LocalAction, false, nil, nil}},
		{"its own jobs for parts", "jobs: {a: {steps: [{uses: me/reprise@v1, with: {fan-out: true}}]}}", Workflow{Long, "me/reprise@v1", true, nil, nil}},
		{"called, for parts", "jobs: {a: {uses: me/reprise/.github/workflows/run.yml@v1, with: {fan-out: 'true'}}}", Workflow{Short, "me/reprise@v1", true, nil, nil}},
	} {
		testenv.Same(t, tt.name, tt.want, Standing(tt.existing))
	}
	if _, err := (Workflow{Short, LocalAction, false, nil, []string{"claude"}}).Text(); err == nil {
		t.Error("the repository of the action calls another one")
	}
}

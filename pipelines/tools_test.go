package pipelines

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Two choices leave what both of them leave, and never more.
func TestAnd(t *testing.T) {
	for _, tt := range []struct{ name, one, other, want string }{
		{"neither says anything", `{}`, `{}`, `{}`},
		{"one allows", `{"tools":{"allow":["Read"]}}`, `{}`, `{"tools":{"allow":["Read"]}}`},
		{"what is denied adds up", `{"tools":{"deny":["Bash"]}}`, `{"tools":{"deny":["db"]}}`, `{"tools":{"deny":["Bash","db"]}}`},
		{"the narrower use counts, on both sides", `{"tools":{"allow":["web.look","db"]}}`, `{"tools":{"allow":["web","db.read","Write"]}}`, `{"tools":{"allow":["web.look","db.read"]}}`},
		{"nothing in common is nothing at all", `{"tools":{"allow":["Read"]}}`, `{"tools":{"allow":["Bash"]}}`, `{"tools":{"allow":[""]}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			one, other, want := given(t, tt.one).Tools, given(t, tt.other).Tools, given(t, tt.want).Tools
			if diff := cmp.Diff(want, one.And(other)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
	all := []string{"Read", "Bash"}
	if left := given(t, `{"tools":{"allow":["Read"]}}`).Tools.And(ToolChoice{Allow: []string{"Bash"}}).Own(all); len(left) > 0 {
		t.Errorf("%v is left of two choices that have nothing in common", left)
	}
}

// given is what an agent may be given, as a pipeline says it.
func given(t *testing.T, text string) (s ToolSet) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &s); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestValues(t *testing.T) {
	lookup := func(name string) string { return map[string]string{"KEY": "sesame"}[name] }
	for text, want := range map[string][2]string{
		"env:KEY": {"KEY", "sesame"}, "Bearer env:KEY": {"KEY", "Bearer sesame"}, "env:GONE": {"GONE", ""},
		"plain": {"", "plain"}, "xenv:KEY": {"", "xenv:KEY"}, "env:KEY x": {"", "env:KEY x"}, "env:": {"", "env:"}, "env:1A": {"", "env:1A"}, "": {"", ""},
	} {
		if got := [2]string{VariableIn(text), ValueOf(text, lookup)}; got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// A choice leaves servers, tools of them, and tools of the program.
func TestChoice(t *testing.T) {
	type result struct{ Serves, Allow, Deny, Own []string }
	for name, tt := range map[string]struct {
		choice string
		want   result
	}{
		"none":        {`{}`, result{Serves: []string{"a", "b"}, Own: []string{"Read", "Bash"}}},
		"only":        {`{"allow": ["a", "Read"]}`, result{Serves: []string{"a"}, Own: []string{"Read"}}},
		"one tool":    {`{"allow": ["a.look", "Bash"]}`, result{Serves: []string{"a"}, Allow: []string{"look"}, Own: []string{"Bash"}}},
		"all and one": {`{"allow": ["a.look", "a"]}`, result{Serves: []string{"a"}}},
		"not":         {`{"deny": ["b", "a.forget", "Bash"]}`, result{Serves: []string{"a"}, Deny: []string{"forget"}, Own: []string{"Read"}}},
	} {
		s := given(t, `{"mcp": {"a": {"command": "a"}, "b": {"command": "b"}}, "tools": `+tt.choice+`}`)
		got := result{Serves: s.Serves()}
		got.Allow, got.Deny = s.Tools.OfServer("a")
		got.Own = append(got.Own, s.Tools.Own([]string{"Read", "Bash"})...)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// Every argument is refused but those that are known to open nothing.
func TestArguments(t *testing.T) {
	for _, tt := range []struct {
		use   string
		args  []string
		wrong []int // of args
	}{
		{"claude", []string{"--betas", "b", "--append-system-prompt=Be brief.", "--fallback-model", "haiku", "--exclude-dynamic-system-prompt-sections"}, nil},
		{"claude", []string{"--permission-mode", "acceptEdits"}, []int{0}},
		{"claude", []string{"--settings={}", "--mcp-config=x", "--add-dir=/", "--allowedTools=Bash", "--plugin-dir=x", "--resume=x", "-p"}, []int{0, 1, 2, 3, 4, 5, 6}},
		{"claude", []string{"--betas", "--dangerously-skip-permissions"}, []int{0, 1}},
		{"claude", []string{"--betas=--x", "--exclude-dynamic-system-prompt-sections=1", "--betas="}, []int{0, 1, 2}},
		{"codex", []string{"-c", "model_verbosity=\"low\"", "--config=model_context_window=100000"}, nil},
		{"codex", []string{"--dangerously-bypass-approvals-and-sandbox", "-s", "--add-dir=/", "--enable=x"}, []int{0, 1, 2, 3}},
		{"codex", []string{"-c", "sandbox_mode=\"danger-full-access\"", "-c", "model_verbosity", "-c"}, []int{0, 2, 4}},
		{"codex", []string{"-c", "model_verbosity=\"low\"\nsandbox_mode=\"x\"", "-cmodel_verbosity=1"}, []int{0, 2}},
	} {
		var got []int
		WrongTools(Agent{Use: tt.use, ToolSet: ToolSet{Args: tt.args}}, func(_ string, keys ...any) { got = append(got, keys[1].(int)) })
		if diff := cmp.Diff(tt.wrong, got); diff != "" {
			t.Errorf("%s %q (-want +got):\n%s", tt.use, tt.args, diff)
		}
	}
}

// What is right is not complained of; the rest is in the test data of pipelines.
func TestNothingWrong(t *testing.T) {
	s := given(t, `{
		"mcp": {"own": {"command": "./tools/book", "env": {"A": "env:ONE", "LEVEL": "debug"}}, "web": {"url": "http://localhost:8080/mcp", "headers": {"Authorization": "Bearer env:ONE"}}},
		"tools": {"allow": ["own", "web.look_up"]}, "effort": "xhigh"
	}`)
	for _, a := range []Agent{{Use: "claude", ToolSet: s}, {Use: "codex", ToolSet: s}, {Use: "gemini"}} {
		WrongTools(a, func(why string, keys ...any) { t.Errorf("%s: %v: %s", a.Use, keys, why) })
	}
}

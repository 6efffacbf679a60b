package engine

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/secrets"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

// A name that is there is no news, and one that only looks like a secret may be
// allowed; the value of one never is.
func TestNamesThatLookLikeSecrets(t *testing.T) {
	g := Journal{SecretFinder: watching()}
	named, value := awsKey()+".txt", strings.ReplaceAll(canary, "/", "-")
	for _, tt := range []struct {
		name  string
		fresh bool
		want  bool
	}{{named, true, true}, {named, false, false}, {"testdata/" + named, true, false}, {"testdata/" + value, true, true}} {
		if got := g.inChange(t.Context(), phases.Change{Path: tt.name, New: tt.fresh}, []string{"testdata/**"}, nil); (len(got) > 0) != tt.want {
			t.Errorf("%+v: %q", tt, got)
		}
	}
}

func TestAnswersKeepTheirForm(t *testing.T) {
	g := Journal{SecretFinder: watching()}
	quoted, _ := json.Marshal(canary) // a string always encodes
	key := awsKey()
	in := `{"a": [` + string(quoted) + `, 1.50, "x\"y"], "file": "dir/` + key + `.go", "why": "` + key + `", "n": {"files": ["` + key + `"]}}`
	want := `{"a": ["[ANTHROPIC_API_KEY]", 1.50, "x\"y"], "file": "dir/` + key + `.go", "why": "[aws-access-token]", "n": {"files": ["` + key + `"]}}`
	testenv.Is(t, "got", string(g.maskAnswer(json.RawMessage(in))), want)
	for _, odd := range []string{"", "{", `"`, `{"a": "b`, `{"a\`, `{"a": "\q"}`} {
		if got := string(g.maskAnswer(json.RawMessage(odd))); got != odd {
			t.Errorf("%q became %q", odd, got)
		}
	}
}

// What is staged is judged by itself, whatever the file that was looked at had.
func TestWhatIsCommittedIsJudged(t *testing.T) {
	g := Journal{SecretFinder: watching()}
	plan := &pipelines.Pipeline{
		Agents: map[string]pipelines.Agent{"writer": {Use: "claude"}},
		Phases: []pipelines.Phase{{Name: "code", Folder: "01_code", Access: pipelines.AccessTree}},
	}
	b := phases.BoundaryOf(phases.On(plan, metadata.Run{IssueNumber: "7"}), phases.Decision{Do: phases.DoExecute, Phase: "code", Agent: "writer"})
	for what, tt := range map[string]struct {
		change phases.Change
		data   string
		want   string // in the error
		leak   string // in the reason why it is not kept
	}{
		"good text":     {phases.Change{Path: "calc.go", Kind: phases.FileKind, Holds: phases.TextContent}, "package other\n", "", ""},
		"a value":       {phases.Change{Path: "calc.go", Kind: phases.FileKind, Holds: phases.TextContent}, canary, "", "has the value of ANTHROPIC_API_KEY"},
		"a shape":       {phases.Change{Path: "new.go", Kind: phases.FileKind, New: true, Holds: phases.TextContent}, awsKey(), "", "what looks like a secret"},
		"a link":        {phases.Change{Path: "calc.go", Kind: phases.SymlinkKind}, "/etc/shadow", "calc.go was changed after it had been looked at, so nothing was committed: symbolic links cannot be added or changed", ""},
		"a program":     {phases.Change{Path: "calc.go", Kind: phases.FileKind, Holds: phases.ProgramContent}, "\x7fELF", "programs and archives cannot be added", ""},
		"a large file":  {phases.Change{Path: "calc.go", Kind: phases.FileKind, Holds: phases.TextContent, Size: phases.MaxFile + 1}, "x", "too large to be kept", ""},
		"too much":      {phases.Change{Path: "calc.go", Kind: phases.FileKind, Holds: phases.TextContent, Size: phases.MaxFile - 1}, "x", "the work was changed after it had been looked at, so nothing was committed: they have", ""},
		"an executable": {phases.Change{Path: "calc.go", Kind: phases.FileKind, Holds: phases.TextContent, Runs: true}, "x", "only scripts", ""},
		"a removal":     {phases.Change{Path: ".github/x", Kind: phases.FileKind, Gone: true}, "", "a protected path", ""},
	} {
		tt.change.Size = max(tt.change.Size, int64(len(tt.data)))
		why, err := g.CheckStaged(t.Context(), b, nil, stagedFile{change: tt.change, data: tt.data})
		if err == nil {
			err = errors.New("")
		}
		if tt.want == "" && err.Error() != "" || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), canary) {
			t.Errorf("%s: error %v, want %q", what, err, tt.want)
		}
		if found := why.In(prompts.Words("en")); (found == "") != (tt.leak == "") || !strings.Contains(found, tt.leak) || strings.Contains(found, canary) {
			t.Errorf("%s: found %q, want %q", what, found, tt.leak)
		}
	}
}

// stagedFile is the one file that is staged.
type stagedFile struct {
	StagedTree
	change phases.Change
	data   string
}

func (s stagedFile) Each(_ context.Context, f func(phases.Change, []byte) error) error {
	return f(s.change, []byte(s.data))
}

// watch looks for one value and for shapes, as the program does.
type watch struct {
	*secrets.Finder
	broken error
}

func (w watch) Leaks(_ context.Context, _ string, data []byte) ([]Leak, error) {
	hits, err := w.Find(data)
	var out []Leak
	for _, h := range hits {
		out = append(out, Leak{Line: h.Line(data), Name: h.Name, Known: h.Known})
	}
	return out, errors.Join(err, w.broken)
}

const canary = "sk-ant-very/secret+\"value\"=="

func watching() watch {
	return watch{Finder: secrets.New(secrets.Secret{Name: "ANTHROPIC_API_KEY", Value: canary}, secrets.Secret{Name: "TOKEN", Value: "a-token/of-somebody"})}
}

// awsKey has the shape of a key, put together so that none stands in this file.
func awsKey() string { return "AKIA" + "Q3EGRIV2N5XZ7LMT" }

// writes lets execute of the phase code write a file besides its work.
func (s *stage) writes(name, text string) {
	s.on("code", metadata.Execute, func(ctx context.Context, t Task) (Result, error) {
		s.tree.write(name, text)
		return s.good(ctx, t)
	})
}

func TestASecretIsNeverCommitted(t *testing.T) {
	for what, tt := range map[string]struct{ file, text, want string }{
		"a value":                     {"config.go", "x\n" + canary, "config.go:2 has the value of ANTHROPIC_API_KEY; the changes were reverted"},
		"a shape":                     {"config.go", "key = \"" + awsKey() + "\"", "config.go:1 has what looks like a secret (aws-access-token); the changes were reverted"},
		"a shape that begs":           {"config.go", "key = \"" + awsKey() + "\" // gitleaks:allow", "config.go:1 has what looks like a secret (aws-access-token); the changes were reverted"},
		"a name":                      {"a-token/of-somebody.go", "x", ".go has a secret in its name; the changes were reverted"},
		"a value where shapes may be": {"lib/testdata/key", canary, "lib/testdata/key:1 has the value of ANTHROPIC_API_KEY; the changes were reverted"},
	} {
		t.Run(what, func(t *testing.T) {
			plan := testPlan()
			plan.Secrets.Allow = []string{"testdata/**"}
			s := newStage(t, plan)
			s.engine.SecretFinder = watching()
			s.writes(tt.file, tt.text)
			run := s.goOn(t.Context())
			if run.Stop == nil || run.Stop.Code != metadata.SecretFound || !strings.HasSuffix(english(run.Stop.Why), tt.want) {
				t.Fatalf("the run is %s (%+v)", run.Status, run.Stop)
			}
			s.nowhere(t, tt.text)
		})
	}
}

// nowhere holds all that was committed against a text.
func (s *stage) nowhere(t *testing.T, text string) {
	t.Helper()
	for _, commit := range s.tree.commits {
		for name, body := range commit {
			if len(text) > 1 && strings.Contains(name+body, text) {
				t.Errorf("%q is in %s", text, name)
			}
		}
	}
}

func TestWhatMayLookLikeASecretIsKept(t *testing.T) {
	plan := testPlan()
	plan.Secrets.Allow = []string{"testdata/**"}
	s := newStage(t, plan)
	s.engine.SecretFinder = watching()
	s.writes("lib/testdata/key", awsKey())
	if run := s.goOn(t.Context()); run.Status != metadata.Completed || s.tree.tip()["lib/testdata/key"] != awsKey() {
		t.Errorf("the run is %s (%+v)", run.Status, run.Stop)
	}
}

// The agent is told once what was found, and its next call may do without.
func TestALeakIsToldToTheAgent(t *testing.T) {
	s := newStage(t, testPlan())
	s.engine.SecretFinder = watching()
	s.on("code", metadata.Execute, func(ctx context.Context, t Task) (Result, error) {
		if !strings.Contains(t.Prompt, "config.go:1 has the value of ANTHROPIC_API_KEY") {
			s.tree.write("config.go", canary)
		}
		return s.good(ctx, t)
	})
	s.completes()
}

func TestNothingIsCommittedThatCannotBeSearched(t *testing.T) {
	s := newStage(t, testPlan())
	s.engine.SecretFinder = watch{Finder: secrets.New(), broken: errors.New("the rules are gone")}
	run := s.goOn(t.Context())
	if run.Stop == nil || run.Stop.Code != metadata.SecretFound || !strings.Contains(english(run.Stop.Why), "cannot be searched for secrets: the rules are gone") {
		t.Fatalf("the run is %s (%+v)", run.Status, run.Stop)
	}
}

func TestWhatAnAgentSaysIsMaskedInTheRecord(t *testing.T) {
	s := newStage(t, testPlan())
	s.engine.SecretFinder = watching()
	s.on("plan", metadata.Review, func(_ context.Context, t Task) (Result, error) {
		r := Result{Text: canary, Structured: answer(t, t.Round > 0), ToolCalls: 1}
		quoted, _ := json.Marshal("it is " + canary + " and " + awsKey()) // a string always encodes
		r.Structured = json.RawMessage(strings.Replace(string(r.Structured), `"it is wrong`, strings.TrimSuffix(string(quoted), `"`), 1))
		return r, nil
	})
	s.completes()
	s.nowhere(t, "very/secret")
	s.nowhere(t, awsKey())
	var all strings.Builder
	for _, commit := range s.tree.commits {
		for _, body := range commit {
			all.WriteString(body)
		}
	}
	testenv.Has(t, "the record", all.String(), "it is [ANTHROPIC_API_KEY] and [aws-access-token]")
}

func TestARecordWithAValueIsNotCommitted(t *testing.T) {
	s := newStage(t, testPlan())
	s.engine.SecretFinder = watching()
	s.run.IssueTitle = "a title with " + canary
	before := len(s.tree.commits)
	err := s.engine.Amend(t.Context(), s.run, "subject")
	if err == nil || !strings.HasPrefix(err.Error(), "secret_found: nothing was committed") || !strings.Contains(err.Error(), "a title with [ANTHROPIC_API_KEY]") || strings.Contains(err.Error(), "very/secret") {
		t.Errorf("error %v", err)
	}
	if len(s.tree.commits) != before {
		t.Error("it was committed")
	}
}

// An agent that puts a secret into the id of its session, or into the name of its
// model, does not keep its run from going on: neither is kept.
func TestASessionIsNoSecret(t *testing.T) {
	s := newStage(t, testPlan())
	s.engine.SecretFinder = watching()
	s.perform = func(ctx context.Context, task Task) (Result, error) {
		task.Notify(Activity{Session: awsKey(), Text: "at work"})
		r, err := s.good(ctx, task)
		r.Session, r.Model = awsKey(), canary
		return r, err
	}
	s.completes()
	s.nowhere(t, awsKey())
	s.nowhere(t, canary)
	for _, run := range s.saved {
		if data, err := json.Marshal(run); err != nil || strings.Contains(string(data), awsKey()) {
			t.Fatalf("saved was %s, error %v", data, err)
		}
	}
}

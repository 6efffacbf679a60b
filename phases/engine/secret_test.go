package engine

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/secrets"
	"github.com/reprise-ci/reprise/metadata"
)

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
	return watch{Finder: secrets.New(secrets.Secret{Name: "ANTHROPIC_API_KEY", Value: canary})}
}

// awsKey has the shape of a key, put together so that none stands in this file.
func awsKey() string { return "AKIA" + "Q3EGRIV2N5XZ7LMT" }

// writes lets execute of the phase code write a file besides its work.
func (s *stage) writes(name, text string) {
	s.on("code", metadata.Execute, func(ctx context.Context, t Task) (Result, error) {
		file := filepath.Join(t.Dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return Result{}, err
		}
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			return Result{}, err
		}
		return s.good(ctx, t)
	})
}

func TestASecretIsNeverCommitted(t *testing.T) {
	for what, tt := range map[string]struct{ file, text, want string }{
		"a value":                     {"config.go", "x\n" + canary, "config.go:2 has the value of ANTHROPIC_API_KEY; the changes were reverted"},
		"a shape":                     {"config.go", "key = \"" + awsKey() + "\"", "config.go:1 has what looks like a secret (aws-access-token); the changes were reverted"},
		"a shape that begs":           {"config.go", "key = \"" + awsKey() + "\" // gitleaks:allow", "config.go:1 has what looks like a secret (aws-access-token); the changes were reverted"},
		"a name":                      {strings.ReplaceAll(canary, "/", "-") + ".go", "x", ".go has a secret in its name; the changes were reverted"},
		"a value where shapes may be": {"lib/testdata/key", canary, "lib/testdata/key:1 has the value of ANTHROPIC_API_KEY; the changes were reverted"},
	} {
		t.Run(what, func(t *testing.T) {
			plan := testPlan()
			plan.Secrets.Allow = []string{"testdata/**"}
			s := newStage(t, plan)
			s.engine.Secrets = watching()
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
	s.engine.Secrets = watching()
	s.writes("lib/testdata/key", awsKey())
	if run := s.goOn(t.Context()); run.Status != metadata.Completed || s.tree.tip()["lib/testdata/key"] != awsKey() {
		t.Errorf("the run is %s (%+v)", run.Status, run.Stop)
	}
}

// The agent is told once what was found, and its next call may do without.
func TestALeakIsToldToTheAgent(t *testing.T) {
	s := newStage(t, testPlan())
	s.engine.Secrets = watching()
	s.on("code", metadata.Execute, func(ctx context.Context, t Task) (Result, error) {
		if !strings.Contains(t.Prompt, "config.go:1 has the value of ANTHROPIC_API_KEY") {
			if err := os.WriteFile(filepath.Join(t.Dir, "config.go"), []byte(canary), 0o644); err != nil {
				return Result{}, err
			}
		}
		return s.good(ctx, t)
	})
	if run := s.goOn(t.Context()); run.Status != metadata.Completed {
		t.Errorf("the run is %s (%+v)", run.Status, run.Stop)
	}
}

func TestNothingIsCommittedThatCannotBeSearched(t *testing.T) {
	s := newStage(t, testPlan())
	s.engine.Secrets = watch{Finder: secrets.New(), broken: errors.New("the rules are gone")}
	run := s.goOn(t.Context())
	if run.Stop == nil || run.Stop.Code != metadata.SecretFound || !strings.Contains(english(run.Stop.Why), "cannot be searched for secrets: the rules are gone") {
		t.Fatalf("the run is %s (%+v)", run.Status, run.Stop)
	}
}

func TestWhatAnAgentSaysIsMaskedInTheRecord(t *testing.T) {
	s := newStage(t, testPlan())
	s.engine.Secrets = watching()
	s.on("plan", metadata.Review, func(_ context.Context, t Task) (Result, error) {
		r := Result{Text: canary, Structured: answer(t, t.Round > 0), ToolCalls: 1}
		quoted, _ := json.Marshal("it is " + canary + " and " + awsKey()) // a string always encodes
		r.Structured = json.RawMessage(strings.Replace(string(r.Structured), `"it is wrong`, strings.TrimSuffix(string(quoted), `"`), 1))
		return r, nil
	})
	if run := s.goOn(t.Context()); run.Status != metadata.Completed {
		t.Fatalf("the run is %s (%+v)", run.Status, run.Stop)
	}
	s.nowhere(t, "very/secret")
	s.nowhere(t, awsKey())
	var all strings.Builder
	for _, commit := range s.tree.commits {
		for _, body := range commit {
			all.WriteString(body)
		}
	}
	if !strings.Contains(all.String(), "it is [ANTHROPIC_API_KEY] and [aws-access-token]") {
		t.Error("the record does not say what the agent said")
	}
}

func TestARecordWithAValueIsNotCommitted(t *testing.T) {
	s := newStage(t, testPlan())
	s.engine.Secrets = watching()
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
	s.engine.Secrets = watching()
	s.perform = func(ctx context.Context, task Task) (Result, error) {
		task.Notify(Activity{Session: awsKey(), Text: "at work"})
		r, err := s.good(ctx, task)
		r.Session, r.Model = awsKey(), canary
		return r, err
	}
	if run := s.goOn(t.Context()); run.Status != metadata.Completed {
		t.Fatalf("the run is %s (%+v)", run.Status, run.Stop)
	}
	s.nowhere(t, awsKey())
	s.nowhere(t, canary)
	for _, run := range s.saved {
		if data, err := json.Marshal(run); err != nil || strings.Contains(string(data), awsKey()) {
			t.Fatalf("saved was %s, error %v", data, err)
		}
	}
}

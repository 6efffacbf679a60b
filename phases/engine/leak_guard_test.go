package engine

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/secrets"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
)

// watch looks for one value and for shapes, as the program does.
type leakWatch struct{ *secrets.Finder }

func (w leakWatch) Leaks(_ context.Context, _ string, data []byte) ([]Leak, error) {
	hits, err := w.Find(data)
	var out []Leak
	for _, h := range hits {
		out = append(out, Leak{Line: h.Line(data), Name: h.Name, Known: h.Known})
	}
	return out, err
}

const leakCanary = "sk-ant-very/secret+\"value\"=="

func watchingLeak() leakWatch {
	return leakWatch{Finder: secrets.New(secrets.Secret{Name: "ANTHROPIC_API_KEY", Value: leakCanary})}
}

// awsKey has the shape of a key, put together so that none stands in this file.
func awsKeyLeak() string { return "AKIA" + "Q3EGRIV2N5XZ7LMT" }

// A name that is there is no news, and one that only looks like a secret may be
// allowed; the value of one never is.
func TestNamesThatLookLikeSecrets(t *testing.T) {
	g := LeakGuard{watchingLeak()}
	named, value := awsKeyLeak()+".txt", strings.ReplaceAll(leakCanary, "/", "-")
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
	g := LeakGuard{watchingLeak()}
	quoted, _ := json.Marshal(leakCanary) // a string always encodes
	key := awsKeyLeak()
	in := `{"a": [` + string(quoted) + `, 1.50, "x\"y"], "file": "dir/` + key + `.go", "why": "` + key + `", "n": {"files": ["` + key + `"]}}`
	want := `{"a": ["[ANTHROPIC_API_KEY]", 1.50, "x\"y"], "file": "dir/` + key + `.go", "why": "[aws-access-token]", "n": {"files": ["` + key + `"]}}`
	if got := string(g.MaskAnswer(json.RawMessage(in))); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	for _, odd := range []string{"", "{", `"`, `{"a": "b`, `{"a\`, `{"a": "\q"}`} {
		if got := string(g.MaskAnswer(json.RawMessage(odd))); got != odd {
			t.Errorf("%q became %q", odd, got)
		}
	}
	if got := (LeakGuard{}).MaskAnswer(json.RawMessage(in)); string(got) != in {
		t.Error("nothing was to be hidden")
	}
}

// What is staged is judged by itself, whatever the file that was looked at had.
func TestWhatIsCommittedIsJudged(t *testing.T) {
	g := LeakGuard{watchingLeak()}
	plan := &pipelines.Pipeline{
		Agents: map[string]pipelines.Agent{"writer": {Use: "claude"}},
		Phases: []pipelines.Phase{{Name: "code", Folder: "01_code", Access: pipelines.AccessTree}},
	}
	b := phases.BoundaryOf(plan, metadata.Run{IssueNumber: "7"}, phases.Decision{Do: phases.DoExecute, Phase: "code", Agent: "writer"})
	for what, tt := range map[string]struct {
		change phases.Change
		data   string
		want   string // in the error
		leak   string // in the reason why it is not kept
	}{
		"good text":     {phases.Change{Path: "calc.go", Kind: phases.FileKind, Holds: phases.TextContent}, "package other\n", "", ""},
		"a value":       {phases.Change{Path: "calc.go", Kind: phases.FileKind, Holds: phases.TextContent}, leakCanary, "", "has the value of ANTHROPIC_API_KEY"},
		"a shape":       {phases.Change{Path: "new.go", Kind: phases.FileKind, New: true, Holds: phases.TextContent}, awsKeyLeak(), "", "what looks like a secret"},
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
		if tt.want == "" && err.Error() != "" || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), leakCanary) {
			t.Errorf("%s: error %v, want %q", what, err, tt.want)
		}
		if found := why.In(prompts.Words("en")); (found == "") != (tt.leak == "") || !strings.Contains(found, tt.leak) || strings.Contains(found, leakCanary) {
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

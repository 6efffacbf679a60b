package source

import (
	"strings"
	"testing"
	"time"

	"github.com/reprise-ci/reprise/pipelines"
)

// FuzzLoad reads anything, in each of the languages: either there is a
// pipeline that survives being frozen, or there are mistakes with a place in
// the file, and it does not take long.
func FuzzLoad(f *testing.F) {
	for _, text := range []string{
		`phases: [{name: "p", goal: "x", access: "tree", gates: ["It holds"], checks: [{name: "unit", run: "go test ./..."}], report: {risk: "low" | "high", files: [...string]}}]`,
		`phases: [{name: "a", goal: "x", needs: ["a"]}]`, "phases:\n  - {name: a, goal: x}\n",
		"[[phases]]\nname = \"a\"\ngoal = \"x\"\n", `{"phases": [{"name": "a", "goal": "x", "report": "n: int"}]}`,
		`rules: [{after: "a", when: {diff: lines: <10}, then: skip: "review"}]`, `agents: {"": {use: "claude"}}`,
		`x: y: z: x`, `import "list"`, `phases: [...]`, `phases: [_, string, {name: =~"x"}]`, "a: &a [*a]", "\r\rswte[", `extends: "full"`,
	} {
		for i := range fileEndings() {
			f.Add(uint8(i), text)
		}
	}
	f.Fuzz(func(t *testing.T, ending uint8, text string) {
		if len(text) > 2000 {
			return
		}
		name := "fuzz" + fileEndings()[int(ending)%len(fileEndings())]
		done := make(chan response, 1)
		go func() { done <- answer(request{Files: []file{{Name: name, Text: text}}}) }()
		select {
		case r := <-done:
			hold(t, name, text, r)
		case <-time.After(5 * time.Second): // after ten, the fuzzing engine calls it a hang
			// A bomb, which CUE may well be: what ends it is tested elsewhere.
		}
	})
}

func hold(t *testing.T, name, text string, r response) {
	switch {
	case r.Failure != "":
		t.Fatalf("not a mistake of the file: %s", r.Failure)
	case r.Mistakes != nil:
		for _, m := range r.Mistakes {
			if m.File != name || m.Message == "" || strings.Contains(m.Message, "\n") || m.Line < 0 || m.Line > len(text)+2 {
				t.Errorf("bad mistake: %#v", m)
			}
		}
	default:
		data, err := pipelines.Format(r.Pipeline)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := pipelines.Parse(data); err != nil {
			t.Errorf("cannot be read again: %v\n%s", err, data)
		}
	}
}

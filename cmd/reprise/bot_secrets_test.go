//go:build slow || e2e

package main

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/test/testenv"
)

// bird is a value that agents are given and must not pass on.
const bird = "canary/0123456789+abcdefXYZ"

// songs are ways in which an agent may write it.
func songs() []string {
	split := func(sep string) string { return strings.Join(strings.Split(bird, ""), sep) }
	reversed := []byte(bird)
	for i := range len(reversed) / 2 {
		reversed[i], reversed[len(reversed)-1-i] = reversed[len(reversed)-1-i], reversed[i]
	}
	code := hex.EncodeToString([]byte(bird))
	return []string{
		bird, base64.StdEncoding.EncodeToString([]byte(bird)), base64.URLEncoding.EncodeToString([]byte(bird)),
		base64.StdEncoding.EncodeToString([]byte("a" + bird)), base64.StdEncoding.EncodeToString([]byte("ab" + bird + "c")),
		code, strings.ToUpper(code), url.QueryEscape(bird), strings.ReplaceAll(bird, "/", `\/`), string(reversed),
		split(" "), split("', '"), bird[:9] + "' + '" + bird[9:], bird[:9] + `" + "` + bird[9:], fmt.Sprint([]byte(bird)),
	}
}

// silent says that a text has the value in none of its forms.
func silent(t *testing.T, where, text string) {
	t.Helper()
	plain := strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\n`, "\n").Replace(text) // as it is in JSON
	for _, form := range songs() {
		if strings.Contains(text, form) || strings.Contains(plain, form) {
			t.Errorf("%s has %q", where, form)
		}
	}
}

// objects are the contents of all that a repository holds, reachable or not.
func objects(t *testing.T, dir string) string {
	t.Helper()
	out, err := testenv.Git(dir, "cat-file", "--batch-all-objects", "--batch", "--unordered")
	if err != nil {
		t.Fatalf("%s: %v", dir, err)
	}
	return out
}

// An agent that knows a secret tells it wherever it can: in code, artifact, the
// name of a file, what it says when it breaks down, its last words, its answer,
// a finding. None of that gets anywhere.
func TestASecretGetsNowhere(t *testing.T) {
	h := newStage(t, `
name: "own"
agents: own: {use: "command", command: ["worker"], env: ["MODEL_API_KEY"]}
defaults: {retry: {max: 1, initial: "10ms"}, revisions: 2}
phases: [
	{name: "plan", goal: "Plan.", gates: ["It is planned"]},
	{name: "build", goal: "Build.", access: "tree", gates: ["It is built"], report: {note: string}},
]`)
	h.inputs["show-output"] = "true"
	sung := strings.Join(songs(), "\n")
	say := func(name string, fields map[string]any) {
		text, err := json.Marshal(fields)
		testenv.Must(t, err)
		h.write("home/"+name, string(text))
	}
	verdict := func(verdict, gate string, pass bool, findings ...any) map[string]any {
		return map[string]any{"text": sung, "structured": map[string]any{
			"verdict": verdict, "gates": []any{map[string]any{"gate": gate, "pass": pass, "why": sung}}, "findings": append([]any{}, findings...),
		}}
	}
	finding := map[string]any{"id": "", "severity": "blocker", "title": "It has " + bird, "problem": sung, "impact": sung, "solution": sung, "file": "code.txt", "line": 1, "status": "new"}
	h.write("home/all.txt", sung+"\n")
	say("fails.json", verdict("fail", "It is planned", false, finding))
	say("passes.json", verdict("pass", "It is planned", true))
	say("built.json", verdict("pass", "It is built", true))
	say("report.json", map[string]any{"text": sung, "structured": map[string]any{"note": sung}})
	h.write("home/plan-execute", `[ -e "$HOME/planned" ] || { touch "$HOME/planned"; cat "$HOME/all.txt" >>"$REPRISE_ARTIFACT"; }`)
	h.write("home/plan-review", `if [ -e "$HOME/reviewed" ]; then cat "$HOME/passes.json"; else touch "$HOME/reviewed"; cat "$HOME/fails.json"; fi`)
	h.write("home/build-execute", `
n=$(grep -c "build execute" "$HOME/calls")
case $n in
1) cat "$HOME/all.txt" >"$REPRISE_DIR/code.txt"; cat "$HOME/all.txt" >&2; exit 1;;
2) cp "$HOME/all.txt" "$REPRISE_DIR/code.txt"; touch "$REPRISE_DIR/$(printf %s "$MODEL_API_KEY" | tr / -)";;
*) echo good >"$REPRISE_DIR/code.txt"; mkdir -p "$REPRISE_DIR/.github"; touch "$REPRISE_DIR/.github/$(printf %s "$MODEL_API_KEY" | tr / -).yml";;
esac
cat "$HOME/report.json"
`)
	h.write("home/build-review", `cat "$HOME/built.json"`)
	results := filepath.Join(h.dir, "results")
	j := h.comment("ada", "/run", "MODEL_API_KEY="+bird, "INPUT_UPLOAD=true", "REPRISE_RESULTS="+results).end(exit.Done).wants("status", "completed")

	run := h.record()
	codes := ""
	for _, a := range run.Attempts {
		codes += fmt.Sprintf("%s %s %s %s\n", a.Phase, a.Step, a.Status, a.Code)
	}
	testenv.Has(t, "the record", codes, "plan execute blocked secret_found\nplan execute succeeded", "build execute error", "build execute blocked secret_found\nbuild execute succeeded")
	branch := objects(t, h.path("origin.git"))
	for _, part := range []string{"[MODEL_API_KEY]", "code.txt:1 has the value of MODEL_API_KEY", "[MODEL_API_KEY] has a secret in its name", ".github/[MODEL_API_KEY].yml", "+[MODEL_API_KEY]"} {
		testenv.Has(t, "the branch", branch, part)
	}
	silent(t, "the origin", branch)
	linked := false
	for _, c := range h.forge.Comments(hubRepo, hubIssue) {
		silent(t, "a comment", c.Body)
		linked = linked || strings.Contains(c.Body, "#artifacts)")
	}
	if !linked {
		t.Error("no comment links to the page of the run")
	}
	for _, p := range h.forge.Pulls(hubRepo) {
		silent(t, "the pull request", p.Title+"\n"+p.Body)
	}
	silent(t, "the summary", j.summary)
	testenv.Has(t, "what the runner is told", acting(j.said.String()), "::add-mask::"+bird, "::add-mask::"+hubToken)
	silent(t, "the log", strings.ReplaceAll(j.said.String(), "::add-mask::"+bird+"\n", ""))
	for name, value := range j.outputs {
		silent(t, "output "+name, value)
	}
	looked := 0
	err := filepath.WalkDir(j.dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && strings.HasSuffix(name, "objects") {
			looked++
			silent(t, name, objects(t, filepath.Dir(name)))
		}
		return err
	})
	if err != nil || looked == 0 {
		t.Errorf("looked into %d repositories of the job (%v)", looked, err)
	}
	data, err := os.ReadFile(filepath.Join(results, "result.json"))
	if err != nil || !bytes.Contains(data, []byte(`"completed"`)) && !bytes.Contains(data, []byte("success")) {
		t.Errorf("the result is %s (%v)", data, err)
	}
	silent(t, "the result", string(data))
	page, err := os.ReadFile(filepath.Join(results, "report.html"))
	if err != nil || !bytes.Contains(page, []byte(`id="attempt-1"`)) {
		t.Errorf("the page of the run has %d bytes (%v)", len(page), err)
	}
	silent(t, "the page", string(page))
}

// What people paste by mistake does not stay: neither in the record nor in an
// answer.
func TestASecretOfAPersonGetsNowhere(t *testing.T) {
	h := newStage(t, twoSteps)
	key := "AKIA" + "Q3EGRIV2N5XZ7LMT"
	h.write("home/build-execute", changesCode)
	h.comment("ada", "/run").end(exit.Done).wants("status", "completed")
	h.comment("ada", "/rollback plan because "+key+" and "+bird+" are in it", "MODEL_API_KEY="+bird).end(exit.Done).wants("status", "completed")
	run := h.record()
	testenv.Is(t, "the reason is", run.RollbackHistory[0].Reason, "[aws-access-token] and [MODEL_API_KEY] are in it")
	branch := objects(t, h.path("origin.git"))
	silent(t, "the origin", branch)
	testenv.Lacks(t, "the branch", branch, key)
	for _, c := range h.forge.Comments(hubRepo, hubIssue) {
		if c.Author != "ada" && strings.Contains(c.Body, key) {
			t.Errorf("the key is in %s", c.Body)
		}
	}
}

//go:build e2e

package e2e

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/internal/test/model"
)

// worker is a model that does what reprise's prompts ask of it: it writes the
// artifact it is told to, changes the tree where it may, and gives the
// structured answer that is wanted.
type worker struct {
	// fail is how many of its reviews fail before the first one passes.
	fail int
	// change, if not empty, is a shell command for phases that may change the
	// tree; it runs in the tree.
	change string
	// tries is the command that reviews run, and passes what it prints when all is well; says is
	// what the worker says at its end. They are empty for the usual.
	tries, passes, says string

	reviews int
}

// script makes a model of the worker.
func (w *worker) script() model.Script {
	return func(r model.Request) model.Reply {
		if isReview(r) {
			if mayRun(r) && !w.tried(r.Results()) {
				return model.Run(cmp.Or(w.tries, "git log --oneline -1"))
			}
			if look, has := reads(r); !has {
				return look
			}
			w.reviews++
			return model.Answer(judgement(r, gatesOf(r), w.reviews > w.fail))
		}
		return w.next(r)
	}
}

// tried tells whether a review has seen its command to the end. Codex answers after ten
// seconds, whether a command has ended or not.
func (w *worker) tried(results []model.Message) bool {
	const most = 20 // as often as that is no circle
	seen := slices.ContainsFunc(results, func(m model.Message) bool { return strings.Contains(m.Text, w.passes) })
	return len(results) > 0 && seen || len(results) == most
}

// artifact finds the path of the file that a prompt asks for.
var artifact = regexp.MustCompile("(?:in|document,|whole file) `(/[^`]+/\\.reprise/[^`]+\\.md)`")

// next is the next turn of execute or revise.
func (w *worker) next(r model.Request) model.Reply {
	path := artifact.FindStringSubmatch(r.Prompt())
	if path == nil {
		return model.Say("I see no file to write.")
	}
	turns := []model.Reply{model.Write(path[1], fmt.Sprintf("# Report\n\nAs asked in prompt %d, request %d.\n", len(r.Prompts()), r.N))}
	if r.API == model.Messages {
		// Claude Code refuses to write over a file it has not read.
		turns = append([]model.Reply{model.Tool("Read", map[string]string{"file_path": path[1]})}, turns...)
	}
	if w.change != "" && strings.Contains(r.Prompt(), "The change itself, in the tree") {
		turns = append(turns, model.Run(w.change))
	}
	if done := len(r.Results()); done < len(turns) {
		return turns[done]
	}
	if r.Schema != nil {
		return model.Answer(sample(r.Schema))
	}
	return model.Say(cmp.Or(w.says, "Done."))
}

// isReview tells a review by the verdict it has to give.
func isReview(r model.Request) bool {
	return strings.Contains(string(r.Schema), `"pass_with_suggestions"`)
}

// mayRun tells whether a review has a copy of the tree to run things in, and so
// has to run something before it judges.
func mayRun(r model.Request) bool {
	return slices.ContainsFunc(r.Prompts(), func(prompt string) bool {
		return strings.Contains(prompt, "Believe no test that you have not run.")
	})
}

// judged finds the path of what a review is to judge.
var judged = regexp.MustCompile("Read `(/[^`]+/\\.reprise/[^`]+\\.md)`")

// reads gives the turn in which a review reads what it judges, and tells whether it has used
// a tool since it was asked: a verdict without that is none.
func reads(r model.Request) (look model.Reply, has bool) {
	path := judged.FindStringSubmatch(strings.Join(r.Prompts(), "\n")) // a try for the form alone does not name it
	if len(r.Results()) > 0 || path == nil {
		return look, true
	}
	if r.API == model.Messages {
		return model.Tool("Read", map[string]string{"file_path": path[1]}), false
	}
	return model.Run("cat '" + path[1] + "'"), false
}

// gatesOf finds the gates that a review is asked about.
func gatesOf(r model.Request) (gates []string) {
	_, list, _ := strings.Cut(r.Prompt(), "Answer each gate below")
	for _, line := range strings.Split(list, "\n")[1:] {
		gate, ok := strings.CutPrefix(line, "  - ")
		if !ok {
			break
		}
		gates = append(gates, gate)
	}
	return gates
}

// verdict is the answer of a review to a request.
func judgement(r model.Request, gates []string, pass bool) map[string]any {
	ruling, answered, findings := "pass", []any{}, []any{}
	for i, g := range gates {
		answered = append(answered, map[string]any{"gate": g, "pass": pass || i > 0, "why": "seen in main.go:3"})
	}
	if !pass {
		ruling = "fail"
		f := map[string]any{
			"id": "F1", "severity": "blocker", "title": finding, "problem": "It says nothing of the cause.",
			"impact": "Nobody can follow it.", "solution": "Name the cause.", "status": "new",
		}
		if r.API == model.Responses { // whose schemas want every property, and take null for one there is not
			f["file"], f["line"] = nil, nil
		}
		findings = append(findings, f)
	}
	return map[string]any{"verdict": ruling, "gates": answered, "findings": findings}
}

// finding is the title of what a failed review finds.
const finding = "The cause is missing"

// sample gives a value that a JSON Schema allows, for the kinds of schema that
// reprise makes.
func sample(raw json.RawMessage) any {
	var s struct {
		Type       any
		Enum       []any
		Pattern    string
		Minimum    float64
		Properties map[string]json.RawMessage
		AnyOf      []json.RawMessage
	}
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil
	}
	kind := s.Type
	if all, ok := kind.([]any); ok && len(all) > 0 {
		kind = all[0]
	}
	switch {
	case len(s.Enum) > 0:
		return s.Enum[0]
	case len(s.AnyOf) > 0:
		return sample(s.AnyOf[0])
	case kind == "object":
		v := map[string]any{}
		for name, p := range s.Properties {
			v[name] = sample(p)
		}
		return v
	case kind == "array":
		return []any{}
	case kind == "integer", kind == "number":
		return s.Minimum
	case kind == "boolean":
		return false
	case s.Pattern != "":
		return strings.Split(strings.Trim(s.Pattern, "^$()"), "|")[0]
	}
	return "a word"
}

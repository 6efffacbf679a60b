package source

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Step is the step of an agent that judges an issue. No phase has it, and no run is
// under way yet.
const ChooseStep = "choose"

// Judgment is what an agent says of an issue, in words of fixed lists alone: it has read
// a text that may tell it anything.
type Judgment struct {
	Kind string `json:"kind"` // a built-in pipeline that is made for such issues
	Size string `json:"size"` // small, medium or large
	Risk string `json:"risk"` // of breaking what works: low, medium or high
}

// The words of a judgment. The first of each are what a rehearsal says.
func kinds() []string { return []string{"feature", "fix", "refactor", "test", "audit"} }
func sizes() []string { return []string{"small", "medium", "large"} }
func risks() []string { return []string{"low", "medium", "high"} }

// Rules says in English how a judgment leads to a pipeline, and how it adjusts that.
const ChoiceRules = "An audit takes audit, and tests take test. Of the others, what is large takes full, and so does what is medium with a high risk. The rest takes fix, feature or refactor by its kind. What is small and of low risk is written by medium models in place of heavy ones, and a phase of it is revised 2 times at most. With a high risk heavy models review, and a phase may be revised 2 more times."

// Weight is how much work an issue deserves by a judgment of it; empty is the usual.
type Weight string

// The weights that change a pipeline.
const (
	Light   Weight = "light"   // small, and of low risk
	Careful Weight = "careful" // of high risk
)

// How often a phase is revised at most with Light, and how often more with Careful.
const (
	LightRevisions   = 2
	CarefulRevisions = 2
)

// Weight gives how the pipeline is adjusted, as Rules says.
func (j Judgment) Weight() Weight {
	switch {
	case j.Size == "small" && j.Risk == "low":
		return Light
	case j.Risk == "high":
		return Careful
	}
	return ""
}

// Pipeline names the pipeline that a judgment leads to, as Rules says.
func (j Judgment) Pipeline() string {
	switch {
	case j.Kind == "audit", j.Kind == "test":
		return j.Kind
	case j.Size == "large", j.Size == "medium" && j.Risk == "high":
		return "full"
	}
	return j.Kind
}

// JudgmentSchema is the JSON Schema of a judgment.
func JudgmentSchema() json.RawMessage {
	word := func(words []string) map[string]any { return map[string]any{"type": "string", "enum": words} }
	data, err := json.Marshal(map[string]any{
		"type": "object", "additionalProperties": false, "required": []string{"kind", "size", "risk"},
		"properties": map[string]any{"kind": word(kinds()), "size": word(sizes()), "risk": word(risks())},
	})
	if err != nil {
		return nil // unreachable: words always encode
	}
	return data
}

// ParseJudgment reads a judgment. The error names every field that is not one of its words, and
// nothing of what the answer says instead.
func ParseJudgment(data []byte) (Judgment, error) {
	var j Judgment
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&j); err != nil {
		return Judgment{}, fmt.Errorf("the answer is not an object with kind, size and risk alone")
	}
	var wrong []string
	for _, f := range []struct {
		name, value string
		words       []string
	}{{"kind", j.Kind, kinds()}, {"size", j.Size, sizes()}, {"risk", j.Risk, risks()}} {
		if !slices.Contains(f.words, f.value) {
			wrong = append(wrong, fmt.Sprintf("%s is not one of %s", f.name, strings.Join(f.words, ", ")))
		}
	}
	if len(wrong) > 0 {
		return Judgment{}, fmt.Errorf("%s", strings.Join(wrong, "; "))
	}
	return j, nil
}

package source

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// ChoiceIssue is what the choice of a pipeline looks at.
type ChoiceIssue struct {
	Title  string
	Labels []string
	Type   string // GitHub's issue type, or empty
}

// labelPrefix begins a label that names a pipeline.
const labelPrefix = "reprise:"

// fallback is the pipeline of issues that nothing selects and no agent has judged.
const fallback = "feature"

// chosen is the pipeline of an issue, and why it is that one.
type chosen struct {
	Plan *pipelines.Pipeline
	Why  metadata.Reason
	// Open says that nothing about the issue decides, so that an agent is to judge it,
	// see Judgment. Plan is what is taken if none can.
	Open bool
}

// Choose finds the pipeline of an issue and says why it is that one: the one that is named, else that
// of a label such as "reprise:fix", of a select in the repository, of the repository's settings, or of a
// built-in select. A mistake in one that is asked is an error: to leave it out would choose another.
func Choose(ctx context.Context, s Sources, issue ChoiceIssue, named string) (c chosen, err error) {
	load := func(name string, why metadata.Reason) (chosen, error) {
		p, err := Load(ctx, s, name)
		return chosen{Plan: p, Why: why}, err
	}
	if s.Path != "" {
		return load(named, metadata.Because("chosen_file", "file", s.Path))
	}
	files, _, err := s.files(repoFolder)
	if err != nil {
		return c, err
	}
	names := namesOf(files) // of those that are asked whether they want the issue
	isAuto := func(name string) bool { return name == pipelines.Auto && !slices.Contains(names, name) }
	if named != "" && !isAuto(named) {
		return load(named, metadata.Because("chosen_name", "name", strconv.Quote(named)))
	}
	label, err := labelled(issue.Labels)
	if err != nil {
		return c, err
	}
	if name := strings.TrimPrefix(label, labelPrefix); named == "" && name != "" && !isAuto(name) {
		if c, err = load(name, hasLabel(label)); err != nil {
			err = fmt.Errorf("label %q: %w", label, err)
		}
		return c, err
	}
	usual, err := s.UsualPipeline(ctx)
	if err != nil {
		return c, err
	}
	if named != "" || label != "" || usual == "" || isAuto(usual) { // else the usual one takes what those of the repository leave
		usual = ""
		if names, err = s.names(); err != nil {
			return c, err
		}
	}
	unheld := s // what a policy refuses does not stand in the way of the others
	unheld.unheld = true
	for _, name := range names {
		p, err := Load(ctx, unheld, name)
		if err != nil {
			return c, err
		}
		if match := matchesChoice(p.Select, issue); match != "" {
			return load(name, metadata.Because("chosen_by", "match", match, "name", strconv.Quote(name)))
		}
	}
	if usual != "" {
		return load(usual, metadata.Because("chosen_usual", "name", strconv.Quote(usual)))
	}
	c, err = load(fallback, metadata.Because("chosen_open", "name", strconv.Quote(fallback)))
	c.Open = true
	return c, err
}

// labelled returns the label that names a pipeline, or "".
func labelled(labels []string) (string, error) {
	var found []string
	for _, l := range labels {
		if l = strings.ToLower(l); len(l) > len(labelPrefix) && strings.HasPrefix(l, labelPrefix) {
			found = append(found, l)
		}
	}
	slices.Sort(found)
	if found = slices.Compact(found); len(found) > 1 {
		return "", fmt.Errorf("the labels %s each name a pipeline; keep one of them", strings.Join(found, " and "))
	}
	return strings.Join(found, ""), nil
}

func hasLabel(label string) metadata.Reason {
	return metadata.Because("issue_label", "label", strconv.Quote(label))
}

// matchesChoice says what of the issue is selected, or nothing if nothing is.
func matchesChoice(s pipelines.Select, issue ChoiceIssue) metadata.Reason {
	for _, want := range s.Labels {
		for _, has := range issue.Labels {
			if strings.EqualFold(want, has) {
				return hasLabel(has)
			}
		}
	}
	if s.Title != "" {
		if re, err := regexp.Compile("(?i:" + s.Title + ")"); err == nil && re.MatchString(issue.Title) {
			return metadata.Because("issue_title", "title", strconv.Quote(s.Title))
		}
	}
	if s.Type != "" && strings.EqualFold(s.Type, issue.Type) {
		return metadata.Because("issue_type", "type", strconv.Quote(issue.Type))
	}
	return ""
}

// ChooseStep is the step of an agent that judges an issue. No phase has it, and no run is
// under way yet.
const ChooseStep = "choose"

// Judgment is what an agent says of an issue, in words of fixed lists alone: it has read
// a text that may tell it anything.
type Judgment struct {
	Kind string `json:"kind"` // a built-in pipeline that is made for such issues
	Size string `json:"size"` // small, medium or large
	Risk string `json:"risk"` // of breaking what works: low, medium or high
}

// judged are the words of a judgment. The first of each are what a rehearsal says.
var judged = map[string][]string{
	"kind": {"feature", "fix", "refactor", "test", "audit"},
	"size": {"small", "medium", "large"},
	"risk": {"low", "medium", "high"},
}

// ChoiceRules says in English how a judgment leads to a pipeline, and how it adjusts that.
const ChoiceRules = "An audit takes audit, and tests take test. Of the others, what is large takes full, and so does what is medium with a high risk. The rest takes fix, feature or refactor by its kind. What is small and of low risk is written by cheaper models, and a phase of it is revised 2 times at most. With a high risk stronger models review, and a phase may be revised 2 more times."

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
	properties := map[string]any{}
	for field, words := range judged {
		properties[field] = map[string]any{"type": "string", "enum": words}
	}
	data, _ := json.Marshal(map[string]any{ // it always encodes
		"type": "object", "properties": properties, "required": []string{"kind", "size", "risk"}, "additionalProperties": false,
	})
	return data
}

// ParseJudgment reads a judgment. The error names every field that is not one of its words, and
// nothing of what the answer says instead.
func ParseJudgment(data []byte) (j Judgment, err error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&j); err != nil {
		return Judgment{}, errors.New("the answer is not an object with kind, size and risk alone")
	}
	var wrong []string
	for _, said := range [][]string{{"kind", j.Kind}, {"size", j.Size}, {"risk", j.Risk}} {
		if words := judged[said[0]]; !slices.Contains(words, said[1]) {
			wrong = append(wrong, fmt.Sprintf("%s is not one of %s", said[0], strings.Join(words, ", ")))
		}
	}
	if len(wrong) > 0 {
		return Judgment{}, errors.New(strings.Join(wrong, "; "))
	}
	return j, nil
}

package pipelines

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/reprise-ci/reprise/internal/text"
)

// Format writes a pipeline as a run freezes it: JSON, the same bytes for the same pipeline.
func Format(p *Pipeline) ([]byte, error) {
	data, err := text.JSON(p)
	if err != nil {
		return nil, fmt.Errorf("write pipeline %q: %w", p.Name, err)
	}
	return data, nil
}

// Parse reads what Format wrote. It evaluates nothing. Unknown fields, more
// than one value, and names that lead nowhere are errors.
func Parse(data []byte) (*Pipeline, error) {
	var p Pipeline
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&p); err != nil {
		return nil, fmt.Errorf("read the frozen pipeline: %w", err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("read the frozen pipeline: more than one value")
	}
	for _, phases := range [][]Phase{p.Phases, p.Spare} {
		for i := range phases {
			if err := sound(&p, &phases[i]); err != nil {
				return nil, fmt.Errorf("read the frozen pipeline: phase %q: %w", phases[i].Name, err)
			}
		}
	}
	if len(p.Phases) == 0 {
		return nil, errors.New("read the frozen pipeline: it has no phases")
	}
	return &p, nil
}

// sound checks what paths are built from and what is looked up without
// asking, and brings the schema into the form it had before it was formatted.
func sound(p *Pipeline, ph *Phase) error {
	if why := BadArtifact(ph.Folder); ph.Folder == "" || why != "" {
		return fmt.Errorf("folder %q %s", ph.Folder, why)
	}
	if why := BadArtifact(ph.Writes); ph.Writes == "" || why != "" {
		return fmt.Errorf("writes %q %s", ph.Writes, why)
	}
	for _, s := range []Step{ph.Execute, ph.Review, ph.Revise} {
		if _, ok := p.Agents[s.Agent]; !ok {
			return fmt.Errorf("no agent %q", s.Agent)
		}
	}
	if ph.ReportSchema != nil {
		var compact bytes.Buffer
		if err := json.Compact(&compact, ph.ReportSchema); err != nil {
			return err
		}
		ph.ReportSchema = compact.Bytes()
	}
	return nil
}

// Digest identifies a frozen pipeline: "sha256:" and 64 hex digits.
func Digest(data []byte) string {
	return fmt.Sprintf("sha256:%x", sha256.Sum256(data))
}

// origin is a file, and the settings that come from it.
type origin struct {
	File     string   // as people know it; pipelines.GivenForRun; empty: nobody has said anything else
	Settings []string // such as budget.usd, sorted
}

// OriginsOf lists where each setting comes from that the settings of a repository may
// have: those with a file first, in the order of their names.
func OriginsOf(p *Pipeline) (out []origin) {
	settings := []string{"language", "network", "finish", "budget.usd", "budget.tokens", "budget.time", "budget.attempts", "budget.issue_usd", "budget.day_usd", "budget.repo_day_usd"}
	for name := range p.Agents {
		settings = append(settings, "agents."+name)
	}
	if len(p.Hooks) == 0 {
		settings = append(settings, "hooks")
	}
	for i := range p.Hooks {
		settings = append(settings, fmt.Sprintf("hooks[%d]", i))
	}
	slices.Sort(settings)
	by := map[string][]string{}
	for _, s := range settings {
		by[p.Origins[s]] = append(by[p.Origins[s]], s)
	}
	for _, file := range slices.Sorted(maps.Keys(by)) {
		if file != "" {
			out = append(out, origin{file, by[file]})
		}
	}
	if by[""] != nil {
		out = append(out, origin{"", by[""]})
	}
	return out
}

// Schema is what a pipeline file may say, in CUE: each field with its default.
//
//go:embed schema.cue
var Schema string

// JSONSchema is what Schema says as JSON Schema, for editors: it completes names,
// explains fields and marks mistakes. What it cannot say, reprise vet finds.
//
//go:embed schema.json
var JSONSchema string

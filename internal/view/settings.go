package view

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/pipelines"
)

// Settings gives a pipeline as a run freezes it, in YAML: every setting that has a value. Above
// them it says where those come from that a repository may have for all runs.
func Settings(plan *pipelines.Pipeline) string {
	shown := *Whole(plan)
	shown.Phases, shown.Spare = slices.Clone(shown.Phases), slices.Clone(shown.Spare)
	for _, list := range [][]pipelines.Phase{shown.Phases, shown.Spare} {
		for i := range list {
			list[i].ReportSchema = nil // report says the same
		}
	}
	var out bytes.Buffer
	for _, o := range pipelines.OriginsOf(&shown) {
		file := cmp.Or(map[string]string{"": "the defaults", pipelines.GivenForRun: "given for this run"}[o.File], o.File)
		fmt.Fprintf(&out, "# from %s: %s\n", text.Flat(file), text.Flat(strings.Join(o.Settings, ", ")))
	}
	shown.Origins = nil
	return strings.NewReplacer("##[", "## [", "\t", "  ").Replace(text.Visible(out.String() + inYAML(shown)))
}

// inYAML writes a value as people do, short parts on one line.
func inYAML(value any) string {
	var out bytes.Buffer
	data, err := json.Marshal(value)
	var doc yaml.Node
	if err == nil {
		err = yaml.Unmarshal([]byte(text.Visible(string(data))), &doc) // JSON is YAML, and keeps the order
	}
	if err == nil {
		readable(&doc)
		enc := yaml.NewEncoder(&out)
		enc.SetIndent(2)
		err = enc.Encode(&doc)
	}
	if err != nil {
		return err.Error() + "\n" // an amount that JSON cannot hold
	}
	return out.String()
}

// widest is how many bytes a part of the settings may have on one line.
const widest = 110

// readable takes off the quotes that YAML does not need, and leaves short parts on one line. It gives
// how long a part is on one line.
func readable(n *yaml.Node) (size int) {
	n.Style = 0
	if n.Kind == yaml.ScalarNode {
		if strings.Contains(n.Value, "\n") {
			return widest
		}
		return len(n.Value) + 2
	}
	for _, c := range n.Content {
		size += readable(c)
		if n.Kind == yaml.SequenceNode && strings.Contains(c.Value, " ") {
			size = widest // sentences
		}
	}
	if size < widest && n.Kind != yaml.DocumentNode {
		n.Style = yaml.FlowStyle
	}
	return size
}

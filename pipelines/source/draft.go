package source

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/pipelines/builtin"
	"github.com/reprise-ci/reprise/pipelines/draft"
)

// newDraft reads a pipeline from its nodes. Values that break the schema are
// not among them.
func newDraft(n *node) (draft.Pipeline, error) {
	var d draft.Pipeline
	var data bytes.Buffer
	n.writeJSON(&data)
	if err := json.Unmarshal(data.Bytes(), &d); err != nil {
		return d, fmt.Errorf("%s: %w", n.file, err)
	}
	for i := range d.Phases {
		d.Phases[i].Schema = n.get("phases").item(i).get("report").reportSchema()
	}
	for i := range d.Spare {
		d.Spare[i].Schema = n.get("spare").item(i).get("report").reportSchema()
	}
	if d.Name == "" {
		d.Name = nameOf(n.file)
	}
	return d, nil
}

// nameOf is the name of a pipeline by its file: "builtin:fix" and
// ".github/reprise/pipelines/fix.yaml" are both called fix.
func nameOf(file string) string {
	base := strings.TrimPrefix(path.Base(file), builtin.Prefix)
	return strings.TrimSuffix(base, path.Ext(base))
}

// sortedKeys gives the keys of a map in alphabetical order.
func sortedKeys[V any](m map[string]V) []string {
	return slices.Sorted(maps.Keys(m))
}

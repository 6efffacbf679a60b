package source

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path"
	"strings"

	"github.com/reprise-ci/reprise/pipelines/builtin"
)

// Draft reads a pipeline from its nodes. Values that break the schema are
// not among them.
func DraftOf(n *Node) (DraftPipeline, error) {
	var d DraftPipeline
	var data bytes.Buffer
	n.WriteJSON(&data)
	if err := json.Unmarshal(data.Bytes(), &d); err != nil {
		return d, fmt.Errorf("%s: %w", n.File, err)
	}
	for i := range d.Phases {
		d.Phases[i].Schema = n.Get("phases").Item(i).Get("report").reportSchema()
	}
	for i := range d.Spare {
		d.Spare[i].Schema = n.Get("spare").Item(i).Get("report").reportSchema()
	}
	if d.Name == "" {
		d.Name = nameOf(n.File)
	}
	return d, nil
}

// nameOf is the name of a pipeline by its file: "builtin:fix" and
// ".github/reprise/pipelines/fix.yaml" are both called fix.
func nameOf(file string) string {
	base := strings.TrimPrefix(path.Base(file), builtin.Prefix)
	return strings.TrimSuffix(base, path.Ext(base))
}

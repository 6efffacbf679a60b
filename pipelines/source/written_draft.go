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
		d.Phases[i].complete(n.Get("phases").Item(i))
	}
	for i := range d.Spare {
		d.Spare[i].complete(n.Get("spare").Item(i))
	}
	if d.Name == "" {
		d.Name = nameOf(n.File)
	}
	return d, nil
}

// complete takes over what only the nodes know of the CUE in a phase.
func (p *DraftPhase) complete(n *Node) {
	p.Schema = n.Get("report").reportSchema()
	if p.SkipIf != nil {
		p.SkipIf.Tree = n.Get("skip_if").Get("when").Get("tree").FieldNames()
	}
}

// nameOf is the name of a pipeline by its file: "builtin:fix" and
// ".github/reprise/pipelines/fix.yaml" are both called fix.
func nameOf(file string) string {
	base := strings.TrimPrefix(path.Base(file), builtin.Prefix)
	return strings.TrimSuffix(base, path.Ext(base))
}

package metadata

import _ "embed"

// SchemaCUE is the format as a CUE schema, for programs that read or check a
// metadata.json without this package: #Run is one. What no schema can say,
// such as that history only grows, is left to Run.Check and CheckNext.
//
//go:embed schema.cue
var SchemaCUE string

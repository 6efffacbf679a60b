package pipelines

import _ "embed"

// JSONSchema is what schema.cue says as JSON Schema, for editors: it completes names,
// explains fields and marks mistakes. What it cannot say, reprise vet finds.
//
//go:embed schema.json
var JSONSchema string

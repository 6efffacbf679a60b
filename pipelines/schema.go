package pipelines

import _ "embed"

// Schema is what a pipeline file may say, in CUE: each field with its default.
//
//go:embed schema.cue
var Schema string

// JSONSchema is what Schema says as JSON Schema, for editors: it completes names,
// explains fields and marks mistakes. What it cannot say, reprise vet finds.
//
//go:embed schema.json
var JSONSchema string

package plan

import _ "embed" // for the schema

//go:embed plan.schema.json
var schemaText []byte

// Schema is the JSON Schema of a plan as JSON.
func Schema() []byte { return schemaText }

package report

import (
	"encoding/json"
	"io"

	"snag/internal/shown"
)

// WriteValue writes any value as JSON, indented, with a newline at its end. Characters that hide or turn text are
// escaped.
func WriteValue(w io.Writer, v any) error {
	enc := json.NewEncoder(shown.JSON(w))
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(v)
}

package report

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
)

//go:embed page.css
var styleText string

// policy allows a browser the style of the page and nothing else.
func policy() string {
	sum := sha256.Sum256([]byte(styleText))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) +
		"'; img-src data:; base-uri 'none'; form-action 'none'"
}

package command

import (
	"strings"

	"github.com/reprise-ci/reprise/metadata"
)

// Refused is what the record says of a command that was refused.
func Refused(why metadata.Reason) metadata.Reason { return metadata.Because("refused", "why", why) }

// WhyRefused gives why the record says that a command was refused; ok is false if
// it does not say so. Records of earlier versions have words for it.
func WhyRefused(r metadata.Reason) (why metadata.Reason, ok bool) {
	if r.Code() == "refused" {
		return r.Value("why"), true
	}
	said, ok := strings.CutPrefix(string(r), "refused: ")
	return metadata.Said(said), ok
}

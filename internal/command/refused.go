package command

import "github.com/reprise-ci/reprise/metadata"

// Refused is what the record says of a command that was refused.
func Refused(why metadata.Reason) metadata.Reason { return metadata.Because("refused", "why", why) }

// WhyRefused gives why the record says that a command was refused; ok is false if
// it does not say so.
func WhyRefused(r metadata.Reason) (why metadata.Reason, ok bool) {
	return r.Value("why"), r.Code() == "refused"
}

package command

import (
	"strings"
	"unicode/utf8"

	"github.com/reprise-ci/reprise/internal/exit"
)

// MaxReason is the most that a reason may have when it is typed, in Unicode code
// points.
const MaxReason = 10_000

// CheckReason refuses a reason that is empty or not text, with an exit.UsageError.
func CheckReason(reason string) error {
	switch {
	case reason == "":
		return exit.Usagef("the reason is empty: say what has to change, it is what the next agent is told")
	case !utf8.ValidString(reason) || strings.ContainsRune(reason, 0):
		return exit.Usagef("the reason is not text")
	}
	return nil
}

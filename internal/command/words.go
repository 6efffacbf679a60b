package command

import (
	"github.com/reprise-ci/reprise/prompts"
	"github.com/reprise-ci/reprise/prompts/clean"
)

// faultKind is a kind of mistake: a key of command.faults among the words. The comments say what its sentence names, in that order.
type faultKind string

const (
	faultInvisible   faultKind = "invisible"   // character
	faultCommented   faultKind = "commented"   // nothing
	faultNoCommand   faultKind = "noCommand"   // nothing
	faultUnknown     faultKind = "unknown"     // what was typed
	faultUnknownNear faultKind = "unknownNear" // what was typed, what was probably meant
	faultMissing     faultKind = "missing"     // form of what is missing
	faultBad         faultKind = "bad"         // what was typed, form
	faultBadFlag     faultKind = "badFlag"     // what was typed, form, flag
	faultBadStep     faultKind = "badStep"     // what was typed
	faultExtra       faultKind = "extra"       // what was typed
	faultNoFlag      faultKind = "noFlag"      // what was typed
	faultNoFlagNear  faultKind = "noFlagNear"  // what was typed, what was probably meant
	faultTwice       faultKind = "twice"       // flag
	faultNeedsValue  faultKind = "needsValue"  // flag, its usage
	faultNoValue     faultKind = "noValue"     // flag
	faultLate        faultKind = "late"        // flag
	faultTooLong     faultKind = "tooLong"     // characters, limit
	faultAutoAlone   faultKind = "autoAlone"   // nothing
)

// words are what is said about commands, in one language.
type words struct{ prompts.Catalogue }

func wordsOf(language string) words { return words{prompts.Words(language)} }

// fault says what is wrong. What was typed by somebody becomes short inline
// code, which can do no harm.
func (w words) fault(f fault) string {
	var named []any
	for i, a := range f.Args {
		switch {
		case f.Kind == faultTooLong:
			named = append(named, i+1, a)
		case f.Kind == faultMissing, i == 1 && (f.Kind == faultBad || f.Kind == faultBadFlag):
			named = append(named, i+1, w.Say("command.values."+a))
		default:
			named = append(named, i+1, coded(a))
		}
	}
	return w.Say("command.faults."+string(f.Kind), named...)
}

// coded makes inline code of something typed. Of what nobody sees
// something is left, as code without content is none.
func coded(text string) string {
	if c := clean.Code(clean.Truncate(text, 40)); c != "" {
		return c
	}
	return "`?`"
}

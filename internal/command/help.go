package command

import (
	"fmt"
	"strings"

	"github.com/reprise-ci/reprise/prompts"
	"github.com/reprise-ci/reprise/prompts/clean"
)

// Reply says in Markdown what is wrong with a text that was mistaken. It is
// empty for a command, and for what is not for us.
func (p Parsed) Reply(language string) string {
	w := wordsOf(language)
	spec := p.Command.Spec()
	if p.Outcome != Mistaken {
		return ""
	}
	first := p.Faults[0].Kind
	if first == faultUnknown || first == faultUnknownNear || first == faultNoCommand {
		return w.list(p.Faults, w.Say("command.mistakenAny")) + "\n"
	}
	return w.list(p.Faults, w.Say("command.mistaken", "command", coded("/"+spec.Name))) +
		"\n\n```text\n" + clean.EscapeCommands(spec.usage()) + "\n```\n\n" + w.Say("command.more", "help", coded("/help "+spec.Name)) + "\n"
}

// list puts mistakes below a sentence.
func (w words) list(faults []fault, lead string) string {
	lines := []string{lead, ""}
	for _, f := range faults {
		lines = append(lines, "- "+w.fault(f))
	}
	return strings.Join(lines, "\n")
}

// Help gives the reply to help, in Markdown: about one command, or with
// an empty topic a table of all.
func Help(language, topic string) string {
	w := wordsOf(language)
	if spec, ok := specOf(topic); ok {
		return w.explain(spec)
	}
	lines := []string{w.Say("command.helpTitle"), "", w.Say("command.helpHead"), "|---|---|---|"}
	for _, s := range Table() {
		lines = append(lines, fmt.Sprintf("| %s | %s | %s |", coded("/"+s.Name), w.Say("command.summaries."+s.Name), s.Role))
	}
	return strings.Join(append(lines, "", w.Say("command.helpMore")), "\n") + "\n"
}

// explain describes one command.
func (w words) explain(s spec) string {
	var b strings.Builder
	b.WriteString(s.usage() + "\n")
	if len(s.Flags) > 0 {
		b.WriteByte('\n')
	}
	for _, a := range s.Args {
		if a.Kind == kindPhaseStep {
			fmt.Fprintf(&b, "%-18s  %s\n", a.Kind.form(), w.Say("command.phaseStep"))
		}
	}
	for _, f := range s.Flags {
		fmt.Fprintf(&b, "%-18s  %s\n", f.usage(), w.Say("command.flags."+f.Name))
	}
	usage := clean.EscapeCommands(strings.TrimSuffix(b.String(), "\n"))
	return fmt.Sprintf("%s\n\n```text\n%s\n```\n\n%s\n", w.Say("command.summaries."+s.Name), usage, strings.Join(w.facts(s), w.Say("command.space")))
}

// facts are the sentences about a command that its usage does not show.
func (w words) facts(s spec) []string {
	facts := []string{w.Say("command.needs", "role", s.Role)}
	if s.Run {
		facts = append(facts, w.Say("command.needsRun"))
	}
	if s.Now {
		facts = append(facts, w.Say("command.now"))
	}
	if s.Text != noText {
		facts = append(facts, w.Say("command.text"))
	}
	if len(s.Flags) > 0 {
		facts = append(facts, w.Say("command.firstLine"))
	}
	return facts
}

// String writes a command as it is typed: the text, if any, on lines below.
// Parse reads the same command from it.
func (c Command) String() string {
	spec, line := c.Spec(), "/"+c.Name
	for _, f := range spec.Flags {
		if value, ok := got(f.in(&c)); ok {
			line += " --" + f.Name
			if value != "" {
				line += "=" + value
			}
		}
	}
	for _, a := range spec.Args {
		if value, ok := got(a.in(&c)); ok {
			line += " " + value
		}
		if a.Kind == kindPhaseStep && c.Step != "" {
			line += ":" + string(c.Step)
		}
	}
	if c.Text != "" {
		line += "\n" + c.Text
	}
	return line
}

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
	faultSecond      faultKind = "second"      // the command that stands below
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

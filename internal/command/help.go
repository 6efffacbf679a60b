package command

import (
	"fmt"
	"strings"

	"github.com/reprise-ci/reprise/internal/github"
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

// Role is the least right somebody needs to be given the result of a text: a
// command's own, and for what is none that for help.
func (p Parsed) Role() github.Role {
	if spec, ok := specOf(p.Command.Name); ok {
		return spec.Role
	}
	help, _ := specOf("help") // it is in the table
	return help.Role
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
func (w words) explain(s Spec) string {
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
func (w words) facts(s Spec) []string {
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
		if value, ok := got(f.field(&c)); ok {
			line += " --" + f.Name
			if value != "" {
				line += "=" + value
			}
		}
	}
	for _, a := range spec.Args {
		if value, ok := got(a.field(&c)); ok {
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

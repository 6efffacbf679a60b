package main

import (
	"fmt"
	"strings"

	"github.com/reprise-ci/reprise/github"
)

// reply says in Markdown what is wrong with a text that was mistaken. It is
// empty for a command, and for what is not for us.
func (p slashParsed) reply(language string) string {
	w := slashWords(language)
	spec := p.Command.spec()
	if p.Outcome != slashMistaken {
		return ""
	}
	first := p.Faults[0].Kind
	if first == slashUnknown || first == slashUnknownNear || first == slashNoCommand {
		return w.list(p.Faults, w.mistakenAny) + "\n"
	}
	return w.list(p.Faults, fmt.Sprintf(w.mistaken, slashCoded("/"+spec.Name))) +
		"\n\n```text\n" + unlikeCommands(spec.usage()) + "\n```\n\n" + fmt.Sprintf(w.more, slashCoded("/help "+spec.Name)) + "\n"
}

// list puts mistakes below a sentence.
func (w slashLanguage) list(faults []slashFault, lead string) string {
	lines := []string{lead, ""}
	for _, f := range faults {
		lines = append(lines, "- "+w.fault(f))
	}
	return strings.Join(lines, "\n")
}

// role is the least right somebody needs to be given the result of a text: a
// command's own, and for what is none that for help.
func (p slashParsed) role() github.Role {
	if spec, ok := slashSpecOf(p.Command.Name); ok {
		return spec.Role
	}
	help, _ := slashSpecOf("help") // it is in the table
	return help.Role
}

// slashHelp gives the reply to help, in Markdown: about one command, or with
// an empty topic a table of all. A right that
// roles has for a command goes before the one in the table.
func slashHelp(language, topic string, roles map[string]github.Role) string {
	w := slashWords(language)
	if spec, ok := slashSpecOf(topic); ok {
		return w.explain(spec, roles)
	}
	lines := []string{w.helpTitle, "", w.helpHead, "|---|---|---|"}
	for _, s := range slashTable() {
		lines = append(lines, fmt.Sprintf("| %s | %s | %s |", slashCoded("/"+s.Name), w.summaries[s.Name], w.roleOf(s, roles)))
	}
	return strings.Join(append(lines, "", w.helpMore), "\n") + "\n"
}

func (w slashLanguage) roleOf(s slashSpec, roles map[string]github.Role) github.Role {
	role := s.Role
	if other := roles[s.Name]; other != "" {
		role = other
	}
	return role
}

// explain describes one command.
func (w slashLanguage) explain(s slashSpec, roles map[string]github.Role) string {
	var b strings.Builder
	b.WriteString(s.usage() + "\n")
	if len(s.Flags) > 0 {
		b.WriteByte('\n')
	}
	for _, a := range s.Args {
		if a.Kind == slashPhaseStep {
			fmt.Fprintf(&b, "%-18s  %s\n", a.Kind.form(), w.phaseStep)
		}
	}
	for _, f := range s.Flags {
		fmt.Fprintf(&b, "%-18s  %s\n", f.usage(), w.flags[f.Name])
	}
	usage := unlikeCommands(strings.TrimSuffix(b.String(), "\n"))
	return fmt.Sprintf("%s\n\n```text\n%s\n```\n\n%s\n", w.summaries[s.Name], usage, strings.Join(w.facts(s, roles), w.space))
}

// facts are the sentences about a command that its usage does not show.
func (w slashLanguage) facts(s slashSpec, roles map[string]github.Role) []string {
	facts := []string{fmt.Sprintf(w.needs, w.roleOf(s, roles))}
	if s.Run {
		facts = append(facts, w.needsRun)
	}
	if s.Now {
		facts = append(facts, w.now)
	}
	if s.Text != slashNoText {
		facts = append(facts, w.text)
	}
	if len(s.Flags) > 0 {
		facts = append(facts, w.firstLine)
	}
	return facts
}

// String writes a command as it is typed: the text, if any, on lines below.
// parseSlash reads the same command from it.
func (c slashCommand) String() string {
	spec, line := c.spec(), "/"+c.Name
	for _, f := range spec.Flags {
		if value, ok := slashGot(f.field(&c)); ok {
			line = strings.TrimSuffix(line+" --"+f.Name+" "+value, " ")
		}
	}
	for _, a := range spec.Args {
		if value, ok := slashGot(a.field(&c)); ok {
			line += " " + value
		}
		if a.Kind == slashPhaseStep && c.Step != "" {
			line += ":" + string(c.Step)
		}
	}
	if c.Text != "" {
		line += "\n" + c.Text
	}
	return line
}

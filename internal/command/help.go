package command

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/prompts"
	"github.com/reprise-ci/reprise/prompts/clean"
)

// Reply says in Markdown what is wrong with a text that was mistaken. It is
// empty for a command, and for what is not for us.
func (p Parsed) Reply(language string) string {
	if p.Outcome != Mistaken {
		return ""
	}
	w, spec := words{prompts.Words(language)}, p.Command.Spec()
	lead, usage := w.Say("command.mistakenAny"), ""
	if !strings.HasPrefix(p.Faults[0].Kind, "unknown") && p.Faults[0].Kind != "noCommand" {
		lead = w.Say("command.mistaken", "command", coded("/"+spec.Name))
		usage = "\n\n```text\n" + clean.EscapeCommands(spec.usage()) + "\n```\n\n" + w.Say("command.more", "help", coded("/help "+spec.Name))
	}
	lines := []string{lead, ""}
	for _, f := range p.Faults {
		lines = append(lines, "- "+w.fault(f))
	}
	return strings.Join(lines, "\n") + usage + "\n"
}

// Help gives the reply to help, in Markdown: about one command, or with
// an empty topic a table of all.
func Help(language, topic string) string {
	w := words{prompts.Words(language)}
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
	usage := s.usage() + "\n"
	if len(s.Flags) > 0 {
		usage += "\n"
	}
	for _, a := range s.Args {
		if a.Kind == kindPhaseStep {
			usage += fmt.Sprintf("%-18s  %s\n", a.Kind.form(), w.Say("command.phaseStep"))
		}
	}
	for _, f := range s.Flags {
		usage += fmt.Sprintf("%-18s  %s\n", f.usage(), w.Say("command.flags."+f.Name))
	}
	facts := []string{w.Say("command.needs", "role", s.Role)} // what the usage does not show
	for _, f := range []struct {
		is   bool
		word string
	}{{s.Run, "command.needsRun"}, {s.Now, "command.now"}, {s.Text != noText, "command.text"}, {len(s.Flags) > 0, "command.firstLine"}} {
		if f.is {
			facts = append(facts, w.Say(f.word))
		}
	}
	return fmt.Sprintf("%s\n\n```text\n%s\n```\n\n%s\n", w.Say("command.summaries."+s.Name), clean.EscapeCommands(strings.TrimSuffix(usage, "\n")), strings.Join(facts, w.Say("command.space")))
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

// words are what is said about commands, in one language.
type words struct{ prompts.Catalogue }

// fault says what is wrong, with the word for its kind among the words. What was typed by somebody becomes short inline
// code, which can do no harm.
func (w words) fault(f fault) string {
	var named []any
	for i, a := range f.Args {
		switch {
		case f.Kind == "tooLong":
			named = append(named, i+1, a)
		case f.Kind == "missing", i == 1 && (f.Kind == "bad" || f.Kind == "badFlag"):
			named = append(named, i+1, w.Say("command.values."+a))
		default:
			named = append(named, i+1, coded(a))
		}
	}
	return w.Say("command.faults."+f.Kind, named...)
}

// coded makes inline code of something typed. Of what nobody sees
// something is left, as code without content is none.
func coded(text string) string {
	if c := clean.Code(clean.Truncate(text, 40)); c != "" {
		return c
	}
	return "`?`"
}

// ReplyMarker is the first line of the answer to some comments. There is at
// most one comment with it.
func ReplyMarker(comments ...int64) string {
	ids := make([]string, len(comments))
	for i, id := range comments {
		ids[i] = strconv.FormatInt(id, 10)
	}
	return fmt.Sprintf("<!-- reprise:reply:v1 comment=%s -->", strings.Join(ids, ","))
}

var replyForm = text.Pattern(`^<!-- reprise:reply:v1 comment=([0-9,]+) -->`)

// AnswersTo are the comments that a comment which begins so is the answer to.
func AnswersTo(body string) (comments []int64) {
	m := replyForm().FindStringSubmatch(body)
	if m == nil {
		return nil
	}
	for id := range strings.SplitSeq(m[1], ",") {
		if n, err := strconv.ParseInt(id, 10, 64); err == nil {
			comments = append(comments, n)
		}
	}
	return comments
}

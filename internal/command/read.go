package command

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/prompts/clean"
)

// reader takes a command apart from left to right.
type reader struct {
	line string // what of the command line is not read yet
	rest string // the lines below it

	spec    spec
	command Command
	seen    []string // flags
	called  bool     // by the name of reprise
	faults  []fault
	removed []clean.Removal
}

// maxFaults is how many mistakes a reply names: longer lists help nobody.
const maxFaults = 5

func (r *reader) fault(kind string, args ...string) {
	if len(r.faults) < maxFaults {
		r.faults = append(r.faults, fault{Kind: kind, Args: args})
	}
}

// peek gives the next word of the command line, or "".
func (r *reader) peek() string {
	r.line = strings.TrimLeftFunc(r.line, unicode.IsSpace)
	if end := strings.IndexFunc(r.line, unicode.IsSpace); end >= 0 {
		return r.line[:end]
	}
	return r.line
}

// take gives the next word and goes on behind it.
func (r *reader) take() string {
	word := r.peek()
	r.line = r.line[len(word):]
	return word
}

// readName finds out which command it is, and reports whether it is for us at all: other programs have commands, too, and
// a path may begin a comment. Only a name that is nearly one of ours is taken for a slip.
func (r *reader) readName(bare bool) bool {
	name, slash := strings.CutPrefix(r.take(), "/")
	if !slash && !bare {
		return false
	}
	ours := bare
	if isReprise(name) {
		ours, r.called, name = true, true, "help"
		if next := r.take(); next != "" {
			name = strings.TrimPrefix(next, "/")
		}
	}
	if spec, ok := specOf(fold(name)); ok {
		r.spec, r.command.Name = spec, spec.Name
		return true
	}
	near := nearCommand(name)
	switch {
	case !ours && (near == "" || strings.Contains(name, "/")):
		return false
	case name == "":
		r.fault("noCommand")
	case near == "":
		r.fault("unknown", "/"+name)
	default:
		r.command.Name = near
		r.fault("unknownNear", "/"+name, "/"+near)
	}
	return true
}

// isReprise reports whether a word is our name, with whatever people write behind that.
func isReprise(word string) bool {
	return fold(strings.TrimRight(word, ".,:;!。、：！")) == "reprise"
}

// nearCommand gives the command that a name, or what stands before a full stop or colon, was probably meant to be, or "".
func nearCommand(name string) string {
	name, _, _ = strings.Cut(strings.TrimRight(name, ".,:;!?。、：！？"), ":")
	if spec, ok := specOf(fold(name)); ok {
		return spec.Name
	}
	if now := renamed()[fold(name)]; now != "" {
		return now
	}
	var names []string
	for _, s := range Table() {
		if s.Shared {
			continue // what is near to it may be meant for another program
		}
		names = append(names, s.Name)
	}
	return Nearest(name, names)
}

// readArguments reads what stands in a fixed order.
func (r *reader) readArguments() {
	if f, ok := r.spec.instead(); ok && slices.Contains(r.seen, "--"+f.Name) {
		return
	}
	for i, arg := range r.spec.Args {
		word := r.peek()
		value := fold(word)
		switch {
		case word == "":
			if !arg.Optional {
				r.fault("missing", arg.Kind.form())
			}
		case arg.Kind == kindPhaseStep:
			r.readPhaseStep(r.take())
		case arg.Kind == kindTopic:
			r.readTopic(r.take())
		case arg.Optional && slices.ContainsFunc(r.spec.Args[i+1:], func(later param) bool { return later.Kind.Fits(value) }): // which is meant then
		case arg.Kind.Fits(value):
			r.take()
			put(arg.in(&r.command), value)
		case arg.Optional && r.spec.Text != noText: // it begins the text
		default:
			r.take()
			r.fault("bad", word, arg.Kind.form())
		}
	}
}

func (r *reader) readPhaseStep(word string) {
	phase, step, stepped := strings.Cut(fold(word), ":")
	if !KindPhase.Fits(phase) {
		r.fault("bad", word, kindPhaseStep.form())
		return
	}
	r.command.Phase = phase
	steps := []string{string(metadata.Execute), string(metadata.Review), string(metadata.Revise)}
	switch {
	case !stepped:
	case slices.Contains(steps, step):
		r.command.Step = metadata.Step(step)
	default:
		r.fault("badStep", word)
	}
}

func (r *reader) readTopic(word string) {
	name := strings.TrimPrefix(word, "/")
	switch near := nearCommand(name); near {
	case "":
		r.fault("unknown", "/"+name)
	case fold(name):
		r.command.Topic = near
	default:
		r.fault("unknownNear", "/"+name, "/"+near)
	}
}

// comments reports whether a comment begins in a line outside of code.
func comments(line string) bool {
	seen, _ := clean.Text(lead + line + "-->")
	return strings.Count(seen, "<!--") < strings.Count(line, "<!--")
}

// lead stands for the command that a text begins behind.
const lead = "/x "

// readText reads the rest of the command line and the lines below. What is
// hidden in it is left out, as an agent or a record would see it.
func (r *reader) readText() {
	if r.spec.Text == noText {
		if word := r.peek(); word != "" {
			r.fault("extra", word)
		}
		below, _ := clean.Text(r.rest)
		below, _ = clean.Mail(below)
		r.second(below)
		return
	}
	for word := range strings.FieldsSeq(r.line) {
		if name, _, _, ok := r.spec.asFlag(word); ok {
			if _, known := r.spec.flag(name); known {
				r.fault("late", flagOf(word))
			}
		}
	}
	// The text begins behind a word, and GitHub reads it so: it begins no block.
	text, hidden := clean.Text(lead + strings.TrimSpace(r.line+"\n"+r.rest))
	own, below, _ := strings.Cut(text, "\n") // a program for mail adds nothing to the line of the command
	if strings.TrimSpace(r.line) == "" {
		own, below = "", text
	}
	below, mail := clean.Mail(below)
	r.removed = append(hidden, mail...)
	r.command.Text = strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(own+"\n"+below, "\n"), strings.TrimSpace(lead)))
	r.second(r.command.Text)
	if n := utf8.RuneCountInString(r.command.Text); n > MaxReason {
		r.fault("tooLong", strconv.Itoa(n), strconv.Itoa(MaxReason))
	} else if n == 0 && r.spec.textFor(&r.command) == mustText {
		r.fault("missing", r.spec.textForm())
	}
}

// second finds another command on a line of its own, which would be lost, or be taken for text. Whatever stands below,
// a command that stops the run does.
func (r *reader) second(below string) {
	if r.command.Name == "cancel" || r.command.Name == "pause" {
		return
	}
	for line := range strings.Lines(clean.Prose(below)) {
		if line = narrow(strings.TrimLeft(line, " ")); strings.HasPrefix(line, "/") && (!r.called || strings.HasPrefix(fold(line), "/reprise")) && Parse(line, false).Outcome != Ignored {
			r.fault("second", strings.Fields(line)[0])
			return
		}
	}
}

// readFlags reads flags up to the first word that is not one.
func (r *reader) readFlags() {
	for {
		word := r.peek()
		name, value, given, ok := r.spec.asFlag(word)
		if !ok {
			return
		}
		r.take()
		if flag, known := r.spec.flag(name); known {
			r.readFlag(flag, value, given)
			continue
		}
		var names []string
		for _, f := range r.spec.Flags {
			names = append(names, f.Name)
		}
		if near := Nearest(strings.TrimLeft(name, "-"), names); near != "" {
			r.fault("noFlagNear", flagOf(word), "--"+near)
		} else {
			r.fault("noFlag", flagOf(word))
		}
	}
}

// readFlag reads the value of a flag, which is given if it stands behind an
// equals sign.
func (r *reader) readFlag(flag param, value string, given bool) {
	name := "--" + flag.Name
	if slices.Contains(r.seen, name) {
		r.fault("twice", name)
	}
	r.seen = append(r.seen, name)
	if flag.Kind == kindSwitch {
		if given {
			r.fault("noValue", name)
		}
		put(flag.in(&r.command), "")
		return
	}
	if !given && flag.Kind != kindRefresh {
		if _, _, _, isFlag := r.spec.asFlag(r.peek()); !isFlag || flag.Kind == kindPhases && !strings.HasPrefix(r.peek(), "--") {
			value = r.take()
		}
	}
	switch {
	case flag.Kind == kindRefresh && !given:
		put(flag.in(&r.command), "")
	case value == "":
		r.fault("needsValue", name, flag.usage())
	case !flag.Kind.Fits(fold(value)):
		r.fault("badFlag", value, flag.Kind.form(), name)
	default:
		put(flag.in(&r.command), fold(value))
	}
}

// asFlag takes a word apart if it is a flag, of any command: it begins with a hyphen and goes on. Keyboards make one dash
// of two hyphens, which counts where the rest is a flag of this command.
func (s spec) asFlag(word string) (name, value string, given, ok bool) {
	name = strings.TrimLeft(word, "-–—")
	dashes := word[:len(word)-len(name)]
	name, value, given = strings.Cut(name, "=")
	name = fold(name)
	_, known := s.flag(name)
	switch {
	case name == "" && !given, dashes == "":
		return "", "", false, false
	case dashes == "--", dashes == "–" && known, dashes == "—" && known:
		return name, value, given, true
	}
	return "-" + name, value, given, dashes[0] == '-' // which no flag is called
}

// flagOf is a flag as it was typed, without its value.
func flagOf(word string) string {
	word, _, _ = strings.Cut(word, "=")
	return word
}

// Nearest gives the name within two edits of what was typed, or "". A name
// of few letters is soon near to any short word: up to five, one edit counts.
func Nearest(typed string, names []string) string {
	best, least := "", 3
	for _, name := range names {
		if d := text.Edits(fold(typed), name); d < least && d <= len(name)/3 {
			best, least = name, d
		}
	}
	return best
}

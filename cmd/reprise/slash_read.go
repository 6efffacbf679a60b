package main

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/prompts"
)

// slashReader takes a command apart from left to right.
type slashReader struct {
	line string // what of the command line is not read yet
	rest string // the lines below it

	spec    slashSpec
	command slashCommand
	seen    []string // flags
	faults  []slashFault
	removed []prompts.Removal
}

// maxSlashFaults is how many mistakes are told. More help nobody.
const maxSlashFaults = 5

func (r *slashReader) fault(kind slashFaultKind, args ...string) {
	if len(r.faults) < maxSlashFaults {
		r.faults = append(r.faults, slashFault{Kind: kind, Args: args})
	}
}

func (r *slashReader) parsed() slashParsed {
	if len(r.faults) > 0 {
		return slashParsed{Outcome: slashMistaken, Command: slashCommand{Name: r.command.Name}, Faults: r.faults}
	}
	return slashParsed{Outcome: slashAsked, Command: r.command, Removed: r.removed}
}

// peek gives the next word of the command line, or "".
func (r *slashReader) peek() string {
	r.line = strings.TrimLeftFunc(r.line, unicode.IsSpace)
	if end := strings.IndexFunc(r.line, unicode.IsSpace); end >= 0 {
		return r.line[:end]
	}
	return r.line
}

// take gives the next word and goes on behind it.
func (r *slashReader) take() string {
	word := r.peek()
	r.line = r.line[len(word):]
	return word
}

// readName finds out which command it is, and reports whether it is for us at
// all. Only a name that is nearly one of ours is taken for a slip: other
// programs have commands, too, and a path may begin a comment.
func (r *slashReader) readName(bare bool) bool {
	name, slash := strings.CutPrefix(r.take(), "/")
	if !slash && !bare {
		return false
	}
	ours := bare
	if slashFold(name) == "reprise" {
		ours, name = true, "help"
		if next := r.take(); next != "" {
			name = strings.TrimPrefix(next, "/")
		}
	}
	if spec, ok := slashSpecOf(slashFold(name)); ok {
		r.spec, r.command.Name = spec, spec.Name
		return true
	}
	near := slashNear(name)
	switch {
	case !ours && (near == "" || strings.Contains(name, "/")):
		return false
	case name == "":
		r.fault(slashNoCommand)
	case near == "":
		r.fault(slashUnknown, "/"+name)
	default:
		r.command.Name = near
		r.fault(slashUnknownNear, "/"+name, "/"+near)
	}
	return true
}

// slashNear gives the command that a name was probably meant to be, or "".
func slashNear(name string) string {
	var names []string
	for _, s := range slashTable() {
		if s.Shared {
			continue // what is near to it may be meant for another program
		}
		names = append(names, s.Name)
	}
	return slashNearest(name, names)
}

// refuse refuses a character that nobody sees, and a comment that nobody does.
func (r *slashReader) refuse(hidden string) {
	if hidden != "" {
		r.fault(slashInvisible, hidden)
	}
	if slashComments(r.line) {
		r.fault(slashCommented)
	}
}

// readArguments reads what stands in a fixed order.
func (r *slashReader) readArguments() {
	for i, arg := range r.spec.Args {
		word := r.peek()
		value := slashFold(word)
		switch {
		case word == "":
			if !arg.Optional {
				r.fault(slashMissing, arg.Kind.form())
			}
		case arg.Kind == slashPhaseStep:
			r.readPhaseStep(r.take())
		case arg.Kind == slashTopic:
			r.readTopic(r.take())
		case arg.Optional && r.fitsLater(i, value):
		case arg.Kind.fits(value):
			r.take()
			slashPut(arg.field(&r.command), value)
		case arg.Optional && r.spec.Text != slashNoText: // it begins the text
		default:
			r.take()
			r.fault(slashBad, word, arg.Kind.form())
		}
	}
}

// fitsLater reports whether a value also fits an argument behind the i-th,
// which is then the one that is meant.
func (r *slashReader) fitsLater(i int, value string) bool {
	return slices.ContainsFunc(r.spec.Args[i+1:], func(a slashParam) bool { return a.Kind.fits(value) })
}

func (r *slashReader) readPhaseStep(word string) {
	phase, step, stepped := strings.Cut(slashFold(word), ":")
	if !slashPhase.fits(phase) {
		r.fault(slashBad, word, slashPhaseStep.form())
		return
	}
	r.command.Phase = phase
	steps := []string{string(metadata.Execute), string(metadata.Review), string(metadata.Revise)}
	switch {
	case !stepped:
	case slices.Contains(steps, step):
		r.command.Step = metadata.Step(step)
	default:
		r.fault(slashBadStep, word)
	}
}

func (r *slashReader) readTopic(word string) {
	name := strings.TrimPrefix(word, "/")
	near := slashNear(name)
	if spec, ok := slashSpecOf(slashFold(name)); ok {
		r.command.Topic = spec.Name
	} else if near != "" {
		r.fault(slashUnknownNear, "/"+name, "/"+near)
	} else {
		r.fault(slashUnknown, "/"+name)
	}
}

// slashComments reports whether a comment begins in a line outside of code.
func slashComments(line string) bool {
	seen, _ := prompts.Clean(lead + line + "-->")
	return strings.Count(seen, "<!--") < strings.Count(line, "<!--")
}

// lead stands for the command that a text begins behind.
const lead = "/x "

// readText reads the rest of the command line and the lines below. What is
// hidden in it is left out, as an agent or a record would see it.
func (r *slashReader) readText() {
	if r.spec.Text == slashNoText {
		if word := r.peek(); word != "" {
			r.fault(slashExtra, word)
		}
		return
	}
	for word := range strings.FieldsSeq(r.line) {
		if name, _, _, ok := r.spec.asFlag(word); ok {
			if _, known := r.spec.flag(name); known {
				r.fault(slashLate, slashFlagOf(word))
			}
		}
	}
	// The text begins behind a word, and GitHub reads it so: it begins no block.
	text, removed := prompts.Clean(lead + strings.TrimSpace(r.line+"\n"+r.rest))
	r.removed = removed
	r.command.Text = strings.TrimSpace(strings.TrimPrefix(text, lead))
	if n := utf8.RuneCountInString(r.command.Text); n > maxReason {
		r.fault(slashTooLong, strconv.Itoa(n), strconv.Itoa(maxReason))
	} else if n == 0 && r.spec.Text == slashMustText {
		r.fault(slashMissing, r.spec.textForm())
	}
}

// compare finds flags that contradict each other.
func (r *slashReader) compare() {
	if c := r.command; c.Only != "" && (c.From != "" || c.Until != "" || len(c.Skip) > 0) {
		r.fault(slashOnlyAlone)
	}
}

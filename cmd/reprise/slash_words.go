package main

import (
	"fmt"

	"github.com/reprise-ci/reprise/prompts"
)

// slashFaultKind is a kind of mistake. What a fault of it names is in the
// sentences below, in the order of its arguments.
type slashFaultKind int

const (
	slashInvisible   slashFaultKind = iota // character
	slashCommented                         // nothing
	slashNoCommand                         // nothing
	slashUnknown                           // what was typed
	slashUnknownNear                       // what was typed, what was probably meant
	slashMissing                           // form of what is missing
	slashBad                               // what was typed, form
	slashBadFlag                           // what was typed, form, flag
	slashBadStep                           // what was typed
	slashExtra                             // what was typed
	slashNoFlag                            // what was typed
	slashNoFlagNear                        // what was typed, what was probably meant
	slashTwice                             // flag
	slashNeedsValue                        // flag, its usage
	slashNoValue                           // flag
	slashLate                              // flag
	slashTooLong                           // characters, limit
	slashOnlyAlone                         // nothing
)

// slashLanguage is what is said about commands, in one language.
type slashLanguage struct {
	faults    map[slashFaultKind]string
	forms     map[string]string // what a value of a form is
	summaries map[string]string // by command
	flags     map[string]string // by flag

	mistaken, mistakenAny, more           string
	helpTitle, helpHead, helpMore         string
	needs, needsRun, now, text, firstLine string
	phaseStep, space                      string
}

func slashWords(language string) slashLanguage {
	if prompts.Words(language).Language == "ja" {
		return slashJapanese()
	}
	return slashEnglish()
}

// fault says what is wrong. What was typed by somebody becomes short inline
// code, which can do no harm.
func (w slashLanguage) fault(f slashFault) string {
	var args []any
	for i, a := range f.Args {
		switch {
		case f.Kind == slashTooLong:
			args = append(args, a)
		case f.Kind == slashMissing, i == 1 && (f.Kind == slashBad || f.Kind == slashBadFlag):
			args = append(args, w.forms[a])
		default:
			args = append(args, slashCoded(a))
		}
	}
	return fmt.Sprintf(w.faults[f.Kind], args...)
}

// slashCoded makes inline code of something typed. Of what nobody sees
// something is left, as code without content is none.
func slashCoded(text string) string {
	if c := code(brief(text, 40)); c != "" {
		return c
	}
	return "`?`"
}

func slashEnglish() slashLanguage {
	return slashLanguage{
		faults: map[slashFaultKind]string{
			slashInvisible:   "It has a character that nobody can see, %[1]s. Type the command anew instead of pasting it.",
			slashCommented:   "It has a hidden comment in its line. A command does what people can read.",
			slashNoCommand:   "There is no command in it. `help` lists them.",
			slashUnknown:     "There is no command %[1]s. `/help` lists them.",
			slashUnknownNear: "There is no command %[1]s. Did you mean %[2]s?",
			slashMissing:     "It needs %[1]s.",
			slashBad:         "%[1]s cannot be right here; it takes %[2]s.",
			slashBadFlag:     "%[1]s cannot be right after %[3]s; it takes %[2]s.",
			slashBadStep:     "%[1]s names no step; behind the colon stands `execute`, `review` or `revise`.",
			slashExtra:       "It takes no argument %[1]s here.",
			slashNoFlag:      "It has no flag %[1]s.",
			slashNoFlagNear:  "It has no flag %[1]s. Did you mean %[2]s?",
			slashTwice:       "%[1]s is there twice.",
			slashNeedsValue:  "%[1]s needs a value: %[2]s.",
			slashNoValue:     "%[1]s takes no value.",
			slashLate:        "%[1]s stands within the text, where it does nothing. Flags come before the text.",
			slashTooLong:     "The text has %[1]s characters; the limit is %[2]s.",
			slashOnlyAlone:   "`--only` runs one phase; leave out `--from`, `--until` and `--skip`.",
		},
		forms: map[string]string{
			"PHASE":        "the name of a phase, such as `design`",
			"PHASE[:STEP]": "the phase to go back to, such as `design` or `design:execute`",
			"PHASE,...":    "names of phases with commas and no spaces between them, such as `report,evaluation`",
			"NAME":         "a name of small letters, digits, `-` and `_`",
			"USD":          "an amount above 0 in US dollars, such as `5` or `2.50`",
			"N":            "a whole number above 0, such as `20`",
			"TIME":         "a time such as `90m` or `2h`",
			"COMMIT":       "a commit of at least 7 hexadecimal digits",
			"QUESTION":     "the number of a question, such as `q1`",
			"COMMAND":      "the name of a command",
			"REASON":       "a reason, on the same line or on the lines below: it is what the next agent or reader is told",
			"TEXT":         "an answer, on the same line or on the lines below",
		},
		summaries: map[string]string{
			"run":      "Starts a run, or goes on with the one there is.",
			"rollback": "Takes the run back to a phase. The reason reaches the next agent.",
			"retry":    "Tries a phase again, with all its revises: the one the run stopped at, or the one named.",
			"resume":   "Goes on with a run that was stopped or ran out of budget.",
			"pause":    "Lets the step at work end, then waits.",
			"cancel":   "Stops the run. What is done stays on the branch.",
			"approve":  "Approves a phase that waits for it, as it stands now. It takes the right that the phase asks for.",
			"reject":   "Sends a phase back, with a reason.",
			"answer":   "Answers a question of the run.",
			"skip":     "Leaves out a phase, with a reason.",
			"status":   "Says where the run is.",
			"help":     "Lists the commands, or explains one.",
			"config":   "Says which pipeline, agents, budget and rights apply here, and why.",
		},
		flags: map[string]string{
			"pipeline": "pipeline, NAME or NAME/PRESET; else the issue decides", "from": "first phase", "until": "last phase",
			"only": "one phase alone", "skip": "phases to leave out", "agent": "agent that does every step",
			"budget-usd": "US dollars the run may spend from here on", "tokens": "tokens, in and out, it may use from here on",
			"time": "how long agents and checks may work from here on", "attempts": "calls of agents it may make from here on", "refresh": "take pipeline and prompts as they are defined now",
			"refresh-issue": "take the issue as it reads now",
			"restore":       "also take the code back to what it was when the phase ended", "dry-run": "say what would change, and change nothing",
		},
		mistaken:    "%s was not carried out, and nothing has changed.",
		mistakenAny: "Nothing was carried out, and nothing has changed.",
		helpTitle:   "Write a command on the first line of a comment.",
		helpHead:    "| command | what it does | least right |",
		helpMore:    "`/help COMMAND` explains one. Comments that were edited do not count.",
		needs:       "Least right: %s.", needsRun: "There has to be a run.",
		now:       "Answered at once, also while a run is at work.",
		text:      "The text has at most 1,000 characters, on the line of the command or on the lines below it.",
		firstLine: "Flags stand on the first line, before any text.",
		phaseStep: "phase to go back to, and step to go on with: execute, review or revise (default)",
		space:     " ",
		more:      "%s explains the command.",
	}
}

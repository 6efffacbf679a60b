package main

import (
	"regexp"
	"strconv"
	"strings"
	"time"
)

// slashKind is a kind of value. Each has a form that leaves no room for a
// value that begins with a hyphen, leads to a file, or means something to a
// shell.
type slashKind int

const (
	slashSwitch slashKind = iota // a flag without a value
	slashPhase
	slashPhaseStep // PHASE or PHASE:STEP
	slashPhases    // separated by commas
	slashPipeline
	slashAgent
	slashUSD
	slashCount
	slashTime
	slashCommit
	slashQuestion
	slashTopic
)

// form is what stands for a value in a usage line.
func (k slashKind) form() string {
	return [...]string{
		slashSwitch: "", slashPhase: "PHASE", slashPhaseStep: "PHASE[:STEP]", slashPhases: "PHASE,...",
		slashPipeline: "NAME", slashAgent: "NAME", slashUSD: "USD", slashCount: "N", slashTime: "TIME",
		slashCommit: "COMMIT", slashQuestion: "QUESTION", slashTopic: "COMMAND",
	}[k]
}

// The forms of names. Only ASCII letters fold, as others have twins.
var (
	slashPhaseForm    = regexp.MustCompile(`^[a-z][a-z0-9_]{0,39}$`)
	slashPipelineForm = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}(/[a-z0-9][a-z0-9_-]{0,63})?$`)
	slashAgentForm    = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,39}$`)
	slashUSDForm      = regexp.MustCompile(`^[0-9]{1,6}(\.[0-9]{1,4})?$`)
	slashCommitForm   = regexp.MustCompile(`^[0-9a-f]{7,64}$`)
	slashQuestionForm = regexp.MustCompile(`^q[0-9]{1,4}$`)
)

// fits reports whether a value, in small letters, has the form of its kind.
func (k slashKind) fits(value string) bool {
	switch k {
	case slashPhase:
		return slashPhaseForm.MatchString(value)
	case slashPhases:
		for name := range strings.SplitSeq(value, ",") {
			if !slashPhaseForm.MatchString(name) {
				return false
			}
		}
		return true
	case slashPipeline:
		return slashPipelineForm.MatchString(value)
	case slashAgent:
		return slashAgentForm.MatchString(value)
	case slashUSD:
		usd, err := strconv.ParseFloat(value, 64)
		return slashUSDForm.MatchString(value) && err == nil && usd > 0
	case slashCount:
		_, err := wholeNumber(value)
		return err == nil
	case slashTime:
		_, err := workTime(value)
		return err == nil
	case slashCommit:
		return slashCommitForm.MatchString(value)
	case slashQuestion:
		return slashQuestionForm.MatchString(value)
	}
	return false
}

// slashFold makes the ASCII letters of a text small and leaves the rest.
func slashFold(text string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, text)
}

// slashPut keeps a value that fits.
func slashPut(field any, value string) {
	switch to := field.(type) {
	case *string:
		*to = value
	case *bool:
		*to = true
	case *[]string:
		*to = strings.Split(value, ",")
	case *float64:
		*to, _ = strconv.ParseFloat(value, 64) // it fits
	case *int64:
		*to, _ = wholeNumber(value) // it fits
	case *int:
		n, _ := wholeNumber(value) // it fits
		*to = int(min(n, mostAttempts))
	case *time.Duration:
		*to, _ = workTime(value) // it fits
	}
}

// slashGot gives a value as it is typed, and whether there is one.
func slashGot(field any) (string, bool) {
	switch of := field.(type) {
	case *string:
		return *of, *of != ""
	case *bool:
		return "", *of
	case *[]string:
		return strings.Join(*of, ","), len(*of) > 0
	case *float64:
		return strconv.FormatFloat(*of, 'f', -1, 64), *of > 0
	case *int64:
		return strconv.FormatInt(*of, 10), *of > 0
	case *int:
		return strconv.Itoa(*of), *of > 0
	case *time.Duration:
		return of.String(), *of > 0
	}
	return "", false
}

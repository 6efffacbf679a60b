package command

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Kind is a kind of value. Each has a form that leaves no room for a
// value that begins with a hyphen, leads to a file, or means something to a
// shell.
type Kind int

const (
	kindSwitch    Kind = iota // a flag without a value
	KindPhase                 // the name of a phase
	kindPhaseStep             // PHASE or PHASE:STEP
	kindPhases                // separated by commas
	kindPipeline
	kindAgent
	kindUSD
	kindCount
	kindTime
	KindCommit   // at least 7 hexadecimal digits
	KindQuestion // the id of a question, such as q1
	kindTopic
)

// form is what stands for a value in a usage line.
func (k Kind) form() string {
	return [...]string{
		kindSwitch: "", KindPhase: "PHASE", kindPhaseStep: "PHASE[:STEP]", kindPhases: "PHASE,...",
		kindPipeline: "NAME", kindAgent: "NAME", kindUSD: "USD", kindCount: "N", kindTime: "TIME",
		KindCommit: "COMMIT", KindQuestion: "QUESTION", kindTopic: "COMMAND",
	}[k]
}

// The forms of names. Only ASCII letters are made small: others have look-alikes.
var (
	phaseForm    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9_]{0,39}$`) })
	partForm     = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,61}(\.[a-z0-9_-]{1,61})*$`) })
	pipelineForm = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}(/[a-z0-9][a-z0-9_-]{0,63})?$`)
	})
	agentForm    = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z][a-z0-9_-]{0,39}$`) })
	usdForm      = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9]{1,6}(\.[0-9]{1,4})?$`) })
	commitForm   = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[0-9a-f]{7,64}$`) })
	questionForm = regexp.MustCompile(`^q[0-9]{1,4}$`)
)

// Fits reports whether a value, in small letters, has the form of its kind.
func (k Kind) Fits(value string) bool {
	switch k {
	case KindPhase:
		whole, part, isPart := strings.Cut(value, ".")
		return phaseForm().MatchString(whole) && (!isPart || partForm().MatchString(part))
	case kindPhases:
		for name := range strings.SplitSeq(value, ",") {
			if !phaseForm().MatchString(name) {
				return false
			}
		}
		return true
	case kindPipeline:
		return pipelineForm().MatchString(value)
	case kindAgent:
		return agentForm().MatchString(value)
	case kindUSD:
		usd, err := strconv.ParseFloat(value, 64)
		return usdForm().MatchString(value) && err == nil && usd > 0
	case kindCount:
		_, err := WholeNumber(value)
		return err == nil
	case kindTime:
		_, err := WorkTime(value)
		return err == nil
	case KindCommit:
		return commitForm().MatchString(value)
	case KindQuestion:
		return questionForm.MatchString(value)
	}
	return false
}

// fold makes the ASCII letters of a text small and leaves the rest.
func fold(text string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, text)
}

// put keeps a value that fits.
func put(field any, value string) {
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
		*to, _ = WholeNumber(value) // it fits
	case *int:
		n, _ := WholeNumber(value) // it fits
		*to = int(min(n, MostAttempts))
	case *time.Duration:
		*to, _ = WorkTime(value) // it fits
	}
}

// got gives a value as it is typed, and whether there is one.
func got(field any) (string, bool) {
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

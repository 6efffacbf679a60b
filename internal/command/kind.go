package command

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// Kind is a kind of value. Each has a form that leaves no room for a
// value that begins with a hyphen, leads to a file, or means something to a
// shell.
type Kind int

const (
	kindSwitch    Kind = iota // a flag without a value
	KindPhase                 // the name of a phase
	kindPhaseStep             // PHASE or PHASE:STEP
	kindPhases                // which phases, as pipelines.ReadPhases takes it
	kindPipeline
	kindAgent
	kindMore     // what more may be spent, as More takes it
	kindRefresh  // what is taken anew; a flag that can stand without a value
	KindCommit   // at least 7 hexadecimal digits
	KindQuestion // the id of a question, such as q1
	kindTopic
)

// form is what stands for a value in a usage line.
func (k Kind) form() string {
	return [...]string{
		kindSwitch: "", KindPhase: "PHASE", kindPhaseStep: "PHASE[:STEP]", kindPhases: pipelines.PhasesForm,
		kindPipeline: "NAME", kindAgent: "NAME", kindMore: "usd=USD,tokens=N,time=TIME,attempts=N", kindRefresh: "issue|all",
		KindCommit: "COMMIT", KindQuestion: "QUESTION", kindTopic: "COMMAND",
	}[k]
}

// The forms of names. Only ASCII letters are made small: others have look-alikes.
var (
	phaseForm    = regexp.MustCompile(`^[a-z][a-z0-9_]{0,39}$`)
	partForm     = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,61}(\.[a-z0-9_-]{1,61})*$`)
	pipelineForm = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}(/[a-z0-9][a-z0-9_-]{0,63})?$`)
	agentForm    = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,39}$`)
	commitForm   = regexp.MustCompile(`^[0-9a-f]{7,64}$`)
	questionForm = regexp.MustCompile(`^q[0-9]{1,4}$`)
)

// Fits reports whether a value, in small letters, has the form of its kind.
func (k Kind) Fits(value string) bool {
	switch k {
	case KindPhase:
		whole, part, isPart := strings.Cut(value, ".")
		return phaseForm.MatchString(whole) && (!isPart || partForm.MatchString(part))
	case kindPhases:
		p, err := pipelines.ReadPhases(value)
		return err == nil && !slices.ContainsFunc(append([]string{p.From, p.Until, p.Only}, p.Skip...), func(name string) bool {
			return name != "" && !phaseForm.MatchString(name)
		})
	case kindPipeline:
		return pipelineForm.MatchString(value)
	case kindAgent:
		return agentForm.MatchString(value)
	case kindMore:
		return More(value, &phases.Allowance{}) == nil
	case kindRefresh:
		return value == "issue" || value == "all"
	case KindCommit:
		return commitForm.MatchString(value)
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
	case *pipelines.Part:
		split := to.NoSplit
		*to, _ = pipelines.ReadPhases(value) // it fits
		to.NoSplit = split
	case *phases.Allowance:
		_ = More(value, to) // it fits
	case *Anew:
		*to, _ = ReadAnew(value) // it fits
	}
}

// got gives a value as it is typed, and whether there is one.
func got(field any) (string, bool) {
	switch of := field.(type) {
	case *string:
		return *of, *of != ""
	case *bool:
		return "", *of
	case *pipelines.Part:
		return of.Phases(), of.Phases() != ""
	case *phases.Allowance:
		return MoreText(*of), *of != phases.Allowance{}
	case *Anew:
		return of.value(), *of != Anew{}
	}
	return "", false
}

// Anew says what a run takes as it is now, in place of what it began with.
type Anew struct{ Definition, Issue bool }

// ReadAnew reads the value of the flag that says so: issue, all, or definition, which may
// be left out.
func ReadAnew(value string) (Anew, error) {
	if value == "definition" {
		value = ""
	}
	if value != "" && !kindRefresh.Fits(value) {
		return Anew{}, errors.New("it is issue, all or definition")
	}
	return Anew{Issue: value != "", Definition: value != "issue"}, nil
}

// value is what ReadAnew reads the same from.
func (a Anew) value() string {
	switch {
	case a.Issue && a.Definition:
		return "all"
	case a.Issue:
		return "issue"
	}
	return ""
}

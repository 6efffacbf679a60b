package command

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// kind is a kind of value, see table.yaml.
type kind string

const (
	kindSwitch    kind = "switch"
	KindPhase     kind = "phase" // the name of a phase
	kindPhaseStep kind = "step"  // PHASE or PHASE:STEP
	kindPhases    kind = "phases"
	kindPipeline  kind = "pipeline"
	kindAgent     kind = "agent"
	kindMore      kind = "more"
	kindRefresh   kind = "refresh"
	KindCommit    kind = "commit"   // at least 7 hexadecimal digits
	KindQuestion  kind = "question" // the id of a question, such as q1
	kindTopic     kind = "topic"
	kindAttempt   kind = "attempt"
)

// form is what stands for a value in a usage line.
func (k kind) form() string { return table().Kinds[k] }

// The forms of names. Only ASCII letters are made small: others have look-alikes.
var (
	phaseForm    = text.Pattern(`^[a-z][a-z0-9_]{0,39}$`)
	partForm     = text.Pattern(`^[a-z0-9][a-z0-9_-]{0,61}(\.[a-z0-9_-]{1,61})*$`)
	pipelineForm = text.Pattern(`^[a-z0-9][a-z0-9_-]{0,63}(/[a-z0-9][a-z0-9_-]{0,63})?$`)
	agentForm    = text.Pattern(`^[a-z][a-z0-9_-]{0,39}$`)
	commitForm   = text.Pattern(`^[0-9a-f]{7,64}$`)
	questionForm = text.Pattern(`^q[0-9]{1,4}$`)
)

// Fits reports whether a value, in small letters, has the form of its kind.
func (k kind) Fits(value string) bool {
	switch k {
	case KindPhase:
		whole, part, isPart := strings.Cut(value, ".")
		return phaseForm().MatchString(whole) && (!isPart || partForm().MatchString(part))
	case kindPhases:
		p, err := pipelines.ReadPhases(value)
		return err == nil && !slices.ContainsFunc(append([]string{p.From, p.Until, p.Only}, p.Skip...), func(name string) bool {
			return name != "" && !phaseForm().MatchString(name)
		})
	case kindPipeline:
		return pipelineForm().MatchString(value)
	case kindAgent:
		return agentForm().MatchString(value)
	case kindMore:
		return More(value, &phases.Allowance{}) == nil
	case kindRefresh:
		return value == "issue" || value == "all"
	case KindCommit:
		return commitForm().MatchString(value)
	case KindQuestion:
		return questionForm().MatchString(value)
	case kindAttempt:
		n, err := wholeNumber(value)
		return err == nil && n <= mostAttempts
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
	case *int:
		*to, _ = strconv.Atoi(value) // it fits
	case *pipelines.Part:
		split := to.NoSplit
		*to, _ = pipelines.ReadPhases(value) // it fits
		to.NoSplit = split
	case *phases.Allowance:
		_ = More(value, to) // it fits
	case *anew:
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
	case *int:
		return strconv.Itoa(*of), *of > 0
	case *pipelines.Part:
		return of.Phases(), of.Phases() != ""
	case *phases.Allowance:
		return MoreText(*of), *of != phases.Allowance{}
	case *anew:
		return of.value(), *of != anew{}
	}
	return "", false
}

// anew says what a run takes as it is now, in place of what it began with.
type anew struct{ Definition, Issue bool }

// ReadAnew reads the value of the flag that says so: issue, all, or definition, which may
// be left out.
func ReadAnew(value string) (anew, error) {
	if value == "definition" {
		value = ""
	}
	if value != "" && !kindRefresh.Fits(value) {
		return anew{}, errors.New("it is issue, all or definition")
	}
	return anew{Issue: value != "", Definition: value != "issue"}, nil
}

// value is what ReadAnew reads the same from.
func (a anew) value() string {
	switch {
	case a.Issue && a.Definition:
		return "all"
	case a.Issue:
		return "issue"
	}
	return ""
}

// More adds to an allowance what a text says that a run may spend from here on, such as
// usd=5,time=90m: limits of its budget, with commas between them.
func More(text string, to *phases.Allowance) (err error) {
	for item := range strings.SplitSeq(text, ",") {
		name, value, _ := strings.Cut(item, "=")
		switch phases.Limit(name) {
		case phases.LimitUSD:
			to.USD, err = Dollars(value)
		case phases.LimitTokens:
			to.Tokens, err = wholeNumber(value)
		case phases.LimitTime:
			to.Time, err = workTime(value)
		case phases.LimitAttempts:
			var n int64
			n, err = wholeNumber(value)
			to.Attempts = int(min(n, mostAttempts))
		default:
			err = errors.New("it is none of usd=USD, tokens=N, time=TIME, attempts=N, which have commas between them")
		}
		if err != nil {
			return fmt.Errorf("%.80q: %w", item, err)
		}
	}
	return nil
}

// MoreText is what More reads the same allowance from; "" if it is empty.
func MoreText(a phases.Allowance) string {
	var items []string
	add := func(l phases.Limit, value string, given bool) {
		if given {
			items = append(items, string(l)+"="+value)
		}
	}
	add(phases.LimitUSD, strconv.FormatFloat(a.USD, 'f', -1, 64), a.USD > 0)
	add(phases.LimitTokens, strconv.FormatInt(a.Tokens, 10), a.Tokens > 0)
	add(phases.LimitTime, a.Time.String(), a.Time > 0)
	add(phases.LimitAttempts, strconv.Itoa(a.Attempts), a.Attempts > 0)
	return strings.Join(items, ",")
}

// Dollars reads an amount that a run may spend.
func Dollars(text string) (float64, error) {
	usd, err := strconv.ParseFloat(text, 64)
	if err != nil || !(usd > 0 && usd < 1e6) {
		return 0, errors.New("it is an amount of US dollars above 0, such as 5 or 2.50; leave it out to keep the pipeline's")
	}
	return usd, nil
}

// mostAttempts is as many calls as a pipeline can allow.
const mostAttempts = 1_000_000

// wholeNumber reads how many tokens a run may use, or how many calls it may make.
func wholeNumber(text string) (int64, error) {
	n, err := strconv.ParseUint(text, 10, 63)
	if err != nil || n == 0 || n > 1e12 {
		return 0, errors.New("it is a whole number above 0, such as 20; leave it out to keep the pipeline's")
	}
	return int64(n), nil
}

var timeForm = text.Pattern(`^([0-9]{1,4}h)?([0-9]{1,6}m)?([0-9]{1,8}s)?$`)

// workTime reads how long a run may work.
func workTime(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || !timeForm().MatchString(text) || d < time.Second {
		return 0, errors.New("it is a time of at least a second, such as 90m or 2h; leave it out to keep the pipeline's")
	}
	return d, nil
}

// MaxReason is the most that a reason may have when it is typed, in Unicode code
// points.
const MaxReason = 10_000

// CheckReason refuses a reason that is empty or not text, with an exit.UsageError.
func CheckReason(reason string) error {
	switch {
	case reason == "":
		return exit.Usagef("the reason is empty: say what has to change, it is what the next agent is told")
	case !utf8.ValidString(reason) || strings.ContainsRune(reason, 0):
		return exit.Usagef("the reason is not text")
	}
	return nil
}

package command

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/phases"
)

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

var countForm = regexp.MustCompile(`^[1-9][0-9]{0,11}$`)

// mostAttempts is as many calls as a pipeline can allow.
const mostAttempts = 1_000_000

// wholeNumber reads how many tokens a run may use, or how many calls it may make.
func wholeNumber(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || !countForm.MatchString(text) {
		return 0, errors.New("it is a whole number above 0, such as 20; leave it out to keep the pipeline's")
	}
	return n, nil
}

var timeForm = regexp.MustCompile(`^([0-9]{1,4}h)?([0-9]{1,6}m)?([0-9]{1,8}s)?$`)

// workTime reads how long a run may work.
func workTime(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || !timeForm.MatchString(text) || d < time.Second {
		return 0, errors.New("it is a time of at least a second, such as 90m or 2h; leave it out to keep the pipeline's")
	}
	return d, nil
}

package command

import (
	"errors"
	"regexp"
	"strconv"
	"sync"
	"time"
)

// Dollars reads an amount that a run may spend.
func Dollars(text string) (float64, error) {
	usd, err := strconv.ParseFloat(text, 64)
	if err != nil || !(usd > 0) || usd > 1e6 {
		return 0, errors.New("it is an amount of US dollars above 0, such as 5 or 2.50; leave it out to keep the pipeline's")
	}
	return usd, nil
}

var countForm = regexp.MustCompile(`^[1-9][0-9]{0,11}$`)

// MostAttempts is as many calls as a pipeline can allow.
const MostAttempts = 1_000_000

// WholeNumber reads how many tokens a run may use, or how many calls it may make.
func WholeNumber(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || !countForm.MatchString(text) {
		return 0, errors.New("it is a whole number above 0, such as 20; leave it out to keep the pipeline's")
	}
	return n, nil
}

var timeForm = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([0-9]{1,4}h)?([0-9]{1,6}m)?([0-9]{1,8}s)?$`) })

// WorkTime reads how long a run may work.
func WorkTime(text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || !timeForm().MatchString(text) || d < time.Second {
		return 0, errors.New("it is a time of at least a second, such as 90m or 2h; leave it out to keep the pipeline's")
	}
	return d, nil
}

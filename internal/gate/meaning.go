package gate

import (
	"cmp"
	"embed"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/metadata"
)

//go:embed says
var saysFiles embed.FS

// sayings are those of a file, see says/services.yaml.
type sayings struct {
	Answers      []*saying
	Parts, Zones map[string]string
	Resets       []*saying
}

// saying is one line of it.
type saying struct {
	Means               metadata.Class
	Hint, Form, Example string
	Status              []int
	Unit, Is            time.Duration // of the number n, and for the test
	Since1970           bool
	expression          *regexp.Regexp
}

// says are all files by their names.
var says = sync.OnceValue(func() map[string]sayings {
	all := map[string]sayings{}
	for _, name := range []string{"services", "claude", "codex", "gemini"} {
		said, _ := saysFiles.ReadFile("says/" + name + ".yaml") // of one that is not there the test finds no line
		file := text.TableIn(sayings{}, said)
		zones := strings.Join(slices.Sorted(maps.Keys(file.Zones)), "|")
		for _, line := range slices.Concat(file.Answers, file.Resets) {
			for range 2 { // a part may have others
				for part, form := range file.Parts {
					line.Form = strings.ReplaceAll(line.Form, "{"+part+"}", form)
				}
			}
			line.Form = strings.ReplaceAll(line.Form, "{zones}", zones)
			line.expression = regexp.MustCompile("(?i)" + line.Form)
		}
		all[name] = file
	}
	return all
})

// statusOf finds a status of HTTP in words.
var statusOf = text.Pattern(`(?i)(?:\bHTTP|\bstatus(?:_?code)?"?:?|\bError:?|\bcode"?:|\brejected) ?\(?([1-5]\d\d)\b`)

// MeaningOf says what the words of a program mean that its service, or it, has ended a call with, at a time: the class
// of the error, how long it is until the time that is named, if one is, and what a person can do, if that is known.
func MeaningOf(program, said string, now time.Time) (class metadata.Class, wait time.Duration, hint metadata.Reason) {
	a := answerTo(program, said)
	if a == nil {
		if wait = waitIn(said, now); wait > 0 { // whatever it is, somebody says when it is over
			return metadata.RateLimited, wait, ""
		}
		return metadata.Crash, 0, ""
	}
	if a.Means == metadata.RateLimited || a.Means == metadata.Network {
		wait = waitIn(said, now)
	}
	hints := map[string]metadata.Reason{"hint_no_credit": metadata.Because("hint_no_credit"), "hint_model": metadata.Because("hint_model")}
	return a.Means, wait, hints[a.Hint]
}

// answerTo gives the line that words fit; nil: none.
func answerTo(program, said string) *saying {
	status := 0
	if m := statusOf().FindStringSubmatch(said); m != nil {
		status, _ = strconv.Atoi(m[1]) // three digits
	}
	for _, a := range slices.Concat(says()[program].Answers, says()["services"].Answers) {
		if (len(a.Status) == 0 || slices.Contains(a.Status, status)) && a.expression.MatchString(said) {
			return a
		}
	}
	return nil
}

var (
	// period is how often something happens, which is no time.
	period = text.Pattern(`(?i)\bevery \d+ ?\w+`)
	// one is how people write a figure.
	one = text.Pattern(`(?i)\ban? (minute|hour|day|week)\b`)
)

// waitIn gives how long it is until the time that words name; 0 if they name none that is ahead.
func waitIn(said string, now time.Time) time.Duration {
	said = one().ReplaceAllString(period().ReplaceAllString(said, ""), "1 $1")
	for _, form := range says()["services"].Resets {
		if m := form.expression.FindStringSubmatch(said); m != nil {
			part := map[string]string{}
			for i, name := range form.expression.SubexpNames() {
				part[name] = m[i]
			}
			return max(0, form.waitOf(part, now))
		}
	}
	return 0
}

// waitOf reads a time by the parts in which it is named.
func (s *saying) waitOf(part map[string]string, now time.Time) time.Duration {
	number, _ := strconv.ParseFloat(part["n"], 64) // without one it is 0
	switch n := time.Duration(min(number*float64(s.Unit), 1<<62)); {
	case s.Since1970:
		return time.Unix(0, int64(n)).Sub(now)
	case s.Unit > 0:
		return n
	case part["span"] != "":
		return spanOf(part["span"])
	}
	return untilClock(part, now)
}

// spanPart is a figure of a span with the beginning of its unit.
var spanPart = text.Pattern(`(?i)(\d+(?:\.\d+)?) ?(ms|mil|s|m|h|d|w)`)

// spanOf reads a span, such as 3 days 4 hours, 13h19m1s or 02:41:10.
func spanOf(text string) (all time.Duration) {
	if at := strings.Split(text, ":"); len(at) == 3 {
		text = at[0] + "h" + at[1] + "m" + at[2] + "s"
	}
	units := map[string]time.Duration{"ms": time.Millisecond, "mil": time.Millisecond, "s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour, "w": 7 * 24 * time.Hour}
	for _, m := range spanPart().FindAllStringSubmatch(text, -1) {
		n, _ := strconv.ParseFloat(m[1], 64) // it is made of figures
		all += time.Duration(min(n*float64(units[strings.ToLower(m[2])]), 1<<60))
	}
	return all
}

// justOver is for how long a time of day counts as that of today; a day without a year is the nearest one.
const (
	justOver = 10 * time.Minute
	halfYear = 183 * 24 * time.Hour
)

// untilClock gives how long it is until a time of day, on the day that is named or the next that has it.
func untilClock(part map[string]string, now time.Time) time.Duration {
	name := part["zone"]
	for short, place := range says()["services"].Zones {
		if regexp.MustCompile("(?i)^(?:" + short + ")$").MatchString(name) {
			name = place
		}
	}
	zone, err := time.LoadLocation(cmp.Or(name, now.Location().String()))
	if err != nil {
		return 0 // it cannot be told
	}
	if part["offset"] != "" {
		zone = zoneAt(part["offset"])
	}
	here := now.In(zone)
	clock := strings.NewReplacer(" ", "", ".", "", "midnight", "0:00", "noon", "12:00").Replace(strings.ToLower(cmp.Or(part["clock"], "0:00")))
	day := strings.Join([]string{cmp.Or(part["year"], here.Format("2006")), cmp.Or(part["month"], here.Format("1")), cmp.Or(part["day"], here.Format("2")), clock}, " ")
	for _, layout := range []string{"3:04pm", "3pm", "15:04", "15:04:05"} {
		for _, month := range []string{"Jan", "1"} {
			at, err := time.ParseInLocation("2006 "+month+" 2 "+layout, day, zone)
			switch {
			case err != nil:
				continue
			case part["weekday"] != "":
				at = at.AddDate(0, 0, daysUntil(strings.ToLower(part["weekday"]), here, at))
			case part["day"] == "" && now.Sub(at) > justOver:
				at = at.AddDate(0, 0, 1)
			case part["year"] == "" && part["day"] != "" && now.Sub(at) > halfYear:
				at = at.AddDate(1, 0, 0)
			}
			return at.Sub(now)
		}
	}
	return 0
}

// zoneAt is the zone that is so far from UTC, such as +2 or -0330.
func zoneAt(offset string) *time.Location {
	digits := strings.ReplaceAll(strings.TrimLeft(offset, "+-"), ":", "")
	if len(digits) < 3 {
		digits += "00"
	}
	n, _ := strconv.Atoi(digits) // four digits at most
	seconds := (n/100*60 + n%100) * 60
	if strings.HasPrefix(offset, "-") {
		seconds = -seconds
	}
	return time.FixedZone("", seconds)
}

// daysUntil gives in how many days a day of the week is, or the same a week later where its time of day is over.
func daysUntil(day string, here, at time.Time) int {
	switch day {
	case "today":
		return 0
	case "tomorrow":
		return 1
	}
	for days := range 8 {
		if then := at.AddDate(0, 0, days); strings.HasPrefix(strings.ToLower(then.Weekday().String()), day[:3]) && here.Sub(then) <= justOver {
			return days
		}
	}
	return 0 // unreachable: a week has each of them
}

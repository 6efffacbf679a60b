package phases

import (
	"crypto/sha256"
	"encoding/hex"
	"regexp"
	"strings"
	"unicode"

	"github.com/reprise-ci/reprise/metadata"
)

// OneLine gives the first line of a text, cut to 200 characters.
func OneLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	if r := []rune(s); len(r) > 200 {
		return string(r[:200]) + "…"
	}
	return s
}

// TruncateText gives a text on one line, cut to 90 characters, without what a terminal would obey.
func TruncateText(s string) string {
	s = strings.Map(seen, strings.Join(strings.Fields(s), " "))
	if r := []rune(s); len(r) > 90 {
		return string(r[:90]) + "…"
	}
	return s
}

// seen leaves out characters that are not seen but do something, such as turning the writing around.
func seen(r rune) rune {
	if unicode.In(r, unicode.Cc, unicode.Cf) && r != '\u200c' && r != '\u200d' {
		return -1
	}
	return r
}

// CutText cuts a text to so many Unicode code points.
func CutText(text string, most int) string {
	if r := []rune(strings.TrimSpace(text)); len(r) > most {
		return string(r[:most]) + "…"
	}
	return strings.TrimSpace(text)
}

// ValidText takes out of a text what no text has.
func ValidText(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\x00", "")
}

// DigestOf is the SHA-256 of data in hexadecimal, by which works are told apart.
func DigestOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// firstSentence gives the first of some reasons, and of words their first line.
func firstSentence(r metadata.Reason) metadata.Reason {
	all := r.Each()
	if len(all) == 0 {
		return ""
	}
	if all[0].Code() == "" {
		return metadata.Said(OneLine(all[0].Said()))
	}
	return all[0]
}

// complains begins a line in which a program says what went wrong, as pip, cargo, git, apt, Python and reprise write it.
var complains = regexp.MustCompile(`^\s*(?:(?i:(?:error|fatal)\b|E: )|\w+(?:Error|Exception): |reprise: )`)

// codeAlone is a line of pip's that has no sentence.
var codeAlone = regexp.MustCompile(`^\s*error: [a-z]+(?:-[a-z]+)+\s*$`)

// npm and Maven begin every line of a failure like that, the last one, too: the first that says more counts.
var (
	firstSays  = regexp.MustCompile(`^(?:npm (?:error|ERR!)|\[ERROR\])`)
	littleSaid = regexp.MustCompile(`^(?:npm (?:error|ERR!)|\[ERROR\])(?:\s*$| (?:code|errno|syscall|path|dest|command failed|COMPILATION ERROR)\b)`)
)

// complaint gives the line of an output that says why its program failed: the last that begins
// as an error, behind which there may be notes, of npm's and Maven's the first, else the last one.
func complaint(output string) string {
	last := ""
	for line := range strings.Lines(strings.TrimSpace(output)) {
		said := complains.MatchString(last) || firstSays.MatchString(last) && !littleSaid.MatchString(last)
		switch {
		case firstSays.MatchString(line):
			if !firstSays.MatchString(last) || littleSaid.MatchString(last) {
				last = line
			}
		case complains.MatchString(line) && !(said && codeAlone.MatchString(line)) || !said:
			last = line
		}
	}
	return strings.TrimSpace(last)
}

package terminal

import (
	"crypto/rand"
	"net/url"
	"strings"
)

// linkMark is in every link that this process makes, and in none that others have
// written: their texts are printed on the terminal, too.
var linkMark = rand.Text()

const linkEnd = "\x1b]8;;\x1b\\"

func linkStart(address string) string { return linkStartOf() + address + "\x1b\\" }

func linkStartOf() string { return "\x1b]8;id=" + linkMark + ";" }

// linked makes a label lead to an address on a terminal. Only an https address does.
func linked(label, address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" || u.Host == "" || u.User != nil || strings.TrimSpace(label) == "" {
		return label
	}
	to := u.String()
	if len(to) > mostOfLink/2 || strings.ContainsFunc(to, func(c rune) bool { return c <= ' ' || c >= 0x7f }) {
		return label
	}
	return linkStart(to) + label + linkEnd
}

// ownLink gives the length of a link of ours, or of the end of one, at the beginning of
// a text; 0 if there is none. Whole is false if more of the text is needed to tell.
func ownLink(text string) (n int, whole bool) {
	switch {
	case strings.HasPrefix(text, linkEnd):
		return len(linkEnd), true
	case strings.HasPrefix(linkEnd, text), strings.HasPrefix(linkStartOf(), text):
		return 0, false
	case !strings.HasPrefix(text, linkStartOf()):
		return 0, true
	}
	address, _, ended := strings.Cut(text[len(linkStartOf()):], "\x1b\\")
	if !ended {
		return 0, false
	}
	return len(linkStart(address)), true
}

// mostOfLink is longer than any link of ours.
const mostOfLink = 4096

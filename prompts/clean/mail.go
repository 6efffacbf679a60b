package clean

import (
	"regexp"
	"strings"
	"sync"
)

// mailForms are how that begins what a program for mail adds below one's own words: the headers of the mail that is
// answered, that mail as a quotation below who wrote it and when, a signature, or a footer.
var mailForms = sync.OnceValue(func() *regexp.Regexp {
	const when, quoted = `(?:\d[:./-]\d|\d{4})`, `[:：]\s*\n(?:\s*\n)*(?:>.*\n|\s*\n)*>.*\s*\z`
	return regexp.MustCompile(`(?m)^(?:` + strings.Join([]string{
		`(?:[-_]{5,}.*\n)?\*?[\pL ]{2,12}:\*? .*@.*\n(?:\*?[\pL ]{2,12}:\*? .*\n){2}`,
		`.*` + when + `.*\n[^\d\n]*@.*` + quoted,
		`.*(?:@|` + when + `).*` + quoted,
		`-- \r?$`,
		`(?:—\s*\n)?(?:Reply to this email directly|You are receiving this because|Message ID: <)`,
		`(?:Sent from my |Get Outlook for |Von meinem .* gesendet|Envoyé de mon |iPhoneから送信)`,
	}, "|") + `)`)
})

// Mail takes off a text what a program for mail has added below it. A quotation that nobody is said to have written
// stays: it may be what the text is about.
func Mail(text string) (own string, removed []Removal) {
	r := &recorder{}
	for range maxRounds {
		at := mailForms().FindStringIndex(text)
		if at == nil {
			break
		}
		r.add(quotedMail, text[at[0]:])
		text = strings.TrimRight(text[:at[0]], " \t\r\n")
	}
	return text, r.list
}

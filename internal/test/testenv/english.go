package testenv

import (
	"regexp"
)

// English finds three words of English in a row that no machine reads: none of
// a block or a piece of code, an address, a mark of Markdown or a workflow
// command.
func English(text string) string {
	text = regexp.MustCompile("(?s)```.*?```|`[^`\n]*`|<!--.*?-->|https?://[^ )\n]*|</?[a-z]+>|\\[![A-Z]+\\]|::[a-z-]+[^\n]*").ReplaceAllString(text, "、")
	return regexp.MustCompile(`[A-Za-z']+([ ,;:.]+[A-Za-z']+){2,}`).FindString(text)
}

// QuotedWords are what others said, as it was said, and the name of a host.
var QuotedWords = regexp.MustCompile(`「[^」]*」|\bapi\.github\.com`)

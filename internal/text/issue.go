package text

import "strings"

// isNumber reports whether an issue has a number. One of a file has a name.
func isNumber(id string) bool { return id != "" && strings.Trim(id, "0123456789") == "" }

// IssueHead begins a text about an issue: with its number and title, as #7 Say hello, or, if
// it is of a file, with the name of that: hello: Say hello to nobody.
func IssueHead(id, title string) string {
	if isNumber(id) {
		return Join(" ", "#"+id, Flat(title))
	}
	return Join(": ", Flat(id), Flat(title))
}

// IssueName names an issue where little is said of it: by its number, as Issue 7, or by its
// title if it has none.
func IssueName(id, title string) string {
	if isNumber(id) {
		return "Issue " + id
	}
	if title = Flat(title); title != "" {
		return title
	}
	return Flat(id)
}

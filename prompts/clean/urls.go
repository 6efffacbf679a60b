package clean

import "strings"

// cleanURLs disarms URLs that carry their content with them. The content of
// a data: URL goes; a script stays readable, under a scheme that runs nothing.
func cleanURLs(text string, r *recorder) string {
	var b strings.Builder
	done := 0
	for i := 0; i < len(text); i++ {
		colon := 1
		if text[i] == '&' {
			colon = entity(text[i:])
		} else if text[i] != ':' {
			continue
		}
		scheme := schemeBefore(text[done:i])
		if colon == 0 || scheme == "" || !dangerous(scheme, text[:i-len(scheme)], text[i+colon:]) {
			continue
		}
		start := i - len(scheme)
		b.WriteString(text[done:start])
		if strings.EqualFold(scheme, "data") {
			end := urlEnd(text, i)
			r.add(DangerousURL, head([]byte(text[start:min(end, start+4*maxSample)])))
			b.WriteString("removed-data-url")
			done, i = end, end-1
			continue
		}
		r.add(DangerousURL, text[start:i+colon])
		b.WriteString("removed-" + scheme + ":")
		done, i = i+colon, i+colon-1
	}
	if done == 0 {
		return text
	}
	b.WriteString(text[done:])
	return b.String()
}

// entity returns the length of the entity for a colon at the start of text,
// or 0.
func entity(text string) int {
	for _, e := range []string{"&colon;", "&#58;", "&#x3a;", "&#X3a;", "&#x3A;", "&#X3A;"} {
		if strings.HasPrefix(text, e) {
			return len(e)
		}
	}
	return 0
}

// schemeBefore returns the dangerous scheme that text ends with, or "".
func schemeBefore(text string) string {
	for _, scheme := range []string{"javascript", "vbscript", "data"} {
		at := len(text) - len(scheme)
		if at >= 0 && strings.EqualFold(text[at:], scheme) {
			return text[at:]
		}
	}
	return ""
}

// dangerous reports whether a scheme between the two texts begins a URL: one
// that stands where a URL is expected, or one that a media type follows.
// "data: 1" and "javascript: a language" are words.
func dangerous(scheme, before, after string) bool {
	if before != "" && schemeByte(before[len(before)-1]) || after == "" || strings.ContainsRune(" \t\n", rune(after[0])) {
		return false
	}
	if b := strings.TrimRight(before, " \t\n"); strings.HasSuffix(b, "]:") || b != "" && strings.ContainsRune("(<\"'=", rune(b[len(b)-1])) {
		return true
	}
	if !strings.EqualFold(scheme, "data") {
		return false
	}
	media := after[:min(len(after), 32)]
	kind, _, ok := strings.Cut(media, "/")
	return ok && kind != "" && strings.Trim(strings.ToLower(kind), "abcdefghijklmnopqrstuvwxyz") == ""
}

// urlEnd returns where the URL around text[i] ends.
func urlEnd(text string, i int) int {
	if n := strings.IndexAny(text[i:], " \t\n\"'<>()`"); n >= 0 {
		return i + n
	}
	return len(text)
}

// schemeByte reports whether c may be part of the name of a scheme.
func schemeByte(c byte) bool {
	return c == '+' || c == '-' || c == '.' || c == '_' || c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'z'
}

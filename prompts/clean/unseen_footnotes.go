package clean

import (
	"regexp"
	"strings"
	"sync"
)

// mostLabel is how many bytes the label of a footnote may have.
const mostLabel = 999

// footnote gives what a line begins with if it begins the definition of a
// footnote, and its label.
func footnoteUnseen(line string) (head, label string, ok bool) {
	if !strings.HasPrefix(line, "[^") {
		return "", "", false
	}
	label = line[len("[^"):]
	n := strings.IndexAny(label[:min(len(label), mostLabel)], "[] \t\n")
	if n <= 0 || !strings.HasPrefix(label[n:], "]:") {
		return "", "", false
	}
	rest := strings.TrimLeft(label[n+len("]:"):], " \t")
	return line[:len(line)-len(rest)], label[:n], true
}

// footnotes takes out the definitions that nothing outside of code refers to.
// What stands in one and refers to another keeps the other to be seen, and stays.
func footnotes(text string, removed func(string)) string {
	if !strings.Contains(text, "[^") {
		return text
	}
	var lines []string
	for line := range strings.Lines(text) {
		lines = append(lines, line)
	}
	defined, referred := labels(lines)
	var (
		out strings.Builder
		b   blocks
	)
	for i := 0; i < len(lines); i++ {
		skip := b.skip(strings.TrimSuffix(lines[i], "\n"))
		marks, lead := leadOf(lines[i])
		head, label, ok := footnoteUnseen(lines[i][len(lead):])
		if skip || !ok || referred[fold(label)] {
			out.WriteString(lines[i])
			continue
		}
		end := i + footnoteLines(lines[i:], lead)
		note := strings.Join(lines[i:end], "")[len(lead):]
		rest := remaining(note, head, strings.TrimRight(marks, " "), defined)
		if strings.TrimRight(rest, " \t\n") != strings.TrimRight(marks+note, " \t\n") {
			removed(note)
			out.WriteString(rest)
		} else {
			out.WriteString(strings.Join(lines[i:end], ""))
		}
		i = end - 1
	}
	return out.String()
}

// remaining is what remains of a definition that nothing refers to.
func remaining(note, head, marks string, defined map[string]bool) string {
	var kept []string
	seen := map[string]bool{}
	references(note[len(head):], func(label string) {
		if key := fold(label); defined[key] && !seen[key] {
			seen[key] = true
			kept = append(kept, "[^"+label+"]")
		}
	})
	switch {
	case len(kept) > 0 && marks != "":
		return marks + " " + strings.TrimRight(head, " \t") + " " + strings.Join(kept, " ") + "\n"
	case len(kept) > 0:
		return strings.TrimRight(head, " \t") + " " + strings.Join(kept, " ") + "\n"
	case marks != "":
		return marks + "\n"
	}
	return ""
}

// unled is a line without its lead.
func unled(line string) string {
	_, lead := leadOf(line)
	return line[len(lead):]
}

// fold makes labels equal that differ in case only.
func fold(label string) string { return strings.ToLower(strings.ToUpper(label)) }

// labels gives the labels that are defined, and those that something refers to.
func labels(lines []string) (defined, referred map[string]bool) {
	defined, referred = map[string]bool{}, map[string]bool{}
	var b blocks
	for _, line := range lines {
		line = strings.TrimSuffix(line, "\n")
		if skip := b.skip(line); skip && b.code {
			continue
		} else if !skip {
			line = unled(line)
			if head, label, ok := footnoteUnseen(line); ok {
				defined[fold(label)] = true
				line = line[len(head):]
			}
		}
		references(line, func(label string) { referred[fold(label)] = true })
	}
	return defined, referred
}

// references finds the references to footnotes in a text, outside of code.
func references(text string, found func(label string)) {
	for i := 0; i < len(text); {
		switch {
		case text[i] == '\\':
			i += 2
		case text[i] == '`':
			i += inlineCode(text[i:])
		case strings.HasPrefix(text[i:], "[^"):
			i += len("[^")
			if n := strings.IndexAny(text[i:], "[]\n"); n > 0 && text[i+n] == ']' {
				found(text[i : i+n])
			}
		default:
			i++
		}
	}
}

// plain matches a line that begins nothing but text.
var unseenPlain = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[\pL"'(]`) })

// footnoteLines counts the lines of the definition that lines begin with.
func footnoteLines(lines []string, lead string) int {
	first := unled(lines[0])
	head, _, _ := footnoteUnseen(first)
	paragraph := unseenPlain().MatchString(first[len(head):])
	only := paragraph // nothing but paragraphs so far
	end := 1
	for i := 1; i < len(lines); i++ {
		line := strings.TrimSuffix(lines[i], "\n")
		in := Follows(line, lead)
		switch {
		case strings.Trim(line, " \t") == "" && !strings.Contains(lead, ">"), in && strings.Trim(line[len(lead):], " \t") == "":
			paragraph = false
			continue
		case in && strings.HasPrefix(line[len(lead):], "    "):
			paragraph = unseenPlain().MatchString(line[len(lead)+4:])
			only = only && paragraph
		case paragraph && only && unseenPlain().MatchString(line):
		default:
			return end
		}
		end = i + 1
	}
	return end
}

package clean

import (
	"strings"
)

// cleanFences removes what GitHub does not show of blocks between fences: words
// behind the language, and comments in diagrams and formulas. A line that is no
// fence does not become one, and one that is stays one.
func cleanFences(text string, r *recorder) string {
	if !strings.Contains(text, "```") && !strings.Contains(text, "~~~") {
		return text
	}
	lines := strings.Split(text, "\n")
	drawn, first := "", 0 // the language of a block and its first line
	for i, line := range lines {
		rest := inner(line)
		if fence := FenceOf(rest); fence != "" {
			cleanDrawing(drawn, lines[first:i], r)
			info := strings.TrimSpace(rest[len(fence):])
			language, more, _ := strings.Cut(info, " ")
			drawn, first = strings.ToLower(language), i+1
			if strings.Contains(info, "<") || long(language) {
				language, more = "removed", info
			}
			if more = strings.TrimSpace(more); more != "" { // nobody sees it
				r.hidden(more)
				lines[i] = line[:len(line)-len(rest)] + fence + language
			}
		}
	}
	cleanDrawing(drawn, lines[first:], r)
	return strings.Join(lines, "\n")
}

// cleanDrawing removes what is not seen of the lines of a diagram or a formula.
func cleanDrawing(language string, lines []string, r *recorder) {
	switch language {
	case "math":
		copy(lines, Formula(lines, r.hidden))
	case "mermaid":
		for i, line := range lines {
			if text, is := strings.CutPrefix(strings.TrimLeft(line, " \t>"), "%%"); is && strings.TrimSpace(text) != "" {
				r.hidden(text)
				lines[i] = strings.TrimSuffix(line, text)
			}
		}
	}
}

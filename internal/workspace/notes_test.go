package workspace

import (
	"strings"
	"testing"
)

// Agents are told a text, and no more of it than the beginning.
func TestNotesForAgents(t *testing.T) {
	for name, tt := range map[string]struct{ data, told, wrong string }{
		"a text": {"Tests need no network.\n", "Tests need no network.\n", ""},
		"none":   {"", "", ""},
		"Latin":  {"caf\xe9", "", "is no text in UTF-8"},
		"UTF-16": {"\xff\xfea\x00", "", "is no text in UTF-8"},
		"zero":   {"a\x00b", "", "is no text in UTF-8"},
		"long":   {"x" + strings.Repeat("ü", 5<<20), "x" + strings.Repeat("ü", mostNotes/2-1) + "\n…", "is longer than 8 kB"}, // the cut is within a letter
	} {
		if told, wrong := notesForAgents([]byte(tt.data)); told != tt.told || !strings.HasPrefix(wrong, tt.wrong) || (wrong == "") != (tt.wrong == "") {
			t.Errorf("%s: agents are told %.20q of %d bytes, %q", name, told, len(told), wrong)
		}
	}
}

package phases

import (
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/metadata"
)

func TestApply(t *testing.T) {
	for _, tt := range []struct{ old, add, remove, want string }{
		{"", "- A", "", "- A\n"},
		{"# Notes\n\n- A\n", "- B", "", "# Notes\n\n- A\n- B\n"},
		{"# Notes\r\n\r\nText\r\n", "- B", "", "# Notes\r\n\r\nText\n\n- B\n"},
		{"- A\n  - B\n- C\n", "", "- B", "- A\n- C\n"},
		{"- A\n\n- C\n", "", "", "- A\n\n- C\n"},
		{"- A\n- B\n- C\n", "- A\n- B", "- gone", "- A\n- B\n- C\n"}, // others have done so meanwhile
		{"- A\n- C\n", "- D", "- A", "- C\n- D\n"},
	} {
		c := metadata.NotesChange{Add: tt.add}
		if tt.remove != "" {
			c.Remove = []string{tt.remove}
		}
		got := ApplyNotes(tt.old, c)
		if got != tt.want {
			t.Errorf("%q with %+v is %q, want %q", tt.old, c, got, tt.want)
		}
		if again := ApplyNotes(got, c); again != got {
			t.Errorf("%q with %+v changes %q again: %q", tt.old, c, got, again)
		}
	}
}

// What an agent asks for is bounded, and loses no pull request that is open.
func TestAsk(t *testing.T) {
	lines := []string{"two\nlines", strings.Repeat("x", mostLine+1), " ", "kept \x00"}
	c := &NotesChange{Add: strings.Repeat("ü", 2*mostAdded), Remove: append(lines, strings.Split(strings.Repeat("y ", 50), " ")...), Why: "w"}
	got := c.Ask(nil, "reflect")
	if n := len([]rune(got.Add)); n > mostAdded+1 || len(got.Remove) > mostRemoved || got.Remove[0] != "kept " && got.Remove[0] != "kept" {
		t.Errorf("kept are %d characters, %q", n, got.Remove)
	}
	var nothing *NotesChange
	if nothing.Ask(got, "reflect") != nil {
		t.Error("what was not proposed yet is kept")
	}
	got.Number, got.Done = 12, "d"
	if left := nothing.Ask(got, "reflect"); left == nil || left.Number != 12 || left.Done != "d" || !left.Empty() {
		t.Errorf("of one that was proposed %+v is left", left)
	}
}

func TestIssueOf(t *testing.T) {
	for branch, want := range map[string]string{"reprise/notes-7-0123abcd": "7", "reprise/notes-7": "", "reprise/notes-x-0123abcd": "", "a/reprise/notes-7-0123abcd": ""} {
		if got := IssueOfNotes(branch); got != want {
			t.Errorf("%s is of %q, want %q", branch, got, want)
		}
	}
}

// Agents are told a text, and no more of it than the beginning.
func TestTold(t *testing.T) {
	for name, tt := range map[string]struct{ data, told, wrong string }{
		"a text": {"Tests need no network.\n", "Tests need no network.\n", ""},
		"none":   {"", "", ""},
		"Latin":  {"caf\xe9", "", "is no text in UTF-8"},
		"UTF-16": {"\xff\xfea\x00", "", "is no text in UTF-8"},
		"zero":   {"a\x00b", "", "is no text in UTF-8"},
		"long":   {"x" + strings.Repeat("ü", 5<<20), "x" + strings.Repeat("ü", MostNotes/2-1) + "\n…", "is longer than 8 kB"}, // the cut is within a letter
	} {
		if told, wrong := NotesForAgents([]byte(tt.data)); told != tt.told || !strings.HasPrefix(wrong, tt.wrong) || (wrong == "") != (tt.wrong == "") {
			t.Errorf("%s: agents are told %.20q of %d bytes, %q", name, told, len(told), wrong)
		}
	}
}

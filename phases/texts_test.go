package phases

import "testing"

// What stands in files of a run, such as titles of tasks, does nothing in a terminal.
func TestTruncate(t *testing.T) {
	for in, want := range map[string]string{
		"\x1b[31mred\x1b]8;;http://evil\a\n# two": "[31mred]8;;http://evil # two",
		"a\u202egnp\u2066\u200b\ufeffb":           "agnpb",
		"👩\u200d💻 می\u200cخواهم":                  "👩\u200d💻 می\u200cخواهم",
	} {
		if got := TruncateText(in); got != want {
			t.Errorf("of %q it is %q, want %q", in, got, want)
		}
	}
}

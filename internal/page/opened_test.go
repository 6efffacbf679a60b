package page

import (
	"strings"
	"testing"
)

// A block of code does not wrap: what stands far to the right, behind blanks, is shown as
// such, and indentation stays as it is.
func TestBlanksAreShown(t *testing.T) {
	for line, want := range map[string]string{
		"+" + strings.Repeat(" ", 60) + "run: x":                                       "+" + strings.Repeat(" ", 60) + "run: x",
		" " + strings.Repeat(" ", 200) + "run: x":                                      " <200 blanks>run: x",
		"+run: make -" + strings.Repeat(" ", 200) + ";evil":                            "+run: make -<200 blanks>;evil",
		"-a:" + strings.Repeat("\u3000", 30) + "é" + strings.Repeat("\t ", 30) + "b\r": "-a:<30 blanks>é<60 blanks>b\r",
		"+a:" + strings.Repeat(" ", 8) + "# why":                                       "+a:" + strings.Repeat(" ", 8) + "# why",
		"+a   " + strings.Repeat(" ", 60):                                              "+a   " + strings.Repeat(" ", 60),
		"":                                                                             "",
	} {
		if got := blanksShown(line + "\n"); got != want+"\n" {
			t.Errorf("%q is shown as %q, want %q", line, got, want)
		}
	}
}

// Nothing of a line stands so far to the right that nobody sees it, and all of it stands there.
func TestFolded(t *testing.T) {
	long := "+run: make " + strings.Repeat("é", 400) + ";evil"
	diff := "@@ -1 +1 @@\n-run: make\n" + long + "\n" + strings.Repeat("x", longest) + "\n\\ No newline at end of file\n"
	got := folded(diff)
	for line := range strings.Lines(got) {
		if n := len([]rune(line)); n > longest+2 { // with the sign, and the end of the line
			t.Errorf("a line has %d characters: %s", n, line)
		}
	}
	if strings.ReplaceAll(got, "\n↪", "") != diff || strings.Count(got, "↪") != 2 || !strings.Contains(got, ";evil\n") {
		t.Errorf("shown is\n%s", got)
	}
}

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

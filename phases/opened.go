package phases

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reprise-ci/reprise/metadata"
)

// The most that one step may ask for: bytes of a file, and files.
const (
	MostOpenedBytes = 64 << 10
	mostOpenedFiles = 10
)

// OpenedChange is that a file is to have a text. Before is what it has; nil: there is none.
func OpenedChange(path string, before []byte, text string) metadata.Opened {
	o := metadata.Opened{Path: path, Text: text, Diff: diff(path, before, text)}
	if before != nil {
		o.Before = DigestOf(before)
	}
	return o
}

// openedDigest stands for all that is asked for; "" for nothing.
func openedDigest(all []metadata.Opened) string {
	if len(all) == 0 {
		return ""
	}
	var b strings.Builder
	for _, o := range all {
		fmt.Fprintf(&b, "%q %q %q\n", o.Path, o.Before, o.Text)
	}
	return DigestOf([]byte(b.String()))
}

// OpenedPaths names what is asked for.
func OpenedPaths(all []metadata.Opened) (paths []string) {
	for _, o := range all {
		paths = append(paths, o.Path)
	}
	return paths
}

// OpenedDiff is how all that is asked for differs from what is there.
func OpenedDiff(all []metadata.Opened) string {
	var b strings.Builder
	for _, o := range all {
		b.WriteString(o.Diff)
	}
	return b.String()
}

// around is how many lines that stay are shown on each side of those that do not.
const around = 3

// diff is how a text differs from what is there, in git's form, but never as a rename: whoever approves it has to see
// all of it. It is found by the lines at both ends that are the same; what lies between stands whole.
func diff(path string, before []byte, text string) string {
	was, is := lines(string(before)), lines(text)
	head := 0
	for head < min(len(was), len(is)) && was[head] == is[head] {
		head++
	}
	tail := 0
	for tail < min(len(was), len(is))-head && was[len(was)-1-tail] == is[len(is)-1-tail] {
		tail++
	}
	from, mode := "a/"+path, ""
	if before == nil {
		from, mode = "/dev/null", "new file mode 100644\n"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "diff --git a/%s b/%s\n%s--- %s\n+++ b/%s\n", path, path, mode, from, path)
	first, kept := max(0, head-around), min(around, tail)
	old, young := was[first:len(was)-tail+kept], is[first:len(is)-tail+kept]
	fmt.Fprintf(&b, "@@ -%s +%s @@\n", place(first, len(old)), place(first, len(young)))
	for _, part := range []struct {
		sign  string
		lines []string
	}{{" ", is[first:head]}, {"-", was[head : len(was)-tail]}, {"+", is[head : len(is)-tail]}, {" ", is[len(is)-tail : len(is)-tail+kept]}} {
		for _, line := range part.lines {
			b.WriteString(part.sign + strings.TrimSuffix(line, "\n") + "\n")
			if !strings.HasSuffix(line, "\n") {
				b.WriteString("\\ No newline at end of file\n")
			}
		}
	}
	return b.String()
}

// lines divides a text, each line with its end.
func lines(text string) []string { return slices.Collect(strings.Lines(text)) }

// place is where a part of a file begins, and how many lines it has, as git writes it.
func place(first, n int) string {
	if n == 0 {
		return fmt.Sprintf("%d,0", first)
	}
	return fmt.Sprintf("%d,%d", first+1, n)
}

package phases

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
)

// What git makes of the diff is the text that is asked for.
func TestDiffIsThatOfGit(t *testing.T) {
	many := strings.Repeat("line\n", 20)
	for name, tt := range map[string]struct{ before, after string }{
		"new":              {"", "one\ntwo\n"},
		"in the middle":    {many + "old\n" + many, many + "new\nmore\n" + many},
		"at the beginning": {"old\n" + many, "new\n" + many},
		"at the end":       {many + "old\n", many + "new\n"},
		"added":            {many, many + "new\n"},
		"taken away":       {many + "old\n", many},
		"all of it":        {"old\n", "new\n"},
		"no end of line":   {many + "old", many + "new"},
		"an end of line":   {"old", "old\n"},
		"emptied":          {"old\n", ""},
		"carriage returns": {"a\r\nb\r\n", "a\r\nc\r\n"},
		"two places":       {"a\n" + many + "b\n", "c\n" + many + "d\n"},
	} {
		dir := t.TempDir()
		var before []byte
		if tt.before != "" {
			before = []byte(tt.before)
			testenv.Must(t, os.WriteFile(filepath.Join(dir, "f.yml"), before, 0o600))
		}
		o := OpenedChange("f.yml", before, tt.after)
		c := exec.Command("git", "apply", "--whitespace=nowarn", "-")
		c.Dir, c.Stdin = dir, strings.NewReader(o.Diff)
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%s: %v: %s\n%s", name, err, out, o.Diff)
			continue
		}
		if got, err := os.ReadFile(filepath.Join(dir, "f.yml")); err != nil || string(got) != tt.after {
			t.Errorf("%s: it makes %q of %q, want %q (%v)\n%s", name, got, tt.before, tt.after, err, o.Diff)
		}
		if strings.Count(o.Diff, "\n") > 60 {
			t.Errorf("%s: it shows what stays:\n%s", name, o.Diff)
		}
	}
}

// What is asked for is one thing only if path, text and what was there are the same.
func TestDigest(t *testing.T) {
	seen := map[string]bool{openedDigest(nil): true}
	for _, o := range [][]struct{ path, before, text string }{
		{{"a", "x", "y"}}, {{"b", "x", "y"}}, {{"a", "z", "y"}}, {{"a", "x", "z"}}, {{"a", "x", "y"}, {"b", "x", "y"}},
	} {
		var all []metadata.Opened
		for _, c := range o {
			all = append(all, OpenedChange(c.path, []byte(c.before), c.text))
		}
		if seen[openedDigest(all)] {
			t.Errorf("%+v has the digest of another", o)
		}
		seen[openedDigest(all)] = true
	}
}

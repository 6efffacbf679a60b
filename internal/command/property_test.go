package command

import (
	"math"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/prompts/clean"
)

// checkSlash holds what is true of every text.
func checkSlash(t *testing.T, p Parsed) {
	t.Helper()
	for _, language := range []string{"en", "ja"} {
		checkSlashReply(t, p.Reply(language))
	}
	switch p.Outcome {
	case Ignored:
		if !cmp.Equal(p, Parsed{}) {
			t.Fatalf("not for us, but %+v", p)
		}
		return
	case Mistaken:
		if len(p.Faults) == 0 || p.Reply("en") == "" || p.Reply("ja") == "" {
			t.Fatalf("a mistake without words: %+v", p)
		}
		return
	}
	c := p.Command
	args := slices.Concat([]string{c.Name, c.Topic, c.Phase, string(c.Step), c.Question, c.Commit, c.Pipeline, c.Part.From, c.Part.Until, c.Part.Only, c.Agent}, c.Part.Skip)
	for _, a := range args {
		if !slashSafe.MatchString(a) {
			t.Fatalf("unsafe argument %q in %+v", a, c)
		}
	}
	if m := c.More; m.USD < 0 || m.USD >= 1e6 || m.Tokens < 0 || m.Time < 0 || m.Attempts < 0 || len([]rune(c.Text)) > MaxReason {
		t.Fatalf("out of bounds: %+v", c)
	}
	if strings.ContainsFunc(c.Text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' }) {
		t.Fatalf("hidden in the text: %q", c.Text)
	}
	for _, bare := range []bool{false, true} {
		if diff := cmp.Diff(Parsed{Outcome: Understood, Command: c}, Parse(c.String(), bare)); diff != "" {
			t.Fatalf("read again from %q (-want +got):\n%s", c, diff)
		}
	}
}

var slashSafe = regexp.MustCompile(`^([a-z0-9][a-z0-9_-]*([/.][a-z0-9_-]+)*)?$`)

// checkSlashReply holds a reply against what a comment of ours may not have.
func checkSlashReply(t *testing.T, reply string) {
	t.Helper()
	if p := Parse(reply, false); p.Outcome != Ignored {
		t.Fatalf("the reply is a command: %+v\n%s", p, reply)
	}
	fenced := false
	for line := range strings.Lines(reply) {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
			continue
		}
		if p := Parse(line, false); !fenced && p.Outcome != Ignored {
			t.Fatalf("a line of the reply is a command: %q", line)
		}
		plain := regexp.MustCompile("`[^`\n]*`").ReplaceAllString(line, "")
		if !fenced && strings.ContainsAny(plain, "`@<>#") {
			t.Fatalf("what was typed got out of its code: %q", line)
		}
	}
	if clean.LeadingSlash.MatchString(reply) {
		t.Fatalf("a line begins with a slash:\n%s", reply)
	}
	if fenced {
		t.Fatalf("a fence is open:\n%s", reply)
	}
}

// slashPieces are beginnings and endings that tests put together.
var slashPieces = []string{
	"", "> ", "```\n", "~~~\n", "    ", "\t", "<!--", "- ", "x ", "\n\n", "`", "``", "\u200b", "\r\n", "/reprise ", "é", "@x ", "\x00", "\x1b[2J",
}

func FuzzSlash(f *testing.F) {
	for _, s := range Table() {
		for _, h := range slashPieces {
			f.Add(h+"/"+s.Name+h+" design "+h+" --dry-run "+h+"because\n"+h+"/run", false)
			f.Add("/"+s.Name+" --more usd=5 "+h, true)
		}
		f.Add("/"+s.Name+" design\n<a title=\"x\">&lt;!-- <!<!-- -->-- x -->", true)
	}
	f.Fuzz(func(t *testing.T, text string, bare bool) {
		got := Parse(text, bare)
		if bare && got.Outcome == Ignored {
			t.Fatal("the input of a workflow is always for us")
		}
		checkSlash(t, got)
	})
}

// TestSlashIsLinear compares what eight times the text takes with what the
// text takes. Linear work gives 8, quadratic 64.
func TestSlashIsLinear(t *testing.T) {
	for _, piece := range []string{
		"/run ", "`", "\n", " ", "/", "--phases ", "<!--", "-->", "\r", "\u200d", "—", "=", "a,", "@x ", "語", "![](", "<b ", "\"", "--restore ",
	} {
		for _, before := range []string{"", "/rollback design ", "/rollback design\n", "/run --phases -"} {
			small, large := math.Inf(1), math.Inf(1)
			for range 10 { // a busy machine may spoil some
				small, large = min(small, slashWork(before, piece, 8<<10)), min(large, slashWork(before, piece, 64<<10))
				if large < 24*small {
					break
				}
			}
			if large >= 24*small {
				t.Errorf("%q after %q: 64 kB take %.0f times as long as 8 kB", piece, before, large/small)
			}
		}
	}
}

// slashWork is the time of the processor that a text of n bytes took.
func slashWork(before, piece string, n int) float64 {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	text := before + strings.Repeat(piece, n/len(piece))
	began := testenv.ThreadTime()
	_ = Parse(text, false).Reply("en")
	return max(float64(testenv.ThreadTime()-began), float64(20*time.Microsecond)) // less is noise
}

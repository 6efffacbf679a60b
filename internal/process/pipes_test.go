package process

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

// What is said to a program while it works, it reads as it comes, and it ends where nothing more is said. One that reads
// nothing keeps nobody waiting.
func TestMoreInput(t *testing.T) {
	more := make(chan string, 3)
	p := program("/bin/sh", "-c", `read -r one; echo "$one"; read -r two; echo "$two"; cat >/dev/null; echo over`)
	p.Stdin, p.More = "one\n", more
	var got []string
	p.Line = func(line []byte) Reaction {
		switch got = append(got, string(line)); len(got) {
		case 1:
			more <- "two\n"
		case 2:
			close(more)
		}
		return GoOn
	}
	if e, err := p.Run(t.Context()); err != nil || e.Code() != 0 || strings.Join(got, " ") != "one two over" {
		t.Errorf("%q, %+v, %v", got, e, err)
	}
	deaf, full := program("/bin/sleep", "0.1"), make(chan string, 1)
	full <- strings.Repeat("x", 1<<20)
	close(full)
	deaf.More = full
	if e, err := deaf.Run(t.Context()); err != nil || e.Code() != 0 {
		t.Errorf("%+v, %v", e, err)
	}
}

// expired gives pipes that have expired while theirs are still held open, after
// a text was written to standard output.
func expired(t *testing.T, text string) *pipes {
	t.Helper()
	p, err := connect(&exec.Cmd{}, true, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.closeTheirs(); p.close() })
	if _, err := p.theirs[1].WriteString(text); err != nil {
		t.Fatal(err)
	}
	p.expire()
	return p
}

// However late we come to read it: what a program said before it ended is read.
func TestWhatIsInThePipesIsRead(t *testing.T) {
	text := strings.Repeat("a line of it\n", 4000) + "the last\n"
	p := expired(t, text)
	var got strings.Builder
	EachLine(&restOfOutput{Pipe: p.stdout}, func(line []byte) { fmt.Fprintf(&got, "%s\n", line) })
	if got.String() != text {
		t.Errorf("%d bytes of %d were read", got.Len(), len(text))
	}
	report{Signal: 9, Left: 2}.tell(p.theirs[3])
	if r := p.readReport(); r.Signal != 9 || r.Left != 2 {
		t.Errorf("the report reads %+v", r)
	}
}

// Somebody else who writes without end is not waited for.
func TestPipeThatNeverEnds(t *testing.T) {
	p := expired(t, "one\n")
	go func() {
		for {
			if _, err := p.theirs[1].WriteString(strings.Repeat("and on\n", 1<<10)); err != nil {
				return // it is closed
			}
		}
	}()
	lines := 0
	EachLine(&restOfOutput{Pipe: p.stdout}, func([]byte) { lines++ })
	if lines == 0 {
		t.Error("nothing was read")
	}
}

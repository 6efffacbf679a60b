package shelf

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// The newest trailer counts, whether it is found in the commits themselves or by git.
func TestFind(t *testing.T) {
	t.Parallel()
	id := func(c string) string { return strings.Repeat(c, 40) }
	trailer := func(c string) string { return Trailer + ": " + id(c) + "\n" }
	for _, tt := range []struct {
		name     string
		messages []string // of the tip and those before it
		has      string   // the commits with the folder
		kept     string
		want     string
		logs     int // how often git is asked for all messages
	}{
		{"the tip has it", []string{"m\n"}, "0", "", "0", 0},
		{"the tip names it", []string{"m\n\n" + trailer("a")}, "a", "", "a", 0},
		{"with other trailers", []string{"m\n\nbody\n\nReprise-Issue: 7\n" + trailer("a") + "Co-authored-by: X <x@y>\n"}, "a", "", "a", 0},
		{"one before it", []string{"m\n", "m\n\nbody\n", "m\n\n" + trailer("a")}, "a", "", "a", 0},
		{"the newest counts", []string{"m\n", "m\n\n" + trailer("b"), "m\n\n" + trailer("a")}, "ab", "", "b", 0},
		{"the newest is not here", []string{"m\n\n" + trailer("b"), "m\n\n" + trailer("a")}, "a", "", "a", 1},
		{"what is kept leads on", []string{"m\n\n" + trailer("a")}, "ak", "k", "k", 0},
		{"none of them is here", []string{"m\n\n" + trailer("a")}, "k", "k", "k", 1},
		{"no trailer", []string{"m\n", "m\n"}, "k", "k", "", 1},
		{"far away", append(slices.Repeat([]string{"m\n"}, depthNear+5), "m\n\n"+trailer("a")), "a", "", "a", 1},
		{"a title is none", []string{trailer("a"), "m\n\n" + trailer("b")}, "ab", "", "b", 1},
		{"a text is none", []string{"m\n\n" + trailer("a") + "and more\n\nX: y\n", "m\n\n" + trailer("b")}, "ab", "", "b", 1},
		{"among words git decides", []string{"m\n\nsome words\n" + trailer("a"), "m\n\n" + trailer("b")}, "ab", "", "b", 1},
	} {
		logs := 0
		number := func(commit string) int {
			n := 0
			for i := range tt.messages {
				if commit == fmt.Sprintf("%040d", i) {
					n = i
				}
			}
			return n
		}
		s := Shelves{
			Has: func(_ context.Context, commit string) (bool, error) {
				return strings.Contains(tt.has, commit[:1]) && (commit[:1] != "0" || commit == fmt.Sprintf("%040d", 0)), nil
			},
			Object: func(_ context.Context, commit string) (string, error) {
				n := number(commit)
				head := "tree x\nparent " + fmt.Sprintf("%040d", n+1) + "\nparent " + id("f") + "\nauthor a\ncommitter b"
				if n+1 == len(tt.messages) {
					head = "tree x\nauthor a\ncommitter b"
				}
				return head + "\n\n" + tt.messages[n], nil
			},
			Messages: func(context.Context, string) (string, error) {
				logs++
				var all []string
				for _, m := range tt.messages {
					if at := strings.LastIndex(m, "\n\n"); at > 0 && trailers.MatchString(m[at+2:]) {
						all = append(all, m[at+2:])
					}
				}
				return strings.Join(all, ""), nil
			},
			Contains: func(context.Context, string, string) (bool, error) { return true, nil },
		}
		if tt.kept != "" {
			s.Kept = func(context.Context) (string, error) { return id(tt.kept), nil }
		}
		got, err := s.Find(t.Context(), fmt.Sprintf("%040d", 0))
		if want := strings.Repeat(tt.want, 40); err != nil || got != want || logs != tt.logs {
			t.Errorf("%s: got %q, %v, want %q; git was asked %d times", tt.name, got, err, want, logs)
		}
	}
}

package shelf

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
)

// The newest trailer that may be believed counts, whether it is found in the commits
// themselves or by git.
func TestFind(t *testing.T) {
	t.Parallel()
	const kept, other = 98, 99 // commits that are not on the branch
	trailer := func(n int) string { return Trailer + ": " + id(n) + "\n" }
	for _, tt := range []struct {
		name     string
		messages []string // of the tip and those before it, which are the commits 1, 2 and so on
		has      []int    // the commits with the folder
		kept     int      // what is kept by name
		older    []int    // what that has in its history
		want     int
		logs     int // how often git is asked for all messages
	}{
		{"the tip has it", []string{"m\n"}, []int{1}, 0, nil, 1, 0},
		{"the tip names it", []string{"m\n\n" + trailer(2)}, []int{2}, 0, nil, 2, 0},
		{"with other trailers", []string{"m\n\nbody\n\nReprise-Issue: 7\n" + trailer(2) + "Co-authored-by: X <x@y>\n"}, []int{2}, 0, nil, 2, 0},
		{"one before it", []string{"m\n", "m\n\nbody\n", "m\n\n" + trailer(4)}, []int{4}, 0, nil, 4, 0},
		{"the newest counts", []string{"m\n", "m\n\n" + trailer(3), "m\n\n" + trailer(4)}, []int{3, 4}, 0, nil, 3, 0},
		{"the newest is not here", []string{"m\n\n" + trailer(other), "m\n\n" + trailer(3)}, []int{3}, 0, nil, 3, 1},
		{"what is kept leads on", []string{"m\n\n" + trailer(2)}, []int{2, kept}, kept, []int{2}, kept, 0},
		{"what is kept is of an earlier run", []string{"m\n\n" + trailer(2)}, []int{2, kept}, kept, nil, 2, 0},
		{"none of them is here", []string{"m\n\n" + trailer(other)}, []int{kept}, kept, nil, kept, 1},
		{"no trailer", []string{"m\n", "m\n"}, []int{kept}, kept, nil, 0, 1},
		{"far away", append(slices.Repeat([]string{"m\n"}, depthNear+5), "m\n\n"+trailer(depthNear+7)), []int{depthNear + 7}, 0, nil, depthNear + 7, 1},
		{"a title is none", []string{trailer(2), "m\n\n" + trailer(3)}, []int{2, 3}, 0, nil, 3, 1},
		{"a text is none", []string{"m\n\n" + trailer(2) + "and more\n\nX: y\n", "m\n\n" + trailer(3)}, []int{2, 3}, 0, nil, 3, 1},
		{"among words git decides", []string{"m\n\nsome words\n" + trailer(2), "m\n\n" + trailer(3)}, []int{2, 3}, 0, nil, 3, 1},
		{"it names a commit of others", []string{"m\n\n" + trailer(other)}, []int{other}, 0, nil, 0, 1},
		{"it names one, and the run's is before it", []string{"m\n\n" + trailer(other), "m\n\n" + trailer(3)}, []int{other, 3}, 0, nil, 3, 1},
		{"it names one beside the right one", []string{"m\n\n" + trailer(other) + trailer(2)}, []int{other, 2}, 0, nil, 2, 0},
		{"it names one, and what is kept is the run's", []string{"m\n\n" + trailer(other), "m\n\n" + trailer(3)}, []int{other, 3, kept}, kept, []int{3}, kept, 1},
		{"it names an older record of the run", []string{"m\n\n" + trailer(other), "m\n\n" + trailer(3)}, []int{other, 3, kept}, kept, []int{3, other}, kept, 0},
	} {
		logs := 0
		s := Shelves{
			Has: func(_ context.Context, commit string) (bool, error) {
				return slices.ContainsFunc(tt.has, func(n int) bool { return id(n) == commit }), nil
			},
			Object: func(_ context.Context, commit string) (string, error) {
				for i, message := range tt.messages {
					if commit == id(i+1) {
						return "tree x\n" + "parent " + id(i+2) + "\n" + "author a\ncommitter b\n\n" + message, nil
					}
				}
				return "", nil
			},
			Messages: func(context.Context, string) (all []Message, err error) {
				logs++
				for i, m := range tt.messages {
					said := Message{Parent: id(i + 2)}
					if at := strings.LastIndex(m, "\n\n"); at > 0 && trailers().MatchString(m[at+2:]) {
						said.Trailers = m[at+2:]
					}
					all = append(all, said)
				}
				return all, nil
			},
			Contains: func(_ context.Context, _, older string) (bool, error) {
				return slices.ContainsFunc(tt.older, func(n int) bool { return id(n) == older }), nil
			},
		}
		if tt.kept != 0 {
			s.Kept = func(context.Context) (string, error) { return id(tt.kept), nil }
		}
		want := ""
		if tt.want != 0 {
			want = id(tt.want)
		}
		got, err := s.Find(t.Context(), id(1))
		if err != nil || got != want || logs != tt.logs {
			t.Errorf("%s: got %q, %v, want %q; git was asked %d times", tt.name, got, err, want, logs)
		}
	}
}

// id is the name of a commit.
func id(n int) string { return fmt.Sprintf("%040d", n) }

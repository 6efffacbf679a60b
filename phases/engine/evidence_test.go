package engine

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/phases"
	"github.com/reprise-ci/reprise/pipelines"
)

// The sentence says why, and what the program complained stands beside it.
func TestLastWords(t *testing.T) {
	ae := &AgentError{Agent: "own", Err: errors.New("it ended: second line"), Hint: "look", Stderr: "boom\nsecond line\n"}
	if got, want := english(WhyBroke(ae, phases.ValidText)), "own: it ended: second line; look"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	long := strings.Repeat("語", 900)
	for in, want := range map[string]string{
		"  boom\nsecond line\n": "boom\nsecond line",
		long + "\n" + long:      long,
		long + long:             "…" + strings.Repeat("語", 1000),
		"a\x00b\xff":            "ab\uFFFD",
	} {
		if got := phases.LastWords(in); got != want {
			t.Errorf("%.20q becomes %.20q, want %.20q", in, got, want)
		}
	}
}

// baseTree notes what is compared with what.
type baseTree struct {
	*folderTree
	from string
}

func (b *baseTree) WithBase(_ context.Context, commit, from, to string) (string, error) {
	return commit + " with " + from + ".." + to, nil
}

func (b *baseTree) Diff(_ context.Context, from string) (string, metadata.Diff, error) {
	b.from = from
	return "", metadata.Diff{}, nil
}

// What the base has brought since a phase began is none of its work, but in the tree of
// a part that does not have it yet.
func TestDiffAfterTheBaseWasMerged(t *testing.T) {
	for _, tt := range []struct {
		rec  metadata.Phase
		want string
	}{
		{metadata.Phase{Base: "a"}, "a"},
		{metadata.Phase{Base: "a", Upstream: "b"}, "a with b..c"},
		{metadata.Phase{Base: "a", Upstream: "b", Lane: &metadata.Lane{Base: "d"}}, "a"},
		{metadata.Phase{Base: "a", Upstream: "b", Lane: &metadata.Lane{Base: "d", Conflict: &metadata.Conflict{}}}, "d"},
	} {
		tree := &baseTree{}
		c := &Engine{Journal: Journal{Tree: tree}}
		_, _, err := c.since(t.Context(), tree, metadata.Run{BaseCommit: "c"}, &pipelines.Phase{Access: pipelines.AccessTree}, &tt.rec)
		if err != nil || tree.from != tt.want {
			t.Errorf("%+v is compared with %s, %v; want %s", tt.rec, tree.from, err, tt.want)
		}
	}
}

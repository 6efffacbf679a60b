package environ

import (
	"strings"
	"testing"
)

func TestHolder(t *testing.T) {
	env := Env{Environ: []string{"GITHUB_RUN_ID=9001", "GITHUB_RUN_ATTEMPT=2", "RUNNER_NAME=GitHub Actions 12/x"}}
	one, other := OwnerOf(env), OwnerOf(env)
	if one == other || !strings.HasPrefix(one, "actions/9001/2/GitHub-Actions-12-x/") {
		t.Errorf("two processes are %q and %q", one, other)
	}
	if h, ok := ParseOwner(one); !ok || h.Run != 9001 || h.Attempt != 2 || h.Runner != RunnerName("GitHub Actions 12/x") || h.random == "" {
		t.Errorf("%q is %+v, %v", one, h, ok)
	}
	if h, ok := ParseOwner("actions/9001/2"); !ok || h.Run != 9001 || h.Attempt != 2 || h.Runner != "" {
		t.Errorf("what an older version wrote is %+v, %v", h, ok)
	}
	for _, owner := range []string{"", OwnerOf(Env{}), "actions", "actions/x/1", "actions/1/x/a/b", "actions/1/1/a", "local/1/1"} {
		if h, ok := ParseOwner(owner); ok {
			t.Errorf("%q is %+v", owner, h)
		}
	}
}

package doctor

import (
	"testing"
)

func TestNeededScope(t *testing.T) {
	for _, tt := range []struct {
		rights  tokenFacts
		private bool
		want    string
	}{
		{tokenFacts{}, true, ""},
		{tokenFacts{Scopes: []string{}}, true, "repo"},
		{tokenFacts{Scopes: []string{"public_repo"}}, true, "repo"},
		{tokenFacts{Scopes: []string{"public_repo"}}, false, ""},
		{tokenFacts{Scopes: []string{"gist"}}, false, "public_repo"},
		{tokenFacts{Scopes: []string{"gist", "repo"}}, true, ""},
	} {
		if got := neededScope(tt.rights, tt.private); got != tt.want {
			t.Errorf("%+v, private %v: %q, want %q", tt.rights, tt.private, got, tt.want)
		}
	}
}

package doctor

import (
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTokenFacts(t *testing.T) {
	at := time.Date(2026, 4, 5, 6, 7, 8, 0, time.UTC)
	for _, tt := range []struct {
		name   string
		header map[string]string
		want   tokenFacts
	}{
		{"nothing", nil, tokenFacts{}},
		{"classic", map[string]string{"X-OAuth-Scopes": "repo, workflow"}, tokenFacts{Scopes: []string{"repo", "workflow"}}},
		{"classic without scopes", map[string]string{"X-OAuth-Scopes": ""}, tokenFacts{Scopes: []string{}}},
		{"expires", map[string]string{"GitHub-Authentication-Token-Expiration": "2026-04-05 06:07:08 UTC"}, tokenFacts{Expires: at}},
		{"expires elsewhere", map[string]string{"GitHub-Authentication-Token-Expiration": "2026-04-05 08:07:08 +0200"}, tokenFacts{Expires: at}},
		{"expires some day", map[string]string{"GitHub-Authentication-Token-Expiration": "soon"}, tokenFacts{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := http.Header{}
			for name, value := range tt.header {
				h.Set(name, value)
			}
			if diff := cmp.Diff(tt.want, factsIn(h)); diff != "" {
				t.Errorf("facts (-want +got):\n%s", diff)
			}
		})
	}
}

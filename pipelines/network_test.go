package pipelines

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Each form is read, written and said, and survives that.
func TestForms(t *testing.T) {
	for text, want := range map[string]struct {
		n    Network
		said string
	}{
		`"open"`:                                {Network{}, "open"},
		`"model"`:                               {Network{Closed: true}, "model"},
		`{"allow":["a.example"]}`:               {Network{Closed: true, Allow: []string{"a.example"}}, "model, a.example"},
		`{"allow":["a.example"],"listen":true}`: {Network{Closed: true, Allow: []string{"a.example"}, Listen: true}, "model, a.example, servers of its own"},
	} {
		var n Network
		err := json.Unmarshal([]byte(text), &n)
		if diff := cmp.Diff(want.n, n); err != nil || diff != "" || n.String() != want.said {
			t.Errorf("%s: error %v, said %q (-want +got):\n%s", text, err, n, diff)
		}
		if again, err := json.Marshal(n); err != nil || string(again) != text {
			t.Errorf("%s is written as %s (%v)", text, again, err)
		}
	}
	var n Network
	if err := json.Unmarshal([]byte(`7`), &n); err == nil {
		t.Errorf("a number is read as %s", n)
	}
}

func TestBadHost(t *testing.T) {
	for host, good := range map[string]bool{
		"registry.npmjs.org": true, "*.example.com": true, "*.example.com:443": true, "localhost:8080": true, "10.0.0.1": true,
		"[2001:db8::1]:443": true, "[::1]": true, "::1": true, "db": true, "EXAMPLE.com": true, "my_host.example": true,

		"": false, "*": false, "https://example.com": false, "example.com/path": false, "example.com:": false, "example.com:0": false,
		"example.com:65536": false, "example.com:https": false, "a.*.example": false, "-a.example": false, "a..b": false, "[::1]x": false,
		"[1.2.3.4]": false, "user@example.com": false, "a b": false, "1:2:3": false, "[::1": false,
	} {
		if why := BadHost(host); (why == "") != good {
			t.Errorf("%q: %q", host, why)
		}
	}
}

package gate

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/pipelines"
)

// No program gets the password of the user's proxy: the gate of its call asks that in its
// place, and where it cannot, people are told.
func TestPasswordsOfProxies(t *testing.T) {
	proxy := func(*url.URL) (*url.URL, error) { return nil, nil }
	closed := pipelines.Network{Closed: true, Allow: []string{"else.test"}}
	for name, tt := range map[string]struct {
		call   Call
		env    string // what is there
		want   string // what a program gets, with GATE for the gate
		warned bool
	}{
		"no password":      {Call{Proxy: proxy}, "HTTPS_PROXY=http://proxy.test:3128", "HTTPS_PROXY=http://proxy.test:3128", false},
		"one":              {Call{Proxy: proxy}, "HTTPS_PROXY=http://me:sesame@proxy.test:3128/ http_proxy=http://me:sesame@proxy.test ALL_PROXY=http://me:sesame@proxy.test", "ALL_PROXY=GATE HTTPS_PROXY=GATE http_proxy=GATE", false},
		"no scheme":        {Call{Proxy: proxy}, "https_proxy=me:sesame@proxy.test:3128", "https_proxy=GATE", false},
		"an odd one":       {Call{Proxy: proxy}, "https_proxy=http://me:ses/ame@sesame@proxy.test:3128", "https_proxy=GATE", false},
		"one of two":       {Call{Proxy: proxy}, "HTTPS_PROXY=http://me:sesame@proxy.test HTTP_PROXY=http://other.test", "HTTPS_PROXY=GATE HTTP_PROXY=http://other.test", false},
		"SOCKS":            {Call{Proxy: proxy}, "HTTPS_PROXY=socks5://me:sesame@proxy.test:1080", "HTTPS_PROXY=socks5://proxy.test:1080", true},
		"for all alone":    {Call{Proxy: proxy}, "ALL_PROXY=http://me:sesame@proxy.test", "ALL_PROXY=http://proxy.test", true},
		"nobody asks it":   {Call{}, "HTTPS_PROXY=http://me:sesame@proxy.test", "HTTPS_PROXY=http://proxy.test", true},
		"a closed network": {Call{Proxy: proxy, Network: closed}, "HTTPS_PROXY=socks5://me:sesame@proxy.test", "ALL_PROXY=GATE HTTPS_PROXY=GATE HTTP_PROXY=GATE all_proxy=GATE http_proxy=GATE https_proxy=GATE", false},
	} {
		t.Run(name, func(t *testing.T) {
			tt.call.Env = strings.Fields(tt.env)
			p := openedPassage(t, tt.call)
			var got []string
			for _, kv := range p.Env {
				if strings.Contains(kv, "sesame") || strings.Contains(kv, "me:") {
					t.Errorf("the program gets %s", kv)
				}
				if name, value, _ := strings.Cut(kv, "="); strings.HasSuffix(strings.ToLower(name), "_proxy") && !strings.EqualFold(name, "no_proxy") && !strings.HasPrefix(name, "YARN") {
					if p.gate != nil && value == p.gate.proxyURL() {
						value = "GATE"
					}
					got = append(got, name+"="+value)
				}
			}
			slices.Sort(got)
			if all := strings.Join(got, " "); all != tt.want {
				t.Errorf("it gets %s, want %s", all, tt.want)
			}
			var r Told
			p.Complete(Report{}, &r)
			if warned := strings.Contains(strings.Join(r.Warnings, " "), "password of the proxy"); warned != tt.warned {
				t.Errorf("the warnings are %q", r.Warnings)
			}
			if p.gate != nil && !tt.call.Network.Closed && !strings.Contains(process.Lookup(p.Env, "NO_PROXY"), "127.0.0.1") {
				t.Errorf("NO_PROXY is %q", process.Lookup(p.Env, "NO_PROXY"))
			}
		})
	}
}

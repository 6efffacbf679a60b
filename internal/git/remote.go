package git

import (
	"net/url"
	"strings"

	"github.com/reprise-ci/reprise/internal/address"
	"github.com/reprise-ci/reprise/internal/text"
)

// remote is where the branch is pushed to, and with what.
type remote struct {
	name     string
	fetch    string // URL without credentials
	push     string // URL without credentials
	settings []setting
}

// withToken returns the settings for one call with a token: it is sent to the
// remote's own host and nowhere else. Credentials and headers of the user are
// left out, since two of them make servers refuse the call.
func (r *remote) withToken(token string) ([]setting, error) {
	var out []setting
	for _, s := range r.settings {
		if strings.HasPrefix(s.Key, "http.") && !strings.HasSuffix(s.Key, ".extraheader") ||
			strings.HasPrefix(s.Key, "safe.") {
			out = append(out, s)
		}
	}
	out = append(out, setting{Key: "http.followRedirects", Value: "false"}) // else the header goes along
	hosts := map[string]bool{}
	for _, to := range []string{r.fetch, r.push} {
		u, err := url.Parse(to)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" {
			continue // a path or ssh: the token is of no use there
		}
		if u.Scheme == "http" && !address.Loopback(u.Hostname()) {
			return nil, &text.CauseError{Why: text.CauseOf("git_unencrypted", "{address} is not encrypted: the token is not sent there, use https", "address", to)}
		}
		host := u.Scheme + "://" + u.Host + "/"
		if !hosts[host] {
			hosts[host] = true
			out = append(out, setting{Key: "http." + host + ".extraheader", Value: "Authorization: Basic " + basicLogin("x-access-token", token)})
		}
	}
	return out, nil
}

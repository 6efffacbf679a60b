package git

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"strings"
)

// remote is where the branch is pushed to, and with what.
type remote struct {
	name     string
	fetch    string // URL without credentials
	push     string // URL without credentials
	settings []setting
}

// remote returns the remote of that name, or nil if there is none. Rewriting
// rules (url.*.insteadOf) of the user are applied now and never again.
func (s *Source) remote(ctx context.Context, name string) (*remote, error) {
	if name == "origin" && s.origin != nil {
		return s.origin, nil
	}
	if s.get("remote."+name+".url") == "" {
		return nil, nil
	}
	fetch, push, err := s.addresses(ctx, name)
	if err != nil {
		return nil, fmt.Errorf("find the address of %s: %w", name, err)
	}
	r := &remote{name: name, settings: s.networkSettings()}
	for _, u := range []struct {
		to      *string
		address string
	}{{&r.fetch, fetch}, {&r.push, push}} {
		address, secret := splitCredentials(u.address)
		*u.to = s.absolute(address)
		r.settings = append(r.settings, secret...)
	}
	return r, nil
}

// addresses gives where a remote is fetched from and pushed to. Git is asked
// only if there is more to it than what the configuration names.
func (s *Source) addresses(ctx context.Context, name string) (fetch, push string, err error) {
	plain := true
	for _, c := range s.config {
		switch {
		case c.key == "remote."+name+".url":
			plain, fetch = plain && fetch == "" && c.value != "", c.value
		case c.key == "remote."+name+".pushurl":
			plain, push = plain && push == "" && c.value != "", c.value
		case strings.HasPrefix(c.key, "url."): // insteadOf, pushInsteadOf
			plain = false
		}
	}
	if plain {
		return fetch, cmp.Or(push, fetch), nil
	}
	for _, u := range []struct {
		to   *string
		args []string
	}{
		{&fetch, []string{"remote", "get-url", "--", name}},
		{&push, []string{"remote", "get-url", "--push", "--", name}},
	} {
		out, err := s.discover(ctx, u.args...)
		if err != nil {
			return "", "", err
		}
		*u.to, _, _ = strings.Cut(string(out), "\n")
	}
	return fetch, push, nil
}

// absolute resolves a remote that is a relative path, which git reads from the
// top of the work tree.
func (s *Source) absolute(address string) string {
	before, _, colon := strings.Cut(address, ":")
	if filepath.IsAbs(address) || colon && !strings.Contains(before, "/") {
		return address // a URL, or host:path
	}
	return filepath.Join(s.Dir, address)
}

// networkSettings is what the user's configuration says about the network.
func (s *Source) networkSettings() []setting {
	var out []setting
	for _, c := range s.config {
		section, _, _ := strings.Cut(c.key, ".")
		if slices.Contains([]string{"http", "credential", "ssh", "safe"}, section) ||
			slices.Contains([]string{"core.sshcommand", "core.askpass", "core.gitproxy"}, c.key) {
			out = append(out, c)
		}
	}
	return out
}

// batchMode keeps ssh from asking questions on a terminal that this program has,
// which would wait for ever. It is for users who have set no program of their own.
func (s *Source) batchMode() []string {
	if s.get("core.sshcommand") != "" || len(s.env.pick("GIT_SSH", "GIT_SSH_COMMAND")) > 0 {
		return nil
	}
	return []string{"GIT_SSH_COMMAND=ssh -oBatchMode=yes"}
}

// withToken returns the settings for one call with a token: it is sent to the
// remote's own host and nowhere else. Credentials and headers of the user are
// left out, since two of them make servers refuse the call.
func (r *remote) withToken(token string) ([]setting, error) {
	var out []setting
	for _, s := range r.settings {
		if strings.HasPrefix(s.key, "http.") && !strings.HasSuffix(s.key, ".extraheader") ||
			strings.HasPrefix(s.key, "safe.") {
			out = append(out, s)
		}
	}
	out = append(out, setting{"http.followRedirects", "false"}) // else the header goes along
	hosts := map[string]bool{}
	for _, address := range []string{r.fetch, r.push} {
		u, err := url.Parse(address)
		if err != nil || u.Scheme != "https" && u.Scheme != "http" {
			continue // a path or ssh: the token is of no use there
		}
		if u.Scheme == "http" && !loopback(u.Hostname()) {
			return nil, fmt.Errorf("%s is not encrypted: the token is not sent there, use https", address)
		}
		host := u.Scheme + "://" + u.Host + "/"
		if !hosts[host] {
			hosts[host] = true
			out = append(out, setting{"http." + host + ".extraheader", "Authorization: Basic " + basic("x-access-token", token)})
		}
	}
	return out, nil
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

func basic(user, password string) string {
	return base64.StdEncoding.EncodeToString([]byte(user + ":" + password))
}

// splitCredentials takes user name and password out of an address, so that
// they show in no argument and no message, and returns them as settings.
func splitCredentials(address string) (string, []setting) {
	u, err := url.Parse(address)
	if err != nil || u.User == nil || u.Scheme != "https" && u.Scheme != "http" {
		return address, nil
	}
	user := u.User.Username()
	password, has := u.User.Password()
	u.User = nil
	host := u.Scheme + "://" + u.Host + "/"
	if has {
		return u.String(), []setting{{"http." + host + ".extraheader", "Authorization: Basic " + basic(user, password)}}
	}
	return u.String(), []setting{{"credential." + strings.TrimSuffix(host, "/") + ".username", user}}
}

// ownerAndName reads owner/name from the address of a repository on GitHub or
// a forge like it.
func ownerAndName(address string) string {
	path := ""
	if u, err := url.Parse(address); err == nil && u.Host != "" {
		path = u.Path
	} else if host, rest, ok := strings.Cut(address, ":"); ok && !strings.Contains(host, "/") && !strings.HasPrefix(rest, "//") {
		path = rest
	}
	path = strings.TrimSuffix(strings.Trim(path, "/"), ".git")
	owner, name, ok := strings.Cut(path, "/")
	if !ok || owner == "" || name == "" || strings.Contains(name, "/") {
		return ""
	}
	return path
}

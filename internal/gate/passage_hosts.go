package gate

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/pipelines"
)

// hosts are those that a program has to reach by itself, with a login that cannot stay outside.
func (c Call) hosts() (out []string) {
	p, known := table().Programs[c.Agent]
	cloud := slices.IndexFunc(p.Clouds, func(cloud cloud) bool { return len(cloud.Hosts) > 0 && cloud.leads(c.Env) })
	switch {
	case cloud >= 0:
		region := "us-east-1"
		for _, name := range slices.Backward(p.Clouds[cloud].Regions) {
			if value := process.Lookup(c.Env, name); label().MatchString(value) {
				region = value
			}
		}
		for _, host := range p.Clouds[cloud].Hosts {
			out = append(out, strings.ReplaceAll(host, "REGION", region))
		}
	case known && (c.ownWay(p.API) || !hasKey(p.API, c.Env, false) && !hasKey(p.API, c.Env, true)): // not through the gate
		out = slices.Clone(p.Hosts)
	default:
		return nil
	}
	for _, name := range table().Addresses {
		out = append(out, hostsIn(process.Lookup(c.Env, name))...)
	}
	return append(out, hostsIn(string(c.Settings))...)
}

var (
	passageAddress = regexp.MustCompile(`https?://[^\s"'<>\\]+`)
	label          = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9-]{1,40}$`) })
)

// hostsIn lists the hosts of the addresses in a text of the user's.
func hostsIn(text string) (out []string) {
	for _, a := range passageAddress.FindAllString(text, -1) {
		u, err := url.Parse(a)
		if err != nil {
			continue
		}
		host := u.Host
		if u.Port() == "" {
			host = u.Hostname()
		}
		if pipelines.BadHost(host) == "" {
			out = append(out, host)
		}
	}
	return out
}

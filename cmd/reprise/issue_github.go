package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/reprise-ci/reprise/git"
	"github.com/reprise-ci/reprise/github"
)

// reference names an issue on GitHub.
type reference struct {
	owner, name string
	number      int
}

// String names it as people do.
func (r reference) String() string { return fmt.Sprintf("issue %d of %s", r.number, r.repository()) }

func (r reference) repository() string { return r.owner + "/" + r.name }

// forge is the GitHub that this environment names. The variables are those of
// GitHub's own runners.
type forge struct {
	api   string // address of its API
	host  string // where people see it
	token string
}

func forgeOf(env environment) (forge, error) {
	f := forge{api: env.getenv("GITHUB_API_URL"), token: cmp.Or(env.getenv("GITHUB_TOKEN"), env.getenv("GH_TOKEN"))}
	if server := env.getenv("GITHUB_SERVER_URL"); server != "" {
		u, err := url.Parse(server)
		if err != nil || u.Host == "" || u.User != nil {
			return f, usagef("GITHUB_SERVER_URL is no address such as https://github.com")
		}
		f.host = strings.ToLower(u.Host)
		if f.api == "" && f.host != "github.com" {
			f.api = u.Scheme + "://" + u.Host + "/api/v3"
		}
	}
	f.api = cmp.Or(f.api, github.PublicAPI)
	if f.host == "" {
		u, err := url.Parse(f.api)
		if err != nil || u.Host == "" || u.User != nil {
			return f, usagef("GITHUB_API_URL is no address such as %s", github.PublicAPI)
		}
		f.host = strings.TrimPrefix(strings.ToLower(u.Host), "api.")
	}
	return f, nil
}

var (
	issuePath   = regexp.MustCompile(`^/([A-Za-z0-9._-]+)/([A-Za-z0-9._-]+)/(issues|pull|pulls)/([1-9][0-9]{0,8})/?$`)
	issueNumber = regexp.MustCompile(`^[1-9][0-9]{0,8}$`)
)

// parse reads the address of an issue as it stands in a browser.
func (f forge) parse(address string) (reference, error) {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || u.User != nil || u.Scheme != "https" && u.Scheme != "http" {
		return reference{}, usagef("--issue-url: give the address of an issue, such as https://%s/OWNER/REPO/issues/7", f.host)
	}
	m := issuePath.FindStringSubmatch(u.Path)
	switch {
	case strings.TrimPrefix(strings.ToLower(u.Host), "www.") != f.host:
		return reference{}, usagef("--issue-url: %.80q is not %s, where issues are read from; for GitHub Enterprise and other forges set GITHUB_API_URL", u.Host, f.host)
	case m == nil:
		return reference{}, usagef("--issue-url: %.120q is no issue; one looks like https://%s/OWNER/REPO/issues/7", u.Path, f.host)
	case m[3] != "issues":
		return reference{}, usagef("--issue-url: %s/%s/%s/%s is a pull request; a run begins with an issue", m[1], m[2], m[3], m[4])
	}
	n, err := strconv.Atoi(m[4])
	return reference{owner: m[1], name: m[2], number: n}, usage(err)
}

// serves reports whether a repository with that origin is likely to be on this
// GitHub. With ssh, a name without a dot is an alias of somebody's own.
func (f forge) serves(origin string) bool {
	host, viaSSH := "", true
	if u, err := url.Parse(origin); err == nil && u.Host != "" {
		host, viaSSH = strings.ToLower(u.Host), u.Scheme == "ssh"
		if viaSSH {
			host = strings.ToLower(u.Hostname())
		}
	} else {
		before, _, _ := strings.Cut(origin, ":")
		host = strings.ToLower(before[strings.LastIndex(before, "@")+1:])
	}
	if !viaSSH {
		return host == f.host
	}
	name, _, _ := strings.Cut(f.host, ":")
	return strings.TrimPrefix(host, "ssh.") == name || !strings.Contains(host, ".")
}

// find says which issue the command line names: its id and, if it can be read
// from GitHub, where. If not, why says so.
func (o opening) find(env environment, src *git.Source) (id string, where *reference, why string, err error) {
	if !o.online {
		return o.id, nil, "", checkID(o.id)
	}
	f, err := forgeOf(env)
	if o.url != "" {
		var r reference
		if err == nil {
			r, err = f.parse(o.url)
		}
		if err == nil && src.GitHub != "" && !strings.EqualFold(src.GitHub, r.repository()) {
			err = usagef("--issue-url: the issue is one of %s, and this repository is %s: go to a clone of the other", r.repository(), src.GitHub)
		}
		return strconv.Itoa(r.number), &r, "", err
	}
	if err := checkID(o.id); err != nil {
		return "", nil, "", err
	}
	switch {
	case err != nil: // a run that exists can do without
		return o.id, nil, err.Error(), nil
	case !issueNumber.MatchString(o.id):
		return o.id, nil, "its id is no number", nil
	case src.GitHub == "":
		return o.id, nil, "origin is no OWNER/REPO there", nil
	case !f.serves(src.RemoteURL):
		return o.id, nil, fmt.Sprintf("origin is not at %s; set GITHUB_API_URL if it is at another GitHub", f.host), nil
	}
	owner, name, _ := strings.Cut(src.GitHub, "/")
	n, err := strconv.Atoi(o.id)
	return o.id, &reference{owner, name, n}, "", err
}

// read reads an issue that a run is to begin with.
func (r reference) read(ctx context.Context, env environment) (issue, error) {
	f, err := forgeOf(env)
	if err != nil {
		return issue{}, err
	}
	gh, err := env.asks(f, f.token, env.stderr)
	if err != nil {
		return issue{}, usage(err)
	}
	return r.readFrom(ctx, gh)
}

// readFrom reads an issue that a run is to begin with from a forge.
func (r reference) readFrom(ctx context.Context, gh *github.Client) (issue, error) {
	is, err := gh.Issue(ctx, r.owner, r.name, r.number)
	var refused *github.Error
	switch {
	case errors.As(err, &refused) && (refused.Kind == github.NotFound || refused.Kind == github.Gone):
		return issue{}, usage(err)
	case err != nil:
		return issue{}, err
	case is.IsPull:
		return issue{}, usagef("number %d of %s is a pull request; a run begins with an issue", r.number, r.repository())
	case is.State == "closed":
		return issue{}, usagef("%s is closed: reopen it, or take another", r)
	case is.Locked:
		return issue{}, usagef("%s is locked: unlock it, or take another", r)
	case strings.TrimSpace(is.Title) == "":
		return issue{}, usagef("%s has no title: give it one", r)
	}
	return issue{
		ID: strconv.Itoa(r.number), Title: strings.Join(strings.Fields(is.Title), " "), Body: trimLines(is.Body), URL: is.URL, Author: is.Author, Labels: is.Labels, Type: is.Type,
	}, nil
}

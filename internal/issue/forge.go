package issue

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/exit"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/pipelines"
	"github.com/reprise-ci/reprise/prompts"
	"github.com/reprise-ci/reprise/prompts/clean"
)

// Reference names an issue on GitHub.
type Reference struct {
	Repository string // owner/name
	Number     int
}

// String names it as people do.
func (r Reference) String() string { return fmt.Sprintf("issue %d of %s", r.Number, r.Repository) }

// Forge is the GitHub that this environment names.
type Forge struct {
	Api   string // address of its API
	Host  string // where people see it
	Token string
}

// ForgeOf reads from the environment which GitHub is meant; without any of the variables it is github.com.
func ForgeOf(env environ.Env) (Forge, error) {
	f := Forge{Api: env.Getenv("GITHUB_API_URL"), Token: cmp.Or(env.Getenv("GITHUB_TOKEN"), env.Getenv("GH_TOKEN"))}
	if server := env.Getenv("GITHUB_SERVER_URL"); server != "" {
		u, err := url.Parse(server)
		if err != nil || u.Host == "" || u.User != nil {
			return f, exit.Usagef("GITHUB_SERVER_URL is no address such as https://github.com")
		}
		f.Host = strings.ToLower(u.Host)
		if f.Api == "" && f.Host != "github.com" {
			f.Api = u.Scheme + "://" + u.Host + "/api/v3"
		}
	}
	f.Api = cmp.Or(f.Api, github.PublicAPI)
	if f.Host == "" {
		u, err := url.Parse(f.Api)
		if err != nil || u.Host == "" || u.User != nil {
			return f, exit.Usagef("GITHUB_API_URL is no address such as %s", github.PublicAPI)
		}
		f.Host = strings.TrimPrefix(strings.ToLower(u.Host), "api.")
	}
	return f, nil
}

var (
	issuePath = text.Pattern(`^/([A-Za-z0-9._-]+)/([A-Za-z0-9._-]+)/(issues|pull|pulls)/([1-9][0-9]{0,8})/?$`)
	// Number matches the number of an issue.
	Number = regexp.MustCompile(`^[1-9][0-9]{0,8}$`)
)

// Parse reads the address of an issue as it stands in a browser.
func (f Forge) Parse(address string) (Reference, error) {
	u, err := url.Parse(strings.TrimSpace(address))
	if err != nil || u.User != nil || u.Scheme != "https" && u.Scheme != "http" {
		return Reference{}, exit.Usagef("--issue: give the address of an issue, such as https://%s/OWNER/REPO/issues/7", f.Host)
	}
	m := issuePath().FindStringSubmatch(u.Path)
	switch {
	case strings.TrimPrefix(strings.ToLower(u.Host), "www.") != f.Host:
		return Reference{}, exit.Usagef("--issue: %.80q is not %s, where issues are read from; for GitHub Enterprise and other forges set GITHUB_API_URL", u.Host, f.Host)
	case m == nil:
		return Reference{}, exit.Usagef("--issue: %.120q is no issue; one looks like https://%s/OWNER/REPO/issues/7", u.Path, f.Host)
	case m[3] != "issues":
		return Reference{}, exit.Usagef("--issue: %s/%s/%s/%s is a pull request; a run begins with an issue", m[1], m[2], m[3], m[4])
	}
	n, err := strconv.Atoi(m[4])
	return Reference{m[1] + "/" + m[2], n}, exit.AsUsage(err)
}

// Serves reports whether a repository with that origin is likely to be on this
// GitHub. With ssh, a name without a dot is an alias of somebody's own.
func (f Forge) Serves(origin string) bool {
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
		return host == f.Host
	}
	name, _, _ := strings.Cut(f.Host, ":")
	return strings.TrimPrefix(host, "ssh.") == name || !strings.Contains(host, ".")
}

// Query says which issue a run is of.
type Query struct {
	Id     string // of a run that exists
	File   string // issue file, instead of id
	Url    string // address of the issue on GitHub, instead of id
	Online bool   // an issue that has no run is read from GitHub
	Given  *Issue // the issue itself, instead of id; it is on GitHub
}

// Find says which issue the command line names: its id and, if it can be read
// from GitHub, where. If not, why says so.
func (o Query) Find(env environ.Env, src *git.Source) (id string, where *Reference, why string, err error) {
	if !o.Online {
		return o.Id, nil, "", CheckID(o.Id)
	}
	f, err := ForgeOf(env)
	if o.Url != "" {
		var r Reference
		if err == nil {
			r, err = f.Parse(o.Url)
		}
		if err == nil && src.GitHub != "" && !strings.EqualFold(src.GitHub, r.Repository) {
			err = exit.Usagef("--issue: the issue is one of %s, and this repository is %s: go to a clone of the other", r.Repository, src.GitHub)
		}
		return strconv.Itoa(r.Number), &r, "", err
	}
	if err := CheckID(o.Id); err != nil {
		return "", nil, "", err
	}
	switch {
	case err != nil: // a run that exists can do without
		return o.Id, nil, err.Error(), nil
	case !Number.MatchString(o.Id):
		return o.Id, nil, "its id is no number", nil
	case src.RemoteURL == "":
		return o.Id, nil, "there is no remote origin", nil
	case src.GitHub == "":
		return o.Id, nil, "origin is no OWNER/REPO there", nil
	case !f.Serves(src.RemoteURL):
		return o.Id, nil, fmt.Sprintf("origin is not at %s; set GITHUB_API_URL if it is at another GitHub", f.Host), nil
	}
	n, err := strconv.Atoi(o.Id)
	return o.Id, &Reference{src.GitHub, n}, "", err
}

// Read reads an issue that a run is to begin with.
func (r Reference) Read(ctx context.Context, env environ.Env) (Issue, error) {
	f, err := ForgeOf(env)
	if err != nil {
		return Issue{}, err
	}
	gh, err := Client(env, f, f.Token, env.Stderr)
	if err != nil {
		return Issue{}, exit.AsUsage(err)
	}
	return r.ReadFrom(ctx, gh)
}

// ReadFrom reads an issue that a run is to begin with from a forge.
func (r Reference) ReadFrom(ctx context.Context, gh *github.Client) (Issue, error) {
	is, err := gh.In(r.Repository).Issue(ctx, r.Number)
	switch {
	case github.IsKind(err, github.NotFound, github.Gone):
		return Issue{}, exit.AsUsage(err)
	case err != nil:
		return Issue{}, err
	case is.IsPull:
		return Issue{}, exit.Usagef("number %d of %s is a pull request; a run begins with an issue", r.Number, r.Repository)
	case is.State == "closed":
		return Issue{}, exit.Usagef("%s is closed: reopen it, or take another", r)
	case is.Locked:
		return Issue{}, exit.Usagef("%s is locked: unlock it, or take another", r)
	case strings.TrimSpace(is.Title) == "":
		return Issue{}, exit.Usagef("%s has no title: give it one", r)
	}
	return Issue{
		ID: strconv.Itoa(r.Number), Title: strings.Join(strings.Fields(is.Title), " "), Body: TrimLines(is.Body), URL: is.URL, Author: is.Author, Labels: is.Labels, Type: is.Type,
	}, nil
}

// Client gives what talks to a forge, with a token.
func Client(e environ.Env, f Forge, token string, out io.Writer) (*github.Client, error) {
	waits := func(what string) func(context.Context, time.Duration) error {
		return func(ctx context.Context, d time.Duration) error {
			_, _ = fmt.Fprintf(out, "reprise: "+what+"\n", f.Host, d.Round(time.Second))
			return e.Rest(ctx, d)
		}
	}
	return github.New(github.Options{
		Token: token, APIURL: f.Api, UserAgent: "reprise/" + environ.Version, HTTP: e.Http, Now: e.Now, Mask: e.Finder().Mask,
		Sleep: waits("%s is asked again in %s"),
		Slow:  waits("much was written to %s in a short time; the next comment or sign goes there in %s"),
	})
}

// Discussion is what was said below an issue, as far as a run takes note of it.
type Discussion struct {
	Comments []Comment `json:"comments"` // the oldest first
	Older    int       `json:"older"`    // that were left out because all together would be too long
}

// Comment is what somebody has said.
type Comment struct {
	ID   int64     `json:"id"`
	By   string    `json:"by"`
	Role string    `json:"role,omitempty"` // that is the right to write or more; empty: the author of the issue, without it
	At   time.Time `json:"at"`
	Text string    `json:"text"`
}

// Hear gives an issue with what was said below it, and with the images of both.
type Hear func(ctx context.Context, from Reference, is Issue) (Issue, error)

// JSON is the discussion as it is kept on the branch, for ParseDiscussion to read.
func (d Discussion) JSON() ([]byte, error) {
	return text.JSON(d)
}

// Digest is that of the discussion as it is kept; "" of one without comments.
func (d Discussion) Digest() string {
	data, err := d.JSON()
	if len(d.Comments) == 0 || err != nil { // the latter cannot be
		return ""
	}
	return pipelines.Digest(data)
}

// ParseDiscussion reads what JSON wrote.
func ParseDiscussion(data []byte) (d Discussion, err error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&d); err != nil {
		return d, fmt.Errorf("read the discussion of the issue: %w", err)
	}
	return d, nil
}

// Said gives the comments as prompts have them.
func (d Discussion) Said() (out []prompts.Said) {
	for _, c := range d.Comments {
		out = append(out, prompts.Said{By: c.By, Role: c.Role, At: c.At.UTC().Format("2006-01-02 15:04 UTC"), Text: c.Text})
	}
	return out
}

// By names who has written the comments, each once.
func (d Discussion) By() (names []string) {
	for _, c := range d.Comments {
		if !slices.Contains(names, c.By) {
			names = append(names, c.By)
		}
	}
	return names
}

// clean takes out of the comments what people who read them do not see. One of which nothing is left goes.
func (d *Discussion) clean() (removed []clean.Removal) {
	var left []Comment
	for _, c := range d.Comments {
		text, gone := clean.Text(c.Text)
		removed = append(removed, gone...)
		if c.Text = strings.TrimSpace(text); c.Text != "" {
			left = append(left, c)
		}
	}
	d.Comments = left
	return removed
}

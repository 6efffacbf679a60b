package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/github"
)

// answerTime is the longest that doctor waits for one answer of the forge.
const answerTime = 4 * time.Second

// forgeCheck looks at the forge that origin is at.
type forgeCheck struct {
	d           *doctor
	gh          *github.Client
	forge       forge
	owner, name string
	repository  github.Repository
	checks      []check
}

// forge looks at GitHub: what is there, what the token is, what it may do.
func (d *doctor) forge(ctx context.Context) []check {
	const name = "github"
	if d.src == nil || d.src.GitHub == "" {
		return nil
	}
	f, err := forgeOf(d.env)
	if err != nil {
		return []check{lacking(name, err.Error(), "")}
	}
	if !f.serves(d.src.RemoteURL) {
		return []check{hinted(name, "origin is not at "+f.host+": issues are not read from there", "set GITHUB_API_URL if it is at another GitHub")}
	}
	owner, repo, _ := strings.Cut(d.src.GitHub, "/")
	c := &forgeCheck{d: d, forge: f, owner: owner, name: repo}
	// One try: who waits in front of a terminal can ask again.
	c.gh, err = github.New(github.Options{
		Token: f.token, APIURL: f.api, UserAgent: "reprise/" + version, HTTP: &http.Client{Timeout: answerTime}, Patience: time.Millisecond, Now: d.env.now,
	})
	if err != nil {
		return []check{lacking(name, err.Error(), "")}
	}
	c.examine(ctx)
	return c.checks
}

func (c *forgeCheck) add(more ...check) { c.checks = append(c.checks, more...) }

// examine asks one thing after the other, as long as an answer can be hoped
// for.
func (c *forgeCheck) examine(ctx context.Context) {
	var err error
	if c.repository, err = c.gh.Repository(ctx, c.owner, c.name); err != nil {
		c.add(trouble("github", err))
		return
	}
	c.add(c.reached()...)
	if c.forge.token == "" {
		c.add(c.noToken())
	} else if c.token(ctx) && !c.repository.Archived {
		c.rights(ctx)
	}
	c.issue(ctx)
}

// trouble makes a check of an error. That nothing was found out says nothing
// against a run.
func trouble(name string, err error) check {
	var e *github.Error
	if !errors.As(err, &e) {
		return lacking(name, err.Error(), "")
	}
	found, do := strings.TrimSuffix(e.Error(), ": "+e.Do), e.Do
	if slices.Contains([]github.Kind{github.Unavailable, github.Silent, github.RateLimited}, e.Kind) {
		return hinted(name, "not checked: "+found, do)
	}
	return lacking(name, found, do)
}

// reached says what is known of the repository.
func (c *forgeCheck) reached() []check {
	r := c.repository
	found := r.FullName + " at " + c.forge.host
	var out []check
	if r.Archived {
		out = append(out, lacking("github", found+" is archived: nothing can be written", "take it out of the archive: Settings, General"))
	}
	if !r.HasIssues {
		out = append(out, lacking("github", "issues are switched off in "+found, "switch them on: Settings, General, Features"))
	}
	if !strings.EqualFold(r.FullName, c.owner+"/"+c.name) {
		out = append(out, hinted("github", fmt.Sprintf("%s/%s has moved to %s", c.owner, c.name, r.FullName), "git remote set-url origin, to the new address"))
	}
	if b := c.d.src.DefaultBranch; b != "" && r.DefaultBranch != "" && r.DefaultBranch != b {
		out = append(out, hinted("github", fmt.Sprintf("the default branch is %s there, and %s here", r.DefaultBranch, b), "git remote set-head origin --auto"))
	}
	if len(out) == 0 {
		out = append(out, well("github", found))
	}
	return out
}

func (c *forgeCheck) noToken() check {
	if c.d.env.getenv("GITHUB_ACTIONS") == "true" {
		return lacking("token", "there is none in GITHUB_TOKEN or GH_TOKEN", "hand it over in env: of the step")
	}
	return hinted("token", "there is none in GITHUB_TOKEN or GH_TOKEN: what is public can be read, and what it may do cannot be checked", "export GITHUB_TOKEN=$(gh auth token)")
}

// token says whose it is and how long it lasts, and reports whether it is good.
func (c *forgeCheck) token(ctx context.Context) bool {
	const name = "token"
	r, err := c.gh.Rights(ctx, c.owner, c.name)
	if err != nil {
		c.add(trouble(name, err))
		return false
	}
	var parts []string
	if who, err := c.gh.Self(ctx); err == nil {
		parts = append(parts, "of "+who.Login)
	} else {
		parts = append(parts, "of somebody whom "+c.forge.host+" does not name")
	}
	if r.Classic {
		parts = append(parts, "with the scopes "+cmp.Or(strings.Join(r.Scopes, ", "), "none"))
	}
	found := strings.Join(parts, ", ")
	left := r.Expires.Sub(c.d.env.now())
	switch scope := neededScope(r, c.repository.Private); {
	case scope != "":
		c.add(lacking(name, found+": the scope "+scope+" is missing", "give it the scope "+scope))
		return false
	case !r.Expires.IsZero() && left < 7*24*time.Hour:
		c.add(hinted(name, found+"; it expires on "+r.Expires.Format("2006-01-02"), "make a new one in time"))
	case r.Limit > 0 && r.Left < r.Limit/10:
		c.add(hinted(name, fmt.Sprintf("%s; only %d of %d requests an hour are left", found, r.Left, r.Limit), "wait, or stop what else uses it"))
	default:
		c.add(well(name, found))
	}
	return true
}

// neededScope names the scope that a classic token lacks, or nothing.
func neededScope(r github.Rights, private bool) string {
	switch {
	case !r.Classic || slices.Contains(r.Scopes, "repo"):
		return ""
	case private:
		return "repo"
	case !slices.Contains(r.Scopes, "public_repo"):
		return "public_repo"
	}
	return ""
}

// permit is something that a token has to be allowed, and a question that finds
// out without doing it.
type permit struct {
	name string // as workflows write it
	ask  func(ctx context.Context) error
}

// rightsOf lists what a run asks of a token: to push, and to open a pull
// request to base unless that is empty.
func rightsOf(gh *github.Client, owner, name, base string) []permit {
	rights := []permit{{"contents: write", func(ctx context.Context) error { return gh.MayPush(ctx, owner, name) }}}
	if base != "" {
		rights = append(rights, permit{"pull-requests: write", func(ctx context.Context) error { return gh.MayOpenPull(ctx, owner, name, base) }})
	}
	return rights
}

// rights asks what the token may do.
func (c *forgeCheck) rights(ctx context.Context) {
	const name = "rights"
	if role := c.repository.Role; role != "" && !role.AtLeast(github.RoleWrite) {
		c.add(lacking(name, fmt.Sprintf("the role of its account in the repository is %q", role), "ask for the role write, or take another token"))
		return
	}
	all := rightsOf(c.gh, c.owner, c.name, c.repository.DefaultBranch)
	if c.repository.HasIssues {
		all = append(all, permit{"issues: write", func(ctx context.Context) error { return c.gh.MayWriteIssues(ctx, c.owner, c.name) }})
	}
	var has []string
	for _, r := range all {
		if err := r.ask(ctx); err != nil {
			c.add(trouble(name, err))
			continue
		}
		has = append(has, r.name)
	}
	if len(has) > 0 {
		c.add(well(name, strings.Join(has, ", ")))
	}
	c.jobs(ctx)
}

// jobs says whether GitHub lets workflows open pull requests, which only
// administrators are told.
func (c *forgeCheck) jobs(ctx context.Context) {
	if !c.repository.Role.AtLeast(github.RoleAdmin) {
		return
	}
	if may, err := c.gh.ActionsMayOpenPulls(ctx, c.owner, c.name); err == nil && !may {
		c.add(hinted("rights", "workflows may not open pull requests with the token of the job", `Settings, Actions, General: "Allow GitHub Actions to create and approve pull requests"`))
	}
}

// issue reads the issue that the run would begin with.
func (c *forgeCheck) issue(ctx context.Context) {
	const name = "issue"
	n, err := strconv.Atoi(c.d.o.id)
	if err != nil || !issueNumber.MatchString(c.d.o.id) || c.d.run != "" {
		return
	}
	is, err := reference{c.owner, c.name, n}.readFrom(ctx, c.gh)
	switch {
	case err != nil:
		c.add(trouble(name, err))
	default:
		c.d.is = is
		c.add(well(name, fmt.Sprintf("#%d %s", n, is.Title)))
	}
}

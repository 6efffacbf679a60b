package doctor

import (
	"context"
	_ "embed" // what rules refuse
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/environ"
	"github.com/reprise-ci/reprise/internal/git"
	"github.com/reprise-ci/reprise/internal/github"
	"github.com/reprise-ci/reprise/internal/issue"
	"github.com/reprise-ci/reprise/internal/setup"
	"github.com/reprise-ci/reprise/internal/text"
	"github.com/reprise-ci/reprise/prompts"
)

// AnswerTime is the longest that doctor waits for one answer of the forge.
const AnswerTime = 4 * time.Second

// forgeCheck looks at the forge that origin is at.
type forgeCheck struct {
	env        environ.Env
	src        *git.Source
	gh         github.Repo
	forge      issue.Forge
	repository github.Repository
	checks     []Check
}

// Forge looks at GitHub: what is there, what the token is and may do. It reads the issue of a number, if that is one.
func Forge(ctx context.Context, env environ.Env, src *git.Source, number string) ([]Check, *issue.Issue) {
	if src.GitHub == "" {
		return nil, nil
	}
	f, err := issue.ForgeOf(env)
	if err != nil {
		return []Check{lacking("github", err.Error(), "")}, nil
	}
	if !f.Serves(src.RemoteURL) {
		return []Check{hinted("github", "origin is not at "+f.Host+": issues are not read from there", "set GITHUB_API_URL if it is at another GitHub")}, nil
	}
	// One try: who waits in front of a terminal can ask again.
	gh, err := github.New(github.Options{
		Token: f.Token, APIURL: f.Api, UserAgent: "reprise/" + environ.Version, HTTP: &http.Client{Timeout: AnswerTime}, Patience: time.Millisecond, Now: env.Now,
	})
	if err != nil {
		return []Check{lacking("github", err.Error(), "")}, nil
	}
	c := &forgeCheck{env: env, src: src, gh: gh.In(src.GitHub), forge: f}
	is := c.examine(ctx, number)
	return c.checks, is
}

func (c *forgeCheck) add(more ...Check) { c.checks = append(c.checks, more...) }

// examine asks one thing after the other, as long as an answer can be hoped
// for.
func (c *forgeCheck) examine(ctx context.Context, number string) *issue.Issue {
	var err error
	if c.repository, err = c.gh.Repository(ctx); err != nil {
		c.add(trouble("github", err))
		return nil
	}
	c.add(c.reached()...)
	if c.forge.Token == "" {
		c.add(c.noToken())
	} else {
		who, err := c.gh.Self(ctx)
		c.add(well("token", text.If(err == nil, "of "+who.Login)+text.If(err != nil, "of somebody whom "+c.forge.Host+" does not name")))
		if !c.repository.Archived {
			c.rights(ctx)
		}
	}
	c.rules(ctx)
	c.action(ctx)
	return c.issue(ctx, number)
}

//go:embed rules.yaml
var refusing []byte

// rules says which rules of the repository would refuse what a run pushes.
func (c *forgeCheck) rules(ctx context.Context) {
	branch := c.env.Branch("1")
	kinds, err := c.gh.Rules(ctx, branch)
	if err != nil {
		c.add(trouble("rules", err))
		return
	}
	reasons := text.TableIn(map[string]string{}, refusing)
	for _, kind := range kinds {
		if why := reasons[kind]; why != "" && !(kind == "required_signatures" && c.src.Signs()) {
			c.add(hinted("rules", fmt.Sprintf("a rule holds for branches such as %s, %s: %s", branch, kind, why), "Settings, Rules: leave these branches out, or let who pushes bypass the rule"))
		}
	}
}

// action says that the workflow of the default branch calls an action that is not there.
func (c *forgeCheck) action(ctx context.Context) {
	workflow, _ := c.src.ReadFile(ctx, c.src.Trusted(), setup.File) // workflowFiles tells of one that cannot be read
	uses := setup.Standing(string(workflow)).Uses
	repository, version, _ := strings.Cut(uses, "@")
	if version == "" {
		return // there is none, or it is in the repository itself
	}
	if _, err := c.gh.In(repository).File(ctx, version, "action.yml"); errors.Is(err, fs.ErrNotExist) {
		c.add(lacking("workflow", fmt.Sprintf("it calls %s, and there is no such action at %s", uses, c.forge.Host), "push a copy of reprise there, or name another place: reprise init --uses OWNER/reprise@main"))
	}
}

// trouble makes a check of an error. That nothing was found out says nothing
// against a run.
func trouble(name string, err error) Check {
	e, ok := errors.AsType[*github.Error](err)
	if !ok {
		return lacking(name, err.Error(), "")
	}
	do := e.Do.In(prompts.Words("en"))
	found := strings.TrimSuffix(e.Error(), ": "+do)
	if slices.Contains([]github.Kind{github.Unavailable, github.Silent, github.RateLimited}, e.Kind) {
		return hinted(name, "not checked: "+found, do)
	}
	return lacking(name, found, do)
}

func (c *forgeCheck) reached() (out []Check) {
	r := c.repository
	found := r.FullName + " at " + c.forge.Host
	if r.Archived {
		out = append(out, lacking("github", found+" is archived: nothing can be written", "take it out of the archive: Settings, General"))
	}
	if !r.HasIssues {
		out = append(out, lacking("github", "issues are switched off in "+found, "switch them on: Settings, General, Features"))
	}
	if !strings.EqualFold(r.FullName, c.gh.Name) {
		out = append(out, hinted("github", fmt.Sprintf("%s has moved to %s", c.gh.Name, r.FullName), "git remote set-url origin, to the new address"))
	}
	if b := c.src.DefaultBranch; b != "" && r.DefaultBranch != "" && r.DefaultBranch != b {
		out = append(out, hinted("github", fmt.Sprintf("the default branch is %s there, and %s here", r.DefaultBranch, b), "git remote set-head origin --auto"))
	}
	if len(out) == 0 {
		out = append(out, well("github", found))
	}
	return out
}

func (c *forgeCheck) noToken() Check {
	if c.env.Getenv("GITHUB_ACTIONS") == "true" {
		return lacking("token", "there is none in GITHUB_TOKEN or GH_TOKEN", "hand it over in env: of the step")
	}
	return hinted("token", "there is none in GITHUB_TOKEN or GH_TOKEN: what is public can be read, and what it may do cannot be checked", "export GITHUB_TOKEN=$(gh auth token)")
}

// rights asks what the token may do.
func (c *forgeCheck) rights(ctx context.Context) {
	if role := c.repository.Role; role != "" && !role.AtLeast(github.RoleWrite) {
		c.add(lacking("rights", fmt.Sprintf("the role of its account in the repository is %q", role), "ask for the role write, or take another token"))
		return
	}
	all := issue.RightsOf(c.gh, c.repository.DefaultBranch)
	if c.repository.HasIssues {
		all = append(all, issue.Right{Name: "issues: write", Ask: c.gh.MayWriteIssues})
	}
	var has []string
	for _, r := range all {
		if err := r.Ask(ctx); err != nil {
			c.add(trouble("rights", err))
			continue
		}
		has = append(has, r.Name)
	}
	if len(has) > 0 {
		c.add(well("rights", strings.Join(has, ", ")))
	}
	c.jobs(ctx)
}

// jobs says whether GitHub lets workflows open pull requests, which only
// administrators are told.
func (c *forgeCheck) jobs(ctx context.Context) {
	if !c.repository.Role.AtLeast(github.RoleAdmin) {
		return
	}
	w := struct {
		May bool `json:"can_approve_pull_request_reviews"`
	}{May: true}
	_, err := c.gh.Ask(ctx, github.Request{
		What: fmt.Sprintf("read what jobs of %s may do", c.gh.Name), Needs: "administration: read",
		Method: http.MethodGet, Path: "/actions/permissions/workflow",
	}, &w)
	if err == nil && !w.May {
		c.add(hinted("rights", "workflows may not open pull requests with the token of the job", `Settings, Actions, General: "Allow GitHub Actions to create and approve pull requests"`))
	}
}

// issue reads the issue that the run would begin with.
func (c *forgeCheck) issue(ctx context.Context, number string) *issue.Issue {
	n, err := strconv.Atoi(number)
	if err != nil || !issue.Number.MatchString(number) {
		return nil
	}
	is, err := issue.Reference{Repository: c.src.GitHub, Number: n}.ReadFrom(ctx, c.gh.Client)
	if err != nil {
		c.add(trouble("issue", err))
		return nil
	}
	c.add(well("issue", fmt.Sprintf("#%d %s", n, is.Title)))
	return &is
}

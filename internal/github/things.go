package github

import (
	"cmp"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/google/go-github/v60/github"

	"github.com/reprise-ci/reprise/internal/text"
)

// User is an account.
type User struct {
	Login string
	ID    int64
	Type  string // User, Bot, Organization, Mannequin, or empty
}

// is reports whether two accounts are the same. Names can be taken over by
// somebody else, so the number decides where both have one.
func (u User) is(other User) bool {
	if u.ID != 0 && other.ID != 0 {
		return u.ID == other.ID
	}
	return u.Login != "" && strings.EqualFold(u.Login, other.Login)
}

// IsBot reports whether an account is a program, as the forge says or, where it does not, as its name does.
func (u User) IsBot() bool { return u.Type == "Bot" || strings.HasSuffix(u.Login, "[bot]") }

func userOf(u *github.User) User { return User{u.GetLogin(), u.GetID(), u.GetType()} }

// Comment is a comment on an issue or a pull request.
type Comment struct {
	ID                   int64
	NodeID               string // of the GraphQL API; empty if there is none
	Body                 string // Markdown; line ends may be \r\n
	Author               User
	URL                  string    // for people; empty if the forge gave none that is safe to keep
	CreatedAt, UpdatedAt time.Time // zero if the forge did not say
	// Association is what the forge calls the author in this repository, such as
	// MEMBER. It says who may have a right, and not who has.
	Association string

	Reactions Reactions
}

// Reactions are how many have reacted to a comment, whoever they are: anybody may. 0 also if the forge did not say.
type Reactions struct{ Eyes, Confused, Rocket, ThumbsDown int }

// None reports whether nobody has, as far as the forge says.
func (r Reactions) None() bool { return r == Reactions{} }

// Edited reports whether a comment may not read any more as it did when it was written.
func (c Comment) Edited() bool {
	return c.CreatedAt.IsZero() || c.UpdatedAt.IsZero() || !c.CreatedAt.Equal(c.UpdatedAt)
}

// IsStranger reports whether the forge calls the author somebody who can hardly have a right.
func (c Comment) IsStranger() bool {
	return !slices.Contains([]string{"OWNER", "MEMBER", "COLLABORATOR"}, c.Association)
}

func commentOf(c *github.IssueComment) Comment {
	out := Comment{
		ID: c.GetID(), NodeID: c.GetNodeID(), Body: c.GetBody(), Author: userOf(c.User), URL: commentURL(c.GetHTMLURL()), Association: c.GetAuthorAssociation(),
		CreatedAt: c.GetCreatedAt().Time, UpdatedAt: c.GetUpdatedAt().Time,
		Reactions: Reactions{c.Reactions.GetEyes(), c.Reactions.GetConfused(), c.Reactions.GetRocket(), c.Reactions.GetMinusOne()},
	}
	out.Author.Login = cmp.Or(out.Author.Login, "ghost") // as GitHub shows those who have left
	return out
}

// Issue is an issue as it read when it was asked for.
type Issue struct {
	ID        int64 // in the whole forge; 0 if it gave none
	Number    int
	Title     string
	Body      string // Markdown; line ends may be \r\n
	URL       string // for people; empty if the forge gave none that is safe to keep
	Author    string // login; empty if the account is gone
	Labels    []string
	Type      string // such as "Bug", where issues have types
	State     string // "open" or "closed"
	Locked    bool   // only collaborators may comment
	IsPull    bool   // it is a pull request; every pull request is an issue, too
	BlockedBy int    // open issues that it depends on, where a forge knows of such
	UpdatedAt time.Time
}

// typedIssue is an issue as it is sent, with its type, which the library does not know.
type typedIssue struct {
	github.Issue
	Type         struct{ Name string } `json:"type"`
	IsLocked     bool                  `json:"is_locked"` // so called by Gitea and Forgejo
	Dependencies struct {
		BlockedBy int `json:"blocked_by"`
	} `json:"issue_dependencies_summary"`
}

func (w *typedIssue) issue() Issue {
	out := Issue{
		ID: w.GetID(), Number: w.GetNumber(), Title: w.GetTitle(), Body: w.GetBody(), URL: safeURL(w.GetHTMLURL()), Author: w.GetUser().GetLogin(),
		Type: w.Type.Name, State: w.GetState(), Locked: w.GetLocked() || w.IsLocked, IsPull: w.IsPullRequest(), UpdatedAt: w.GetUpdatedAt().Time,
		BlockedBy: w.Dependencies.BlockedBy,
	}
	for _, l := range w.Labels {
		out.Labels = append(out.Labels, l.GetName())
	}
	return out
}

// Pull is a pull request as it was when it was asked for.
type Pull struct {
	Number         int
	URL            string // for people
	NodeID         string // of the GraphQL API
	Title          string
	Body           string // Markdown
	Head           string // the branch with the change
	Commit         string // that it is at
	Base           string // the branch that is to get it
	State          string // "open" or "closed"
	Merged         bool   // where one was asked for alone
	Draft          bool
	HeadRepository string // owner/name where Head is; empty if that is gone
}

func pullOf(p *github.PullRequest) Pull {
	return Pull{
		Number: p.GetNumber(), URL: safeURL(p.GetHTMLURL()), NodeID: p.GetNodeID(), Title: p.GetTitle(), Body: p.GetBody(), State: p.GetState(),
		Head: p.GetHead().GetRef(), Commit: p.GetHead().GetSHA(), Base: p.GetBase().GetRef(), Draft: p.GetDraft(), Merged: p.GetMerged(),
		HeadRepository: p.GetHead().GetRepo().GetFullName(),
	}
}

// nowhere begins the path of what cannot be: do refuses it.
const nowhere = "nowhere"

// Repo is a repository of the GitHub that a client talks to.
type Repo struct {
	*Client
	Name string // owner/name
}

// In gives the repository of that name, owner/name. One that cannot be is refused when it is asked for anything.
func (c *Client) In(name string) Repo { return Repo{c, name} }

// path begins the path of everything in a repository.
func (c Repo) path() string {
	if c.Name == "" || checkName(c.Name) != nil {
		return nowhere
	}
	return "repos/" + c.Name
}

// numbered is the path of one of the things in a repository that have numbers.
func (c Repo) numbered(things string, n int64) string {
	if n <= 0 {
		return nowhere
	}
	return fmt.Sprintf("%s/%s/%d", c.path(), things, n)
}

var nameForm = text.Pattern(`^[A-Za-z0-9._-]{1,100}$`)

// isName reports whether a text can be the name of an owner or a repository, and stays one part of a path.
func isName(s string) bool { return nameForm().MatchString(s) && s != "." && s != ".." }

// safeURL lets an address pass that can be shown and kept.
func safeURL(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil {
		return ""
	}
	u.RawQuery, u.Fragment = "", ""
	return u.String()
}

var fragmentForm = text.Pattern(`^[A-Za-z0-9_-]{1,100}$`)

// commentURL is safeURL with the fragment that leads to one comment.
func commentURL(address string) string {
	out := safeURL(address)
	if _, fragment, _ := strings.Cut(address, "#"); out != "" && fragmentForm().MatchString(fragment) {
		out += "#" + fragment
	}
	return out
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return strings.TrimSuffix(line, "\r")
}

// marked is a text that begins with its marker, and no longer than a comment may be.
func marked(marker, body string) (string, error) {
	if !strings.HasPrefix(marker, "<!--") || !strings.HasSuffix(marker, "-->") || strings.ContainsAny(marker, "\r\n") || len(marker) > 1000 {
		return "", fmt.Errorf("%q is no marker: it takes an HTML comment on one line", marker)
	}
	if firstLine(body) != marker {
		body = marker + "\n" + body
	}
	return cut(body), nil
}

// maxText is the most that GitHub takes as a comment or a body, in units of UTF-16.
const maxText = 65_536

// cut keeps the beginning of a text that is too long.
func cut(text string) string {
	if len(text) <= maxText {
		return text // no text has more units than bytes
	}
	units := 0
	for i, r := range text {
		units += max(utf16.RuneLen(r), 1)
		if units > maxText {
			return text[:i]
		}
	}
	return text
}

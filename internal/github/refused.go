package github

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"unicode"

	"github.com/google/go-github/v60/github"

	"github.com/reprise-ci/reprise/internal/text"
)

// refused is for an answer between 400 and 499.
func (f forge) refused(c *call, resp *http.Response, said string) *Error {
	switch resp.StatusCode {
	case http.StatusUnauthorized:
		switch {
		case f.token == "":
			return f.problem(c.What, BadToken, text.CauseOf("github_asks_token", "asks for a token"), text.CauseOf("do_set_token", "set GITHUB_TOKEN"), nil)
		case c.Method == http.MethodGet:
			return f.problem(c.What, BadToken, badToken, text.CauseOf("do_valid_token_or_none", "set GITHUB_TOKEN to one that is valid; what is public can be read without"), nil)
		}
		return f.problem(c.What, BadToken, badToken, text.CauseOf("do_valid_token", "set GITHUB_TOKEN to one that is valid"), nil)
	case http.StatusForbidden, http.StatusUnavailableForLegalReasons:
		return f.problem(c.What, Forbidden, forbids, f.allow(c, resp.Header, said), nil)
	case http.StatusNotFound:
		return f.problem(c.What, NotFound, hides, text.CauseOf("do_check_names", "check owner, name and number; {rights}", "rights", f.moreRights(c, resp.Header)), nil)
	case http.StatusGone:
		return f.problem(c.What, Gone, text.CauseOf("github_gone", "does not have it any more"), text.CauseOf("do_check_gone", "check the number; it was deleted, or issues are switched off in this repository"), nil)
	}
	return f.problem(c.What, Refused, refuses, checkRequest, nil)
}

// Causes that several answers have.
var (
	badToken     = text.CauseOf("github_bad_token", "does not take the token")
	forbids      = text.CauseOf("github_forbids", "does not allow it")
	hides        = text.CauseOf("github_hides", "does not have it, or does not show it")
	refuses      = text.CauseOf("github_refuses", "refuses")
	checkRequest = text.CauseOf("do_check_request", "check what was asked for")
	tryLater     = text.CauseOf("do_try_later", "try again later")
	tryThen      = text.CauseOf("do_try_then", "try again after that")
)

// allow says what would let a call pass that is forbidden.
func (f forge) allow(c *call, h http.Header, said string) text.Cause {
	said = strings.ToLower(said)
	switch {
	case strings.Contains(said, "not permitted to create or approve pull requests"):
		return text.CauseOf("do_allow_pulls", "switch on `Allow GitHub Actions to create and approve pull requests` in Settings > Actions > General, or give the token of an app or a person")
	case strings.Contains(said, "is locked"):
		return text.CauseOf("do_unlock", "unlock the conversation")
	case strings.Contains(said, "commenting is disabled"): // GitHub takes 2,500 comments on an issue
		return text.CauseOf("do_new_issue", "go on in a new issue")
	case strings.Contains(said, "archived"):
		return text.CauseOf("do_unarchive", "take the repository out of the archive")
	case h.Get("X-Github-Sso") != "" || strings.Contains(said, "saml"): // a query has no such header
		return text.CauseOf("do_sign_on", "authorize the token for the single sign-on of the organization")
	case strings.Contains(said, "ip allow list"):
		return text.CauseOf("do_allow_address", "put the address of this machine on that list, or work on a machine that is on it")
	case strings.Contains(said, "organization") && (strings.Contains(said, "forbids") || strings.Contains(said, "restrictions")):
		return text.CauseOf("do_other_token", "give a token of a kind that the organization takes, such as that of an app")
	}
	return f.moreRights(c, h)
}

var permissionsForm = regexp.MustCompile(`^[a-z_]+=[a-z]+([,;] ?[a-z_]+=[a-z]+)*$`)

// moreRights says what would let somebody see or do more. GitHub names the permissions itself on most answers: those
// after a comma are needed together, those after a semicolon instead of the others. They are written as in a
// workflow.
func (f forge) moreRights(c *call, h http.Header) text.Cause {
	needs := c.Needs
	if c.gitea != "" && strings.HasSuffix(strings.TrimSuffix(f.base.Path, "/"), "/api/v1") {
		needs = c.gitea
	}
	if told := h.Get("X-Accepted-Github-Permissions"); len(told) <= 200 && permissionsForm.MatchString(told) {
		needs = strings.NewReplacer("; ", " or ", ";", " or ", ", ", " and ", ",", " and ", "=", ": ", "_", "-").Replace(told)
	}
	switch {
	case f.token == "" && c.Method == http.MethodGet:
		return text.CauseOf("do_private_token", "a private repository needs a token in GITHUB_TOKEN")
	case f.token == "":
		return text.CauseOf("do_needs_token", "this needs a token in GITHUB_TOKEN")
	case needs == "":
		return text.CauseOf("do_more_rights", "the token needs more permissions")
	}
	return text.CauseOf("do_rights", "the token needs {rights}", "rights", needs)
}

// said reads GitHub's own message out of an answer, fit for a terminal: a sentence, and the
// reasons why something was refused as invalid.
func (f forge) said(body []byte) string {
	var answer github.ErrorResponse
	// A field that has another form leaves the others as they are. Without any message the status says it all.
	_ = json.Unmarshal(body, &answer)
	parts := []string{answer.Message}
	for _, e := range answer.Errors[:min(len(answer.Errors), 5)] {
		parts = append(parts, cmp.Or(e.Message, strings.TrimSpace(e.Field+" "+e.Code)))
	}
	return f.clean(strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "" }), ": "))
}

// clean makes a foreign text fit for a terminal: one short line, no token.
func (f forge) clean(text string) string {
	text = strings.Join(strings.FieldsFunc(f.redact(text), func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }), " ")
	const most = 300
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "..."
	}
	return text
}

// wrong is an answer that is not what was asked for.
func wrong(how string) text.Cause { return text.CauseOf("github_wrong", "{how}", "how", how) }

// misfit says in what an answer differs from what was expected.
func misfit(err error) string {
	if field, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && field.Field != "" {
		return fmt.Sprintf("its %s is a %s", strings.TrimPrefix(field.Field, "Issue."), field.Value)
	}
	return "it is not what was asked for"
}

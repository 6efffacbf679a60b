package github

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"unicode"
)

// refused is for an answer between 400 and 499.
func (m manners) refused(c *call, resp *http.Response, said string) *Error {
	switch resp.StatusCode {
	case http.StatusUnauthorized:
		return m.problem(c, BadToken, m.badToken(), m.goodToken(c), nil)
	case http.StatusForbidden, http.StatusUnavailableForLegalReasons:
		return m.problem(c, Forbidden, "does not allow it", m.allow(c, resp.Header, said), nil)
	case http.StatusNotFound:
		return m.problem(c, NotFound, "does not have it, or does not show it", "check owner, name and number; "+m.moreRights(c, resp.Header), nil)
	case http.StatusGone:
		return m.problem(c, Gone, "does not have it any more", "check the number; it was deleted, or issues are switched off in this repository", nil)
	}
	return m.problem(c, Refused, "refuses", "check what was asked for", nil)
}

func (m manners) badToken() string {
	if m.token == "" {
		return "asks for a token"
	}
	return "does not take the token"
}

func (m manners) goodToken(c *call) string {
	switch {
	case m.token == "":
		return "set GITHUB_TOKEN"
	case c.method == http.MethodGet:
		return "set GITHUB_TOKEN to one that is valid; what is public can be read without"
	}
	return "set GITHUB_TOKEN to one that is valid"
}

// allow says what would let a call pass that is forbidden. The permission of
// the token is only one of the reasons that GitHub has.
func (m manners) allow(c *call, h http.Header, said string) string {
	said = strings.ToLower(said)
	switch {
	case strings.Contains(said, "not permitted to create or approve pull requests"):
		return "switch on \"Allow GitHub Actions to create and approve pull requests\" in Settings > Actions > General, or give the token of an app or a person"
	case strings.Contains(said, "is locked"):
		return "unlock the conversation"
	case strings.Contains(said, "archived"):
		return "take the repository out of the archive"
	case h.Get("X-Github-Sso") != "":
		return "authorize the token for the single sign-on of the organization"
	}
	return m.moreRights(c, h)
}

var permissionsForm = regexp.MustCompile(`^[a-z_]+=[a-z]+([,;] ?[a-z_]+=[a-z]+)*$`)

// moreRights says what would let somebody see or do more. GitHub names the
// permissions itself on most answers: those after a comma are needed together,
// those after a semicolon instead of the others. They are written as in a
// workflow.
func (m manners) moreRights(c *call, h http.Header) string {
	needs := c.needs
	if c.gitea != "" && strings.HasSuffix(strings.TrimSuffix(m.base.Path, "/"), "/api/v1") {
		needs = c.gitea
	}
	if told := h.Get("X-Accepted-Github-Permissions"); len(told) <= 200 && permissionsForm.MatchString(told) {
		needs = strings.NewReplacer("; ", " or ", ";", " or ", ", ", " and ", ",", " and ", "=", ": ", "_", "-").Replace(told)
	}
	switch {
	case m.token == "" && c.method == http.MethodGet:
		return "a private repository needs a token in GITHUB_TOKEN"
	case m.token == "":
		return "this needs a token in GITHUB_TOKEN"
	case needs == "":
		return "the token needs more rights"
	}
	return "the token needs " + needs
}

// said reads GitHub's own message out of an answer, fit for a terminal.
func (m manners) said(body []byte) string {
	var answer struct {
		Message string            `json:"message"`
		Errors  []json.RawMessage `json:"errors"`
	}
	// A field that has another form leaves the others as they are. Without any
	// message the status says it all.
	_ = json.Unmarshal(body, &answer)
	var parts []string
	for _, part := range append([]string{answer.Message}, details(answer.Errors)...) {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return m.clean(strings.Join(parts, ": "))
}

// clean makes a foreign text fit for a terminal: one short line, no token.
func (m manners) clean(text string) string {
	text = strings.Join(strings.FieldsFunc(m.redact(text), func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }), " ")
	const most = 200
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "..."
	}
	return text
}

// details are the reasons why something was refused as invalid: a sentence, or
// the name of a field and a code.
func details(list []json.RawMessage) []string {
	var out []string
	for _, raw := range list[:min(len(list), 5)] {
		var text string
		var object struct{ Message, Field, Code string }
		switch {
		case json.Unmarshal(raw, &text) == nil:
		case json.Unmarshal(raw, &object) == nil && object.Message != "":
			text = object.Message
		default:
			text = strings.TrimSpace(object.Field + " " + object.Code)
		}
		out = append(out, text)
	}
	return out
}

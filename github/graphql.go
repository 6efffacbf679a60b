package github

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
)

// query asks the other API of GitHub, for what the usual one does not have.
// The call says whether it may be repeated.
func (c *Client) query(ctx context.Context, k *call, query string, variables map[string]any, into any) error {
	k.graphql = true
	var answer struct {
		Data json.RawMessage `json:"data"`
	}
	path := "graphql"
	if base := c.manners.base.Path; strings.HasSuffix(base, "/api/v3/") { // GitHub Enterprise
		path = strings.TrimSuffix(base, "v3/") + "graphql"
	}
	if err := c.do(ctx, k, http.MethodPost, path, map[string]any{"query": query, "variables": variables}, &answer); err != nil {
		return err
	}
	if err := json.Unmarshal(answer.Data, into); err != nil {
		return c.misfit(k, misfit(err), err)
	}
	return nil
}

// judgeQuery finds the errors in the answer to a query.
func (m manners) judgeQuery(c *call, resp *http.Response, body []byte) *Error {
	var answer struct {
		Errors []struct{ Type, Message string } `json:"errors"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return m.unreadable(c, misfit(err), err).mayBeDone()
	}
	if len(answer.Errors) == 0 {
		return nil
	}
	first := answer.Errors[0]
	var p *Error
	switch first.Type {
	case "RATE_LIMITED", "RATE_LIMIT":
		m.untilReset(c, resp.Header)
		p = m.rateLimited(c)
	case "FORBIDDEN", "INSUFFICIENT_SCOPES":
		p = m.problem(c, Forbidden, "does not allow it", m.allow(c, resp.Header, first.Message), nil)
	case "NOT_FOUND":
		p = m.problem(c, NotFound, "does not have it, or does not show it", m.moreRights(c, resp.Header), nil)
	default:
		p = m.problem(c, Refused, "refuses", "check what was asked for", nil)
	}
	p.Said = m.clean(first.Message)
	return p
}

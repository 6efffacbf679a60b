package github

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
)

// query asks the other API of GitHub, for what the usual one does not have.
// The call says whether it may be repeated.
func (a *api) query(ctx context.Context, k *call, query string, variables map[string]any, into any) error {
	k.graphql = true
	var answer struct {
		Data json.RawMessage `json:"data"`
	}
	path := "graphql"
	if base := a.retry.base.Path; strings.HasSuffix(base, "/api/v3/") { // GitHub Enterprise
		path = strings.TrimSuffix(base, "v3/") + "graphql"
	}
	if err := a.do(ctx, k, request{http.MethodPost, path, map[string]any{"query": query, "variables": variables}}, &answer); err != nil {
		return err
	}
	if err := json.Unmarshal(answer.Data, into); err != nil {
		return a.misfit(k, misfit(err), err)
	}
	return nil
}

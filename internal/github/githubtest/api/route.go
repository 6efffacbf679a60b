package api

import (
	"net/url"
	"strings"
)

// route is one operation of the API.
type route struct {
	method string
	path   string // as GitHub writes it, such as /repos/{owner}/{repo}
	// needs are the permissions that let a limited token in, as GitHub lists
	// them in a header; one of them is enough. Empty: none can be granted.
	needs string
	role  string // the least that a person needs; "": to see it; "anybody": to be somebody
	// content marks what GitHub counts as creating content.
	content bool
	do      func(*visit) Result // nil: see Extend
}

// Permissions as GitHub lists them.
const (
	metadataRead = "metadata=read"
	issuesRead   = "issues=read; pull_requests=read"
	issuesWrite  = "issues=write; pull_requests=write"
	pullsRead    = "pull_requests=read"
	pullsWrite   = "pull_requests=write"
	contentsRead = "contents=read"
)

const inRepo = "/repos/{owner}/{repo}"

// writes reports whether an operation changes something.
func (r *route) writes() bool { return r.method != "GET" && r.path != "/graphql" }

// find finds the route of a path, and what stands in its places.
func find(all []route, method, path string) (*route, map[string]string) {
	for i, r := range all {
		if r.method != method {
			continue
		}
		if params, ok := match(r.path, path); ok {
			return &all[i], params
		}
	}
	return nil, nil
}

// match fits a path into a pattern. A branch, another ref or a file may have slashes:
// it is the rest.
func match(pattern, path string) (map[string]string, bool) {
	params := map[string]string{}
	want, got := strings.Split(pattern, "/"), strings.Split(path, "/")
	for i, part := range want {
		if i >= len(got) {
			return nil, false
		}
		name, isParam := strings.CutPrefix(part, "{")
		name = strings.TrimSuffix(name, "}")
		value := got[i]
		if i == len(want)-1 {
			if name == "ref" || name == "branch" || name == "path" {
				value = strings.Join(got[i:], "/")
			} else if len(got) != len(want) {
				return nil, false
			}
		}
		value, err := url.PathUnescape(value)
		if err != nil || value == "" && isParam || !isParam && value != part {
			return nil, false
		}
		if isParam {
			params[name] = value
		}
	}
	return params, true
}

package api

import (
	"strings"

	"github.com/reprise-ci/reprise/internal/github/githubtest/query"
	"github.com/reprise-ci/reprise/internal/github/githubtest/shape"
	"github.com/reprise-ci/reprise/internal/github/githubtest/state"
)

// GitHub's description of the REST API says nothing of GraphQL. A query is
// read and answered with the fields that it asks for, so one that names a
// field which is not there is refused as GitHub refuses it.

// graphHandler answers requests about what only GraphQL has.
type graphHandler struct{ *visit }

func (h graphHandler) graphQL() Result {
	text, _ := field[string](h.visit, "query")
	if strings.TrimSpace(text) == "" {
		return ok(object{"errors": []any{object{"message": "A query attribute must be specified and must be a string."}}})
	}
	variables, _ := field[object](h.visit, "variables")
	fields, err := query.Read(text, variables)
	if err != nil {
		return ok(object{"errors": []any{object{"message": "Parse error: " + err.Error()}}})
	}
	data, wrong := object{}, []any{}
	for _, f := range fields {
		value, problem := h.resolveField(f)
		if problem == nil {
			value, problem = pick(f, value)
		}
		if problem != nil {
			value = nil
			problem["path"] = []any{f.Name}
			wrong = append(wrong, problem)
		}
		data[f.Name] = value
	}
	out := object{"data": data}
	if len(wrong) > 0 {
		out["errors"] = wrong
	}
	return ok(out)
}

// resolveField is a field at the top of a query.
func (h graphHandler) resolveField(f query.Field) (any, object) {
	switch f.Name {
	case "viewer":
		return object{"login": h.login(), "databaseId": state.UserID(h.login()), "id": state.Node("U", state.UserID(h.login()))}, nil
	case "markPullRequestReadyForReview", "convertPullRequestToDraft":
		return h.setDraft(f, f.Name == "convertPullRequestToDraft")
	case "minimizeComment":
		return h.minimize(f)
	}
	return nil, unknownField(f.Name)
}

func (h graphHandler) setDraft(f query.Field, draft bool) (any, object) {
	input, _ := f.Arguments["input"].(object)
	id, _ := input["pullRequestId"].(string)
	for _, repo := range h.Repositories() {
		for _, p := range repo.Pulls {
			if p.NodeID() != id || repo.Private && !h.sees(repo) {
				continue
			}
			h.repo = repo
			switch {
			case !h.token.Grants(repo.FullName(), pullsWrite, true), !h.has("write") && repo.Issues[p.Number].Author != h.login():
				return nil, object{"type": "FORBIDDEN", "message": h.notAccessible(), "extensions": object{"saml_failure": false}}
			case repo.Issues[p.Number].State != "open":
				return nil, object{"type": "UNPROCESSABLE", "message": "Pull request is closed"}
			}
			p.Draft, repo.Issues[p.Number].Updated = draft, h.Tick()
			return object{"clientMutationId": input["clientMutationId"], "pullRequest": object{
				"id": id, "number": p.Number, "isDraft": draft, "state": "OPEN", "url": shape.At(h.show.WebOf(repo), "pull", p.Number), "title": repo.Issues[p.Number].Title,
			}}, nil
		}
	}
	return nil, object{"type": "NOT_FOUND", "message": "Could not resolve to a node with the global id of '" + id + "'"}
}

func (h graphHandler) minimize(f query.Field) (any, object) {
	input, _ := f.Arguments["input"].(object)
	for _, repo := range h.Repositories() {
		for _, c := range repo.Comments {
			if state.Node("IC", c.ID) == input["subjectId"] && h.token.Grants(repo.FullName(), issuesWrite, repo.Issues[c.Issue].Pull) {
				c.Minimized, _ = input["classifier"].(string)
				return object{"minimizedComment": object{"isMinimized": true}}, nil
			}
		}
	}
	return nil, object{"type": "NOT_FOUND", "message": "Could not resolve to a node"}
}

func unknownField(name string) object {
	return object{
		"message":    "Field '" + name + "' doesn't exist",
		"extensions": object{"code": "undefinedField", "fieldName": name},
	}
}

// pick takes the fields that were asked for.
func pick(f query.Field, value any) (any, object) {
	o, isObject := value.(object)
	switch {
	case !isObject && len(f.Fields) > 0:
		return nil, object{"message": "Selections can't be made on scalars (field '" + f.Name + "')"}
	case !isObject:
		return value, nil
	case len(f.Fields) == 0:
		return nil, object{"message": "Field must have selections (field '" + f.Name + "')"}
	}
	out := object{}
	for _, sub := range f.Fields {
		if sub.Name == "__typename" {
			continue
		}
		inner, known := o[sub.Name]
		if !known {
			return nil, unknownField(sub.Name)
		}
		picked, problem := pick(sub, inner)
		if problem != nil {
			return nil, problem
		}
		out[sub.Name] = picked
	}
	return out, nil
}

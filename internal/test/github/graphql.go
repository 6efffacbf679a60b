package github

import "strings"

// GitHub's description of the REST API says nothing of GraphQL. A query is
// read and answered with the fields that it asks for, so one that names a
// field which is not there is refused as GitHub refuses it.

// graphQL answers what only GraphQL has.
func (v *visit) graphQL() reply {
	text := v.text("query")
	if strings.TrimSpace(text) == "" {
		return ok(object{"errors": []any{object{"message": "A query attribute must be specified and must be a string."}}})
	}
	variables, _ := field[object](v, "variables")
	fields, err := readQuery(text, variables)
	if err != nil {
		return ok(object{"errors": []any{object{"message": "Parse error: " + err.Error()}}})
	}
	data, wrong := object{}, []any{}
	for _, f := range fields {
		value, problem := v.resolve(f)
		if problem == nil {
			value, problem = pick(f, value)
		}
		if problem != nil {
			value, problem["path"] = nil, []any{f.Name}
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

// resolve is a field at the top of a query.
func (v *visit) resolve(f queried) (value any, problem object) {
	input, _ := f.Arguments["input"].(object)
	switch f.Name {
	case "viewer":
		id := UserID(v.login())
		return object{"login": v.login(), "databaseId": id, "id": nodeID("U", id)}, nil
	case "markPullRequestReadyForReview", "convertPullRequestToDraft":
		return v.setDraft(input, f.Name == "convertPullRequestToDraft")
	case "minimizeComment":
		return v.minimize(input)
	}
	return nil, unknownField(f.Name)
}

func (v *visit) setDraft(input object, draft bool) (any, object) {
	for _, repo := range v.repositories {
		for _, p := range repo.pulls {
			if p.NodeID() != input["pullRequestId"] || repo.private && !v.sees(repo) {
				continue
			}
			v.repo = repo
			is := repo.issues[p.Number]
			switch {
			case !v.token.grants(repo, pullsWrite, true), !v.has("write") && is.Author != v.login():
				return nil, object{"type": "FORBIDDEN", "message": v.notAccessible(), "extensions": object{"saml_failure": false}}
			case is.State != "open":
				return nil, object{"type": "UNPROCESSABLE", "message": "Pull request is closed"}
			}
			p.Draft, is.Updated = draft, v.tick()
			return object{"clientMutationId": input["clientMutationId"], "pullRequest": object{
				"id": p.NodeID(), "number": p.Number, "isDraft": draft, "state": "OPEN", "url": repo.pullObject(p)["html_url"], "title": is.Title,
			}}, nil
		}
	}
	return nil, object{"type": "NOT_FOUND", "message": "Could not resolve to a node with the global id"}
}

func (v *visit) minimize(input object) (any, object) {
	for _, repo := range v.repositories {
		for _, c := range repo.comments {
			if nodeID("IC", c.ID) == input["subjectId"] && v.token.grants(repo, issuesWrite, repo.issues[c.issue].Pull) {
				c.Minimized, _ = input["classifier"].(string)
				return object{"minimizedComment": object{"isMinimized": true}}, nil
			}
		}
	}
	return nil, object{"type": "NOT_FOUND", "message": "Could not resolve to a node"}
}

func unknownField(name string) object {
	return object{"message": "Field '" + name + "' doesn't exist", "extensions": object{"code": "undefinedField", "fieldName": name}}
}

// pick takes the fields that were asked for.
func pick(f queried, value any) (any, object) {
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

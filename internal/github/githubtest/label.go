package githubtest

import (
	"net/http"
	"slices"
	"strings"
)

func (s *Server) labelObjects(repo *repository, names []string) []any {
	out := []any{}
	for _, name := range names {
		id := UserID(name)
		out = append(out, object{
			"id": id, "node_id": node("LA", id), "url": at(s.apiOf(repo), "labels", name), "name": name, "color": "d73a4a", "default": false, "description": "",
		})
	}
	return out
}

// sentLabels are the labels that were sent, as names or as objects, each once.
func (v *visit) sentLabels() []string {
	sent, isList := v.in.input.([]any)
	if !isList {
		sent, _ = field[[]any](v, "labels")
	}
	var out []string
	for _, x := range sent {
		name, isName := x.(string)
		if o, isObject := x.(object); !isName && isObject {
			name, _ = o["name"].(string)
		}
		if name != "" && !slices.ContainsFunc(out, same(name)) {
			out = append(out, name)
		}
	}
	return out
}

// same compares labels, which differ in more than large and small letters.
func same(name string) func(string) bool {
	return func(other string) bool { return strings.EqualFold(name, other) }
}

func (v *visit) listLabels() result {
	return page(v, v.labelObjects(v.repo, v.issue.Labels), func(l any) any { return l })
}

func (v *visit) addLabels() result {
	for _, name := range v.sentLabels() {
		if !slices.ContainsFunc(v.issue.Labels, same(name)) {
			v.issue.Labels = append(v.issue.Labels, name)
		}
	}
	v.issue.Updated = v.tick()
	return ok(v.labelObjects(v.repo, v.issue.Labels))
}

func (v *visit) removeLabel() result {
	i := slices.IndexFunc(v.issue.Labels, same(v.in.params["name"]))
	if i < 0 {
		return refuse(http.StatusNotFound, "Label does not exist")
	}
	v.issue.Labels = slices.Delete(v.issue.Labels, i, i+1)
	v.issue.Updated = v.tick()
	return ok(v.labelObjects(v.repo, v.issue.Labels))
}

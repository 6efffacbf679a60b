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

// labelHandler answers requests about labels.
type labelHandler struct{ *visit }

// sentLabels are the labels that were sent, as names or as objects, each once.
func (h labelHandler) sentLabels() []string {
	sent, isList := h.in.input.([]any)
	if !isList {
		sent, _ = field[[]any](h.visit, "labels")
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

func (h labelHandler) listLabels() result {
	return page(h.visit, h.labelObjects(h.repo, h.issue.Labels), func(l any) any { return l })
}

func (h labelHandler) addLabels() result {
	for _, name := range h.sentLabels() {
		if !slices.ContainsFunc(h.issue.Labels, same(name)) {
			h.issue.Labels = append(h.issue.Labels, name)
		}
	}
	h.issue.Updated = h.tick()
	return ok(h.labelObjects(h.repo, h.issue.Labels))
}

func (h labelHandler) removeLabel() result {
	i := slices.IndexFunc(h.issue.Labels, same(h.in.params["name"]))
	if i < 0 {
		return refuse(http.StatusNotFound, "Label does not exist")
	}
	h.issue.Labels = slices.Delete(h.issue.Labels, i, i+1)
	h.issue.Updated = h.tick()
	return ok(h.labelObjects(h.repo, h.issue.Labels))
}

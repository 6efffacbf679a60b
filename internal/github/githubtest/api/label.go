package api

import (
	"net/http"
	"slices"
	"strings"
)

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

func (h labelHandler) listLabels() Result {
	return page(h.visit, h.show.Labels(h.repo, h.issue.Labels), func(l any) any { return l })
}

func (h labelHandler) addLabels() Result {
	for _, name := range h.sentLabels() {
		if !slices.ContainsFunc(h.issue.Labels, same(name)) {
			h.issue.Labels = append(h.issue.Labels, name)
		}
	}
	h.issue.Updated = h.Tick()
	return ok(h.show.Labels(h.repo, h.issue.Labels))
}

func (h labelHandler) removeLabel() Result {
	i := slices.IndexFunc(h.issue.Labels, same(h.in.params["name"]))
	if i < 0 {
		return refuse(http.StatusNotFound, "Label does not exist")
	}
	h.issue.Labels = slices.Delete(h.issue.Labels, i, i+1)
	h.issue.Updated = h.Tick()
	return ok(h.show.Labels(h.repo, h.issue.Labels))
}

package api

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
)

// page answers with one page of a list, and says where the others are.
func page[T any](v *visit, all []T, show func(T) any) Result {
	size := min(positive(v.in.Query.Get("per_page"), 30), 100)
	n := positive(v.in.Query.Get("page"), 1)
	last := max((len(all)+size-1)/size, 1)
	out := []any{}
	for _, x := range all[min((n-1)*size, len(all)):min(n*size, len(all))] {
		out = append(out, show(x))
	}
	r := ok(out)
	var links []string
	link := func(to int, rel string) {
		q := url.Values{}
		for k, values := range v.in.Query {
			q[k] = values
		}
		q.Set("page", strconv.Itoa(to))
		links = append(links, fmt.Sprintf(`<%s%s?%s>; rel="%s"`, v.show.API, v.in.Path, q.Encode(), rel))
	}
	if n > 1 {
		link(min(n-1, last), "prev")
	}
	if n < last {
		link(n+1, "next")
		link(last, "last")
	}
	if n > 1 {
		link(1, "first")
	}
	if len(links) > 0 {
		r.header = map[string]string{"Link": strings.Join(links, ", ")}
	}
	return r
}

func positive(s string, otherwise int) int {
	if n, err := strconv.Atoi(s); err == nil && n > 0 {
		return n
	}
	return otherwise
}

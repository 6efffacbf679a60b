package api

import (
	"net/http"
	"strconv"
	"time"
)

// count notes what an answer costs, and says what is left. It never runs out by itself. To
// be told that nothing has changed is free.
func (v *visit) count(out Reply) {
	limit, used := 60, 0
	if v.token != nil {
		if out.Status != http.StatusNotModified {
			v.token.Used++
		}
		limit, used = 5000, v.token.Used
	}
	used = min(used, limit-1)
	h := out.Header
	h["X-RateLimit-Limit"] = strconv.Itoa(limit)
	h["X-RateLimit-Remaining"] = strconv.Itoa(limit - used)
	h["X-RateLimit-Used"] = strconv.Itoa(used)
	h["X-RateLimit-Resource"] = "core"
	h["X-RateLimit-Reset"] = strconv.FormatInt(v.Time().Add(time.Hour).Unix(), 10)
}

// tooMuch refuses one request too many that creates content.
func (v *visit) tooMuch() *Result {
	if !v.in.route.content {
		return nil
	}
	wait := v.Content.Take(v.Time())
	if wait == 0 {
		return nil
	}
	no := refuse(http.StatusForbidden, secondaryMessage)
	no.header = map[string]string{"Retry-After": strconv.Itoa(int(wait.Seconds() + 0.999))}
	return &no
}

const secondaryMessage = "You have exceeded a secondary rate limit and have been temporarily blocked from content creation. " +
	"Please retry your request again later."

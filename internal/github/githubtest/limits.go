package githubtest

import (
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// count notes what an answer costs, and says what is left. It never runs out
// by itself; see LimitReached. To be told that nothing has changed is free.
func (s *Server) count(t *token, out reply) {
	limit, used := 60, 0
	if t != nil {
		if out.status != http.StatusNotModified {
			t.used++
		}
		limit, used = 5000, t.used
	}
	used = min(used, limit-1)
	h := out.header
	h["X-RateLimit-Limit"] = strconv.Itoa(limit)
	h["X-RateLimit-Remaining"] = strconv.Itoa(limit - used)
	h["X-RateLimit-Used"] = strconv.Itoa(used)
	h["X-RateLimit-Resource"] = "core"
	h["X-RateLimit-Reset"] = fmt.Sprint(s.time().Add(time.Hour).Unix())
}

// secondary is the limit on creating content.
type secondary struct {
	most   int // 0: none
	window time.Duration
	times  []time.Time
}

// LimitContent lets most requests that create content pass within a window of
// the server's clock; further ones are refused as GitHub does it, and have no
// effect. 0: no limit. See Counts for which ones they are.
func (s *Server) LimitContent(most int, window time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.limit = secondary{most: most, window: window}
}

// tooMuch refuses one request too many that creates content.
func (v *visit) tooMuch() *result {
	l := &v.limit
	if !v.in.route.content || l.most == 0 {
		return nil
	}
	now := v.time()
	for len(l.times) > 0 && now.Sub(l.times[0]) >= l.window {
		l.times = l.times[1:]
	}
	if len(l.times) < l.most {
		l.times = append(l.times, now)
		return nil
	}
	no := refuse(http.StatusForbidden, secondaryMessage)
	no.header = map[string]string{"Retry-After": strconv.Itoa(int(l.window.Seconds() - now.Sub(l.times[0]).Seconds() + 0.999))}
	return &no
}

const secondaryMessage = "You have exceeded a secondary rate limit and have been temporarily blocked from content creation. " +
	"Please retry your request again later."

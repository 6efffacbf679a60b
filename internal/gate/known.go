package gate

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"time"
)

// Known is a folder with what all calls of several runs know of the limits of services: a file for each service, key
// and model. Requests leave a moment apart, so that one is refused and not all. Until a service has room again, it is
// asked nothing; then by one request alone, and only when that is answered by all others.
type Known struct{ Dir string }

// known is what such a file says, in milliseconds since 1970.
type known struct {
	At    int64 `json:"at"`    // when it was written
	Until int64 `json:"until"` // when the service may have room again
	Row   int   `json:"row"`   // refusals in a row
	Asked int64 `json:"asked"` // when a request was let through last
}

const (
	longestHeld = time.Minute            // a request is held back; longer, and it is refused, so that the run waits
	longestAsk  = 30 * time.Second       // somebody who finds out has for an answer to begin
	apart       = 100 * time.Millisecond // one request leaves after another
	mostPause   = 64 * time.Second       // after refusals that do not say how long to wait
)

// file is where a request's service is known.
func (k *Known) file(x *exchange) string {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s %v %s", x.provider.Base, x.provider.Header, x.asked.model))
	return filepath.Join(k.Dir, fmt.Sprintf("%x", sum[:12]))
}

// await holds a request to a model back until its service may have room. If that takes too long, it says how long.
func (k *Known) await(ctx context.Context, x *exchange) (wait time.Duration) {
	if k == nil || x.purpose != asksModel || x.refusal != nil {
		return 0
	}
	for {
		wait = 0
		k.change(x, func(s *known, now time.Time) bool {
			left, since := time.UnixMilli(s.Until).Sub(now), now.Sub(time.UnixMilli(s.Asked))
			switch {
			case left > 0:
				wait = left
			case s.Until != 0 && s.Asked >= s.Until && since < longestAsk:
				wait = 200 * time.Millisecond
			case since < apart:
				wait = apart - since
			default:
				s.Asked = now.UnixMilli()
				x.sent = s.Asked
				return true
			}
			return false
		})
		if wait == 0 || wait > longestHeld {
			return wait
		}
		select {
		case <-time.After(min(wait, time.Second)): // the clock may jump
		case <-ctx.Done():
			return 0
		}
	}
}

// refused notes that a service has no room, and for how long.
func (k *Known) refused(x *exchange, wait time.Duration) {
	if k == nil || x.purpose != asksModel {
		return
	}
	k.change(x, func(s *known, now time.Time) bool {
		if x.sent >= s.Until { // else it was under way when that was said
			s.Row++
		}
		s.Until = max(s.Until, now.Add(max(wait, min(mostPause, time.Second<<min(s.Row-1, 10)))).UnixMilli())
		return true
	})
}

// answered notes that a service has room.
func (k *Known) answered(x *exchange) {
	if k == nil || x.purpose != asksModel {
		return
	}
	k.change(x, func(s *known, _ time.Time) bool {
		found := s.Until != 0 && x.sent >= s.Until
		if found {
			s.Until, s.Row = 0, 0
		}
		return found
	})
}

// change has a change made of what is known while nobody else makes one. What cannot be read or written is not known.
func (k *Known) change(x *exchange, do func(s *known, now time.Time) (changed bool)) {
	f, err := os.OpenFile(k.file(x), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return
	}
	defer f.Close() // which frees it, too
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX) != nil {
		return
	}
	s, now := known{}, time.Now()
	data, _ := io.ReadAll(f)
	if json.Unmarshal(data, &s) != nil || now.UnixMilli() < s.At { // nothing yet, or the clock was set back
		s = known{}
	}
	if !do(&s, now) {
		return
	}
	s.At = now.UnixMilli()
	if data, err = json.Marshal(s); err == nil && f.Truncate(0) == nil {
		_, _ = f.WriteAt(data, 0) // as above
	}
}

package hooks

import (
	"bytes"
	"cmp"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/reprise-ci/reprise/internal/folders"
	"github.com/reprise-ci/reprise/internal/gate"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// tries is how often an event is told to a webhook that does not take it.
const tries = 3

// Teller tells events to the hooks of a pipeline, each at least once. What fails is told to
// Warn, and stops nothing.
type Teller struct {
	Hooks  []pipelines.Hook
	Getenv func(name string) string
	Mask   func(text string) string
	Words  metadata.Words
	Warn   func(text string)
	// Check runs a command in the sandbox, in a folder that it may write.
	Check func(ctx context.Context, dir string, c pipelines.Check) (metadata.CheckResult, error)
	Sleep func(ctx context.Context, d time.Duration) error
	Proxy func(*url.URL) (*url.URL, error) // as gate.Config has it
	Roots *x509.CertPool                   // nil: the system's

	Known metadata.Run                                                                      // the record that is on the branch; the zero value if there is none
	Since func(ctx context.Context, run metadata.Run, revision int) ([]metadata.Run, error) // see Past

	left   map[int][]event // of each hook, by its place in the list, what it has not taken, the oldest first
	looked bool            // that what earlier starts could not tell is in left
}

// Told gives, for the next record, the revision up to which each hook has taken every event.
func (t *Teller) Told() []int {
	told := slices.Repeat([]int{t.Known.Revision}, len(t.Hooks))
	for i, left := range t.left {
		if len(left) > 0 {
			told[i] = left[0].Data.Revision - 1
		}
	}
	return told
}

// Missed tells what earlier starts could not tell, or were killed before they could: some of it again, with the same ids.
// Once is enough. Of nil it does nothing.
func (t *Teller) Missed(ctx context.Context) {
	if t == nil || t.looked {
		return
	}
	t.looked, t.left = true, map[int][]event{}
	told := t.Known.Execution.Told
	if len(told) != len(t.Hooks) { // it is not known: the newest revision counts
		told = slices.Repeat([]int{t.Known.Revision - 1}, len(t.Hooks))
	}
	if t.Known.Execution.ID == "" || slices.Min(told) >= t.Known.Revision {
		return
	}
	records, err := t.Since(ctx, t.Known, slices.Min(told))
	if err != nil {
		t.Warn("what hooks were told last is not known: " + err.Error())
	}
	for n := 1; n < len(records); n++ {
		for _, e := range between(records[n-1], records[n], t.Words) {
			for i, h := range t.Hooks {
				if slices.Contains(h.On, e.Data.Kind) && e.Data.Revision > told[i] {
					t.left[i] = append(t.left[i], e)
				}
			}
		}
	}
	t.tell(ctx, nil)
}

// Committed tells of a record that has come on the branch, after what hooks have not taken.
func (t *Teller) Committed(ctx context.Context, run metadata.Run) {
	t.Missed(ctx)
	events := between(t.Known, run, t.Words)
	t.Known = run.Clone()
	if len(events) > 0 {
		t.tell(ctx, events)
	}
}

func (t *Teller) warn(hook int, e event, err error) {
	t.Warn(fmt.Sprintf("hook %d of the pipeline was not told of %q: %v", hook+1, e.Data.Kind, err))
}

// tell tells events, after those that a hook has not taken, each of which is tried once and
// until one fails. People were warned of that before, unless there is nothing else to tell.
func (t *Teller) tell(ctx context.Context, events []event) {
	for i, h := range t.Hooks {
		for len(t.left[i]) > 0 {
			err := t.one(ctx, h, t.left[i][0], 1)
			if err != nil && len(events) == 0 {
				t.warn(i, t.left[i][0], err)
			}
			if err != nil {
				break
			}
			t.left[i] = t.left[i][1:]
		}
		for _, e := range events {
			if !slices.Contains(h.On, e.Data.Kind) {
				continue
			}
			if err := t.one(ctx, h, e, tries); err != nil {
				t.warn(i, e, err)
				t.left[i] = append(t.left[i], e)
			}
		}
	}
}

// one tells one hook without secrets, a webhook as often as it takes, and at most so many times.
func (t *Teller) one(ctx context.Context, h pipelines.Hook, e event, tries int) error {
	e.Data.Title, e.Data.Reason = t.Mask(e.Data.Title), t.Mask(e.Data.Reason)
	body, err := json.Marshal(e)
	if err != nil {
		return err
	}
	if h.Run != "" {
		return t.run(ctx, h, body)
	}
	secret := ""
	if h.Secret != "" {
		if secret = t.Getenv(h.Secret); secret == "" {
			return fmt.Errorf("the variable %s, which has its secret, is not set", h.Secret)
		}
	}
	for n := range tries {
		if err = t.post(ctx, h, e, body, secret); err == nil || ctx.Err() != nil || n == tries-1 || t.Sleep(ctx, time.Duration(1+3*n)*time.Second) != nil {
			break
		}
	}
	return err
}

// run runs a command in a folder of its own that has the event.
func (t *Teller) run(ctx context.Context, h pipelines.Hook, body []byte) error {
	dir, err := os.MkdirTemp("", "reprise-hook-")
	if err != nil {
		return err
	}
	defer folders.RemoveAll(dir) // a temporary folder; the system removes what is left
	if err := os.WriteFile(filepath.Join(dir, "event.json"), body, 0o600); err != nil {
		return err
	}
	r, err := t.Check(ctx, dir, pipelines.Check{Name: "hook", Run: h.Run, Timeout: pipelines.Duration(timeout(h))})
	if err == nil && !r.Pass {
		err = fmt.Errorf("its command ended with %d", r.ExitCode)
	}
	return err
}

// timeout is that of one try.
func timeout(h pipelines.Hook) time.Duration {
	if d, err := time.ParseDuration(h.Timeout); err == nil { // else it names none
		return d
	}
	return 10 * time.Second
}

// post asks once.
func (t *Teller) post(ctx context.Context, h pipelines.Hook, e event, body []byte, secret string) error {
	at, err := url.Parse(h.URL)
	if err != nil || pipelines.BadAddress(h.URL) != "" {
		return errors.New("its address does not begin with https://, or with http://localhost to try it")
	}
	ctx, cancel := context.WithTimeout(ctx, timeout(h))
	defer cancel()
	ask, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL, bytes.NewReader(body))
	if err != nil {
		return withoutAddress(err)
	}
	ask.Header.Set("Content-Type", "application/cloudevents+json; charset=utf-8")
	ask.Header.Set("User-Agent", "reprise")
	ask.Header.Set("X-Reprise-Event", e.Data.Kind)
	ask.Header.Set("X-Reprise-Delivery", e.ID)
	if secret != "" {
		sum := hmac.New(sha256.New, []byte(secret))
		sum.Write(body)
		ask.Header.Set("X-Reprise-Signature-256", "sha256="+hex.EncodeToString(sum.Sum(nil)))
	}
	dial, err := world(h, at).Dialer(t.Proxy)
	if err != nil {
		return err
	}
	way := &http.Transport{DialContext: dial, TLSClientConfig: &tls.Config{RootCAs: t.Roots}, DisableKeepAlives: true}
	client := http.Client{Transport: way, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	answer, err := client.Do(ask)
	if errors.Is(err, gate.ErrNotAllowed) {
		return errors.New("its host has a private address; if that is meant, say private: true in the hook")
	}
	if err != nil {
		return withoutAddress(err)
	}
	defer answer.Body.Close()                                       // nothing of it is used
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 64<<10)) // likewise
	if answer.StatusCode < 200 || answer.StatusCode > 299 {
		return fmt.Errorf("it answered %d", answer.StatusCode)
	}
	return nil
}

// world is what the host of a webhook may be: public, unless the pipeline says that it is
// private, or names an address itself.
func world(h pipelines.Hook, at *url.URL) gate.World {
	w := gate.World{Open: true}
	if _, err := netip.ParseAddr(at.Hostname()); err == nil || at.Hostname() == "localhost" || h.Private {
		w.Allow = []string{net.JoinHostPort(at.Hostname(), cmp.Or(at.Port(), map[string]string{"https": "443", "http": "80"}[at.Scheme]))}
	}
	return w
}

// withoutAddress is an error without the address that was asked, which often holds a
// secret, as those of Slack do.
func withoutAddress(err error) error {
	if asked, ok := errors.AsType[*url.Error](err); ok {
		return asked.Err
	}
	return err
}

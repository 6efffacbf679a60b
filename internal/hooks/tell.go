package hooks

import (
	"bytes"
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

// The headers of a webhook besides those of CloudEvents.
const (
	signatureHeader = "X-Reprise-Signature-256" // "sha256=" and the HMAC of the body, in hex digits
	eventHeader     = "X-Reprise-Event"         // the kind
	deliveryHeader  = "X-Reprise-Delivery"      // the id of the event
)

// eventFile is the file, in the folder of a command, that has the event.
const eventFile = "event.json"

// tries is how often an event is told to a webhook that does not take it.
const tries = 3

// Teller tells events to the hooks of a pipeline. What fails is told to Warn, and stops
// nothing.
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
	File  string                           // on this machine, that has what was told

	Known  metadata.Run                                                   // the record that is on the branch; the zero value if there is none
	Newest bool                                                           // as far as is known, no other machine has got further than this one
	Tip    func() string                                                  // commit of the branch
	At     func(ctx context.Context, commit string) (metadata.Run, error) // see Past
	Before func(ctx context.Context, commit string) (metadata.Run, error) // see Past

	begun string // commit of the branch before this start, until Missed has looked at it
}

// masked is an event without secrets.
func (t *Teller) masked(e Event) Event {
	e.Data.Title, e.Data.Reason = t.Mask(e.Data.Title), t.Mask(e.Data.Reason)
	return e
}

// tell tells events up to a commit, and notes which of them hooks have not taken.
func (t *Teller) tell(ctx context.Context, m memory, events []Event, commit string) {
	for _, e := range events {
		e = t.masked(e)
		for i, h := range t.Hooks {
			if !slices.Contains(h.On, e.kind) {
				continue
			}
			if err := t.one(ctx, h, e, tries); err != nil {
				t.Warn(fmt.Sprintf("hook %d of the pipeline was not told of %q: %v", i+1, e.kind, err))
				m.Left = append(m.Left, keep(h, e))
			}
		}
	}
	m.Commit = commit
	t.remember(m)
}

// one tells one hook, a webhook as often as it takes, and at most so many times.
func (t *Teller) one(ctx context.Context, h pipelines.Hook, e Event, tries int) error {
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
		if err = t.post(ctx, h, e, body, secret); err == nil || ctx.Err() != nil || n == tries-1 {
			break
		}
		if slept := t.Sleep(ctx, time.Duration(1+3*n)*time.Second); slept != nil {
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
	defer func() { _ = folders.RemoveAll(dir) }() // a temporary folder; the system removes what is left
	if err := os.WriteFile(filepath.Join(dir, eventFile), body, 0o600); err != nil {
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
func (t *Teller) post(ctx context.Context, h pipelines.Hook, e Event, body []byte, secret string) error {
	at, err := url.Parse(h.URL)
	if err != nil || at.Scheme != "https" {
		return errors.New("its address does not begin with https://")
	}
	ctx, cancel := context.WithTimeout(ctx, timeout(h))
	defer cancel()
	ask, err := http.NewRequestWithContext(ctx, http.MethodPost, h.URL, bytes.NewReader(body))
	if err != nil {
		return withoutAddress(err)
	}
	ask.Header.Set("Content-Type", "application/cloudevents+json; charset=utf-8")
	ask.Header.Set("User-Agent", "reprise")
	ask.Header.Set(eventHeader, e.kind)
	ask.Header.Set(deliveryHeader, e.ID)
	if secret != "" {
		sum := hmac.New(sha256.New, []byte(secret))
		sum.Write(body)
		ask.Header.Set(signatureHeader, "sha256="+hex.EncodeToString(sum.Sum(nil)))
	}
	dial, err := t.world(h, at).Dialer(t.Proxy)
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
	defer func() { _ = answer.Body.Close() }()                      // nothing of it is used
	_, _ = io.Copy(io.Discard, io.LimitReader(answer.Body, 64<<10)) // likewise
	if answer.StatusCode < 200 || answer.StatusCode > 299 {
		return fmt.Errorf("it answered %d", answer.StatusCode)
	}
	return nil
}

// world is what the host of a webhook may be: public, unless the pipeline says that it is
// private, or names an address itself.
func (t *Teller) world(h pipelines.Hook, at *url.URL) gate.World {
	w := gate.World{Open: true}
	if _, err := netip.ParseAddr(at.Hostname()); err == nil || at.Hostname() == "localhost" || h.Private {
		port := at.Port()
		if port == "" {
			port = "443"
		}
		w.Allow = []string{hostAndPort(at.Hostname(), port)}
	}
	return w
}

func hostAndPort(host, port string) string {
	if a, err := netip.ParseAddr(host); err == nil && a.Is6() {
		host = "[" + host + "]"
	}
	return host + ":" + port
}

// withoutAddress is an error without the address that was asked, which often holds a
// secret, as those of Slack do.
func withoutAddress(err error) error {
	var asked *url.Error
	if errors.As(err, &asked) {
		return asked.Err
	}
	return err
}

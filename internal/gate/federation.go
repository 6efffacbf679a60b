package gate

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/internal/text"
)

// Federation makes short-lived keys of Anthropic out of the identity that GitHub gives a job. It is safe for concurrent use.
type Federation struct {
	env    []string
	learn  func(secret string)
	client http.Client

	mu          sync.Mutex
	key         string
	renew, ends time.Time // from when on a new key is made, and when this one ends
}

const (
	federationRule = "ANTHROPIC_FEDERATION_RULE_ID" // the variable that asks for such keys
	federatedKey   = "ANTHROPIC_AUTH_TOKEN"         // the one in which a program has the placeholder for them
	federatedBeta  = "oauth-2025-04-20"             // with such a key, Anthropic takes requests that say so
	earliest       = 5 * time.Minute                // before its end, a key is renewed
)

// Federate gives what makes keys for a program, where variables ask for that and have no other key for it; else nil. Learn is
// told each secret.
func Federate(program string, env []string, learn func(secret string)) *Federation {
	set := slices.DeleteFunc(KeyVariables(program), func(name string) bool { return process.Lookup(env, name) == "" })
	if !slices.Equal(set, []string{federationRule}) || table().Programs[program].API != Anthropic {
		return nil
	}
	noRedirect := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse } // it would get the identity
	return &Federation{env: env, learn: learn, client: http.Client{Timeout: 30 * time.Second, CheckRedirect: noRedirect}}
}

// Key gives a key that is good now. An error says in one sentence what is wrong, and has no secret.
func (f *Federation) Key() (string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	if now.Before(f.renew) {
		return f.key, nil
	}
	key, lasts, err := f.exchange()
	if err != nil {
		if now.Before(f.ends) {
			f.renew = now.Add(min(f.ends.Sub(now), time.Minute)) // a service that hangs delays few requests
			return f.key, nil
		}
		return "", err
	}
	f.key, f.ends, f.renew = key, now.Add(lasts), now.Add(lasts-min(lasts/2, earliest))
	return key, nil
}

// exchange gives the identity of the job for a key.
func (f *Federation) exchange() (key string, lasts time.Duration, err error) {
	lookup := func(name string) string { return process.Lookup(f.env, name) }
	s := table().Services[slices.IndexFunc(table().Services, func(s service) bool { return s.API == Anthropic })]
	base, err := s.base(f.env)
	switch {
	case err != nil:
		return "", 0, err
	case base.Scheme != "https" && !net.ParseIP(base.Hostname()).IsLoopback():
		return "", 0, fmt.Errorf("%s is set, and the address of the service has no https, so it does not get the identity of the job", federationRule)
	case lookup("ANTHROPIC_ORGANIZATION_ID") == "":
		return "", 0, fmt.Errorf("%s is set without ANTHROPIC_ORGANIZATION_ID: set both", federationRule)
	case lookup("ACTIONS_ID_TOKEN_REQUEST_URL") == "" || lookup("ACTIONS_ID_TOKEN_REQUEST_TOKEN") == "":
		return "", 0, fmt.Errorf("%s is set, and there is no identity to give for a key: give the job on GitHub the permission id-token: write", federationRule)
	}
	at, err := url.Parse(lookup("ACTIONS_ID_TOKEN_REQUEST_URL"))
	if err != nil {
		return "", 0, errors.New("ACTIONS_ID_TOKEN_REQUEST_URL is no address")
	}
	query := at.Query()
	query.Set("audience", s.Usual)
	at.RawQuery = query.Encode()
	var identity struct{ Value string }
	how := http.Header{"Authorization": {"Bearer " + lookup("ACTIONS_ID_TOKEN_REQUEST_TOKEN")}}
	if err := f.ask(at, how, nil, &identity); err != nil || identity.Value == "" {
		return "", 0, fmt.Errorf("GitHub does not give the job its identity: %w", cmp.Or(err, errors.New("the answer has none")))
	}
	f.learn(identity.Value)
	order := map[string]string{"grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": identity.Value}
	for field, variable := range map[string]string{
		"federation_rule_id": federationRule, "organization_id": "ANTHROPIC_ORGANIZATION_ID", "service_account_id": "ANTHROPIC_SERVICE_ACCOUNT_ID", "workspace_id": "ANTHROPIC_WORKSPACE_ID",
	} {
		if value := lookup(variable); value != "" {
			order[field] = value
		}
	}
	var made struct {
		Key   string  `json:"access_token"`
		Lasts float64 `json:"expires_in"` // seconds
	}
	how = http.Header{"Content-Type": {"application/json"}, "Anthropic-Beta": {federatedBeta + ",oidc-federation-2026-04-01"}}
	if err := f.ask(base.JoinPath("/v1/oauth/token"), how, order, &made); err != nil || made.Key == "" || made.Lasts <= 0 {
		return "", 0, fmt.Errorf("the identity of the job is not taken for a key: %w; its federation rule has to fit this repository and the audience %s", cmp.Or(err, errors.New("the answer has none")), s.Usual)
	}
	f.learn(made.Key)
	return made.Key, time.Duration(min(made.Lasts, 1e6)) * time.Second, nil
}

// ask sends a request, with an order or to read, and reads the answer. An error has what the service says, without what
// it was shown.
func (f *Federation) ask(at *url.URL, how http.Header, order map[string]string, into any) error {
	method, body := http.MethodGet, []byte(nil)
	if order != nil {
		method = http.MethodPost
		body, _ = json.Marshal(order) // it is text
	}
	r, err := http.NewRequest(method, at.String(), bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("%s cannot be asked", at.Host)
	}
	r.Header = how
	res, err := f.client.Do(r)
	if err != nil {
		return fmt.Errorf("%s gives no answer: %w", at.Host, errors.Unwrap(err)) // without the address
	}
	defer res.Body.Close() // it was read
	data, err := io.ReadAll(io.LimitReader(res.Body, maxError))
	if err == nil && res.StatusCode == http.StatusOK && json.Unmarshal(data, into) == nil {
		return nil
	}
	said := complaint(data)
	if order != nil {
		said = strings.ReplaceAll(said, order["assertion"], string(inPlace))
	}
	for _, secret := range keysIn(how) {
		said = strings.ReplaceAll(said, string(secret), string(inPlace))
	}
	return errors.New(text.Join(": ", fmt.Sprintf("%s answers with %d", at.Host, res.StatusCode), text.Short(said, 300)))
}

// complaint is what an answer says is wrong, in the forms of OAuth and of Anthropic.
func complaint(data []byte) string {
	var oauth struct {
		Error       string
		Description string `json:"error_description"`
		Message     string
	}
	var own struct{ Error struct{ Message string } }
	if json.Unmarshal(data, &oauth) != nil && json.Unmarshal(data, &own) != nil {
		return ""
	}
	return text.FirstLine(text.Join(": ", oauth.Error, cmp.Or(oauth.Description, oauth.Message, own.Error.Message)))
}

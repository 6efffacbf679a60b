package gate

import (
	"bytes"
	"cmp"
	"encoding/json"
	"encoding/xml"
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

// federation is a way in which a key of a service is made, as providers.yaml has it: its fields are explained there.
type federation struct {
	Name, Cloud, Asks string
	Others, Needs     []string
	Region, Audience  string
	Usual, Base, Skip string
	Elsewhere         map[string]string // in some regions
	Beta, Fits        string
}

// Federation makes short-lived keys of a service out of the identity that GitHub gives a job. It is safe for concurrent use.
type Federation struct {
	way    federation
	env    []string
	learn  func(secret string)
	client http.Client

	mu          sync.Mutex
	key         shortKey
	renew, ends time.Time // from when on a new key is made, and when this one ends
	shown       []string  // secrets, as the newest key was made
}

// shortKey is good until it ends.
type shortKey struct {
	Token      string
	ID, Secret string // of AWS alone, which has requests signed
	Ends       time.Time
}

const (
	federationRule = "ANTHROPIC_FEDERATION_RULE_ID"
	federatedKey   = "ANTHROPIC_AUTH_TOKEN" // the variable in which a program has the placeholder for such a key
	earliest       = 5 * time.Minute        // before its end, a key is renewed
)

// Federate gives what makes keys for a program, where variables ask for that and have no other key for it; else nil. Learn is
// told each secret.
func Federate(program string, env []string, learn func(secret string)) *Federation {
	set := func(name string) bool { return process.Lookup(env, name) != "" }
	ways := table().Programs[program].Federations
	at := slices.IndexFunc(ways, func(way federation) bool {
		return set(way.Asks) && (way.Cloud == "" || set(way.Cloud) && set("GITHUB_ACTIONS")) && !slices.ContainsFunc(way.Others, set)
	})
	if at < 0 {
		return nil
	}
	noRedirect := func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse } // it would get the identity
	return &Federation{way: ways[at], env: env, learn: learn, client: http.Client{Timeout: 30 * time.Second, CheckRedirect: noRedirect}}
}

// Check makes a key, unless there is one that is good now. An error says in one sentence what is wrong, and has no secret.
func (f *Federation) Check() error {
	_, err := f.current()
	return err
}

// current is a key that is good now.
func (f *Federation) current() (shortKey, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := time.Now()
	if now.Before(f.renew) {
		return f.key, nil
	}
	key, err := f.exchange()
	if err != nil {
		if now.Before(f.ends) {
			f.renew = now.Add(min(f.ends.Sub(now), time.Minute)) // a service that hangs delays few requests
			return f.key, nil
		}
		return shortKey{}, err
	}
	lasts := key.Ends.Sub(now)
	f.key, f.ends, f.renew = key, key.Ends, now.Add(lasts-min(lasts/2, earliest))
	return key, nil
}

// show gives the headers by which a service knows the job, for a request.
func (f *Federation) show(method string, to *url.URL, body []byte) (http.Header, error) {
	key, err := f.current()
	switch {
	case err != nil:
		return nil, err
	case key.Secret != "":
		return key.sign(method, to, body, f.lookup(f.way.Region), "bedrock", time.Now()), nil
	}
	return http.Header{"Authorization": {"Bearer " + key.Token}}, nil
}

func (f *Federation) lookup(name string) string { return process.Lookup(f.env, name) }

// base is the address of the service with the models.
func (f *Federation) base() (*url.URL, error) {
	region := f.lookup(f.way.Region)
	if f.way.Region != "" && region != "" && !label().MatchString(region) {
		return nil, fmt.Errorf("%s is no region: %.100q", f.way.Region, region)
	}
	return f.address(f.way.Base, cmp.Or(f.way.Elsewhere[region], f.way.Usual))
}

// address is one to which the identity of the job, or a key, may be shown.
func (f *Federation) address(variable, usual string) (*url.URL, error) {
	at, err := addressIn(f.env, []string{variable}, strings.ReplaceAll(usual, "REGION", f.lookup(f.way.Region)))
	if err == nil && at.Scheme != "https" && !net.ParseIP(at.Hostname()).IsLoopback() {
		return nil, fmt.Errorf("%s is set, and the address of the service has no https, so it does not get the identity of the job", f.way.Asks)
	}
	return at, err
}

// exchange gives the identity of the job for a key.
func (f *Federation) exchange() (key shortKey, err error) {
	base, err := f.base()
	if err != nil {
		return key, err
	}
	for _, name := range f.way.Needs {
		if f.lookup(name) == "" {
			return key, fmt.Errorf("%s is set without %s: set both", f.way.Asks, name)
		}
	}
	for _, kv := range f.env {
		if name, _, _ := strings.Cut(kv, "="); f.way.Name == "vertex" && strings.HasPrefix(name, "VERTEX_REGION_") {
			return key, fmt.Errorf("%s is set, and with %s all models are asked in the region of %s: unset it", name, f.way.Asks, f.way.Region)
		}
	}
	identity, err := f.identity()
	if err != nil {
		return key, err
	}
	switch f.way.Name {
	case "bedrock":
		key, err = f.ofAWS(identity)
	case "vertex":
		key, err = f.ofGoogle(identity)
	default:
		key, err = f.ofAnthropic(base, identity)
	}
	if err == nil && (key.Token == "" || !key.Ends.After(time.Now())) {
		err = errors.New("the answer has none")
	}
	if err != nil {
		return key, fmt.Errorf("the identity of the job is not taken for a key: %w; %s", err, f.way.Fits)
	}
	f.tell(key.Token)
	f.tell(key.Secret)
	return key, nil
}

// tell has a secret masked, here and elsewhere.
func (f *Federation) tell(secret string) {
	if secret != "" {
		f.shown = append(f.shown, secret)
		f.learn(secret)
	}
}

// identity asks GitHub for the identity of the job.
func (f *Federation) identity() (string, error) {
	from, token := f.lookup("ACTIONS_ID_TOKEN_REQUEST_URL"), f.lookup("ACTIONS_ID_TOKEN_REQUEST_TOKEN")
	if from == "" || token == "" {
		return "", fmt.Errorf("%s is set, and there is no identity to give for a key: give the job on GitHub the permission id-token: write", f.way.Asks)
	}
	at, err := url.Parse(from)
	if err != nil {
		return "", errors.New("ACTIONS_ID_TOKEN_REQUEST_URL is no address")
	}
	query := at.Query()
	query.Set("audience", strings.Replace(f.way.Audience, "PROVIDER", f.lookup(f.way.Asks), 1))
	at.RawQuery = query.Encode()
	var identity struct{ Value string }
	f.shown = []string{token}
	err = f.ask(at, http.Header{"Authorization": {"Bearer " + token}}, nil, json.Unmarshal, &identity)
	if err != nil || identity.Value == "" {
		return "", fmt.Errorf("GitHub does not give the job its identity: %w", cmp.Or(err, errors.New("the answer has none")))
	}
	f.tell(identity.Value)
	return identity.Value, nil
}

// ofAnthropic gives an identity for a key of Anthropic.
func (f *Federation) ofAnthropic(base *url.URL, identity string) (key shortKey, err error) {
	order := map[string]string{"grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer", "assertion": identity}
	for field, variable := range map[string]string{
		"federation_rule_id": federationRule, "organization_id": "ANTHROPIC_ORGANIZATION_ID", "service_account_id": "ANTHROPIC_SERVICE_ACCOUNT_ID", "workspace_id": "ANTHROPIC_WORKSPACE_ID",
	} {
		if value := f.lookup(variable); value != "" {
			order[field] = value
		}
	}
	return f.token(base.JoinPath("/v1/oauth/token"), http.Header{"Anthropic-Beta": {f.way.Beta + ",oidc-federation-2026-04-01"}}, order)
}

// ofGoogle gives an identity for a key of Google's, see https://docs.cloud.google.com/iam/docs/reference/sts/rest/v1/TopLevel/token:
// one of a service account where that is named.
func (f *Federation) ofGoogle(identity string) (key shortKey, err error) {
	const scope = "https://www.googleapis.com/auth/cloud-platform"
	sts, err := f.address("GHA_ENDPOINT_OVERRIDE_sts", "https://sts.googleapis.com/v1")
	if err != nil {
		return key, err
	}
	key, err = f.token(sts.JoinPath("token"), http.Header{}, map[string]string{
		"audience": "//iam.googleapis.com/" + f.lookup(f.way.Asks), "grantType": "urn:ietf:params:oauth:grant-type:token-exchange", "scope": scope,
		"requestedTokenType": "urn:ietf:params:oauth:token-type:access_token", "subjectTokenType": "urn:ietf:params:oauth:token-type:jwt", "subjectToken": identity,
	})
	account := f.lookup("GCP_SERVICE_ACCOUNT")
	if err != nil || account == "" {
		return key, err
	}
	f.tell(key.Token)
	iam, err := f.address("GHA_ENDPOINT_OVERRIDE_iamcredentials", "https://iamcredentials.googleapis.com/v1")
	if err != nil {
		return key, err
	}
	var made struct {
		AccessToken string
		ExpireTime  time.Time
	}
	err = f.order(iam.JoinPath("projects/-/serviceAccounts", account+":generateAccessToken"), http.Header{"Authorization": {"Bearer " + key.Token}}, map[string][]string{"scope": {scope}}, &made)
	return shortKey{Token: made.AccessToken, Ends: made.ExpireTime}, err
}

// ofAWS gives an identity for a key of a role, see https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRoleWithWebIdentity.html.
func (f *Federation) ofAWS(identity string) (key shortKey, err error) {
	sts, err := f.address("AWS_ENDPOINT_URL_STS", "https://sts.REGION.amazonaws.com/")
	if err != nil {
		return key, err
	}
	order := url.Values{
		"Action": {"AssumeRoleWithWebIdentity"}, "Version": {"2011-06-15"}, "RoleArn": {f.lookup(f.way.Asks)},
		"RoleSessionName": {cmp.Or(f.lookup("AWS_ROLE_SESSION_NAME"), "reprise")}, "WebIdentityToken": {identity},
	}
	var made struct {
		Key struct {
			AccessKeyID     string `xml:"AccessKeyId"`
			SecretAccessKey string
			SessionToken    string
			Expiration      time.Time
		} `xml:"AssumeRoleWithWebIdentityResult>Credentials"`
	}
	err = f.ask(sts, http.Header{"Content-Type": {"application/x-www-form-urlencoded"}}, []byte(order.Encode()), xml.Unmarshal, &made)
	return shortKey{made.Key.SessionToken, made.Key.AccessKeyID, made.Key.SecretAccessKey, made.Key.Expiration}, err
}

// token orders a token as OAuth has it.
func (f *Federation) token(at *url.URL, how http.Header, order any) (shortKey, error) {
	var made struct {
		Token string  `json:"access_token"`
		Lasts float64 `json:"expires_in"` // seconds
	}
	err := f.order(at, how, order, &made)
	return shortKey{Token: made.Token, Ends: time.Now().Add(time.Duration(min(made.Lasts, 1e6)) * time.Second)}, err
}

// order sends an order in JSON and reads what is made.
func (f *Federation) order(at *url.URL, how http.Header, order, into any) error {
	body, err := json.Marshal(order)
	if err != nil {
		return err // unreachable: it is text
	}
	how.Set("Content-Type", "application/json")
	return f.ask(at, how, body, json.Unmarshal, into)
}

// ask sends a request, with an order or to read, and reads the answer. An error has what the service says, without what
// it was shown.
func (f *Federation) ask(at *url.URL, how http.Header, order []byte, read func([]byte, any) error, into any) error {
	method := http.MethodGet
	if order != nil {
		method = http.MethodPost
	}
	r, err := http.NewRequest(method, at.String(), bytes.NewReader(order))
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
	if err == nil && res.StatusCode == http.StatusOK && read(data, into) == nil {
		return nil
	}
	said := complaint(data)
	for _, secret := range f.shown {
		said = strings.ReplaceAll(said, secret, string(inPlace))
	}
	return errors.New(text.Join(": ", fmt.Sprintf("%s answers with %d", at.Host, res.StatusCode), text.Short(said, 300)))
}

// complaint is what an answer says is wrong, in the forms of OAuth, of Anthropic and Google, and of AWS.
func complaint(data []byte) string {
	var oauth struct {
		Error       string
		Description string `json:"error_description"`
		Message     string
	}
	var own struct{ Error struct{ Message string } }
	var aws struct {
		Code    string `xml:"Error>Code"`
		Message string `xml:"Error>Message"`
	}
	if json.Unmarshal(data, &oauth) != nil && json.Unmarshal(data, &own) != nil && xml.Unmarshal(data, &aws) != nil {
		return ""
	}
	return text.FirstLine(text.Join(": ", cmp.Or(oauth.Error, aws.Code), cmp.Or(oauth.Description, oauth.Message, own.Error.Message, aws.Message)))
}

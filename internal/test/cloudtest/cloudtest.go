// Package cloudtest plays GitHub, which gives a job its identity, AWS and Google, which give keys for that, and their
// services with models, all on one address of loopback. What models say comes from a server that speaks the Anthropic
// Messages API.
package cloudtest

import (
	"bufio"
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"
)

// Server is the two clouds, and GitHub. It is safe for concurrent use.
type Server struct {
	URL string // such as http://127.0.0.1:41234

	http   *httptest.Server
	models string
	mu     sync.Mutex
	how    How
	keys   []key
	asked  []string
}

// How says in what way the clouds are not as they should be. The zero value has them work.
type How struct {
	Lasts   time.Duration // of keys; 0: an hour
	Refuses bool          // no identity is taken for a key
	Status  int           // of answers of models, in place of them
	Cut     bool          // an answer of Bedrock ends within its second frame
	Broken  bool          // the checksum of that frame is wrong
}

type key struct {
	id, secret, token string
	ends              time.Time
}

// Start begins to listen. The caller calls Close.
func Start(models string) *Server {
	s := &Server{models: models}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /identity", s.identity)
	mux.HandleFunc("POST /sts.amazonaws.com/{$}", s.assumeRole)
	mux.HandleFunc("POST /sts.googleapis.com/v1/token", s.token)
	mux.HandleFunc("POST /iamcredentials.googleapis.com/v1/projects/-/serviceAccounts/{call}", s.impersonate)
	mux.HandleFunc("POST /bedrock/model/{model}/{how}", s.bedrock)
	mux.HandleFunc("POST /vertex/v1/projects/{project}/locations/{location}/publishers/anthropic/models/{call}", s.vertex)
	s.http = httptest.NewServer(mux)
	s.URL = s.http.URL
	return s
}

// Close stops the server.
func (s *Server) Close() { s.http.Close() }

// Set changes how the clouds are.
func (s *Server) Set(h How) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.how = h
}

// Asked gives what was asked of models so far: the model, and the key or who signed.
func (s *Server) Asked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.asked)
}

// Secrets gives all that nobody but the asker may see.
func (s *Server) Secrets() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := []string{requestToken, theIdentity}
	for _, k := range s.keys {
		all = append(all, k.token)
		if k.secret != "" {
			all = append(all, k.secret)
		}
	}
	return all
}

const (
	requestToken = "request-token-of-the-job"
	theIdentity  = "identity-of-the-job"
	role         = "arn:aws:iam::123456789012:role/models"
	provider     = "projects/1/locations/global/workloadIdentityPools/pool/providers/github"
	account      = "models@project.iam.gserviceaccount.com"
)

// Bedrock gives the variables of a job that asks Bedrock.
func (s *Server) Bedrock() []string {
	return append(s.job(), "CLAUDE_CODE_USE_BEDROCK=1", "AWS_REGION=us-west-2", "AWS_ROLE_ARN="+role, "AWS_ENDPOINT_URL_STS="+s.URL+"/sts.amazonaws.com/", "ANTHROPIC_BEDROCK_BASE_URL="+s.URL+"/bedrock")
}

// Vertex gives the variables of a job that asks Vertex AI, by a service account.
func (s *Server) Vertex() []string {
	return append(s.job(), "CLAUDE_CODE_USE_VERTEX=1", "CLOUD_ML_REGION=us-east5", "ANTHROPIC_VERTEX_PROJECT_ID=project", "GCP_WORKLOAD_IDENTITY_PROVIDER="+provider, "GCP_SERVICE_ACCOUNT="+account,
		"GHA_ENDPOINT_OVERRIDE_sts="+s.URL+"/sts.googleapis.com/v1", "GHA_ENDPOINT_OVERRIDE_iamcredentials="+s.URL+"/iamcredentials.googleapis.com/v1", "ANTHROPIC_VERTEX_BASE_URL="+s.URL+"/vertex/v1")
}

func (s *Server) job() []string {
	return []string{"GITHUB_ACTIONS=true", "ACTIONS_ID_TOKEN_REQUEST_URL=" + s.URL + "/identity?api-version=2", "ACTIONS_ID_TOKEN_REQUEST_TOKEN=" + requestToken}
}

// identity gives one for the audience of AWS or of Google.
func (s *Server) identity(w http.ResponseWriter, r *http.Request) {
	audience := r.URL.Query().Get("audience")
	if r.Header.Get("Authorization") != "Bearer "+requestToken || r.URL.Query().Get("api-version") != "2" || audience != "sts.amazonaws.com" && audience != "https://iam.googleapis.com/"+provider {
		send(w, http.StatusUnauthorized, map[string]string{"message": "no identity for " + audience})
		return
	}
	send(w, http.StatusOK, map[string]string{"value": theIdentity})
}

// make makes a key, with a secret where it signs, unless none is to be made.
func (s *Server) make(good bool, secret string) (k key, made bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !good || s.how.Refuses {
		return key{}, false
	}
	lasts := s.how.Lasts
	if lasts == 0 {
		lasts = time.Hour
	}
	n := len(s.keys) + 1
	k = key{fmt.Sprintf("ASIA%d", n), secret, fmt.Sprintf("token-of-key-%d", n), time.Now().Add(lasts)}
	s.keys = append(s.keys, k)
	return k, true
}

func (s *Server) assumeRole(w http.ResponseWriter, r *http.Request) {
	k, ok := s.make(r.FormValue("Action") == "AssumeRoleWithWebIdentity" && r.FormValue("Version") == "2011-06-15" && r.FormValue("RoleArn") == role && r.FormValue("WebIdentityToken") == theIdentity && r.FormValue("RoleSessionName") != "", "secret-of-a-role")
	w.Header().Set("Content-Type", "text/xml")
	if !ok {
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprintf(w, `<ErrorResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><Error><Type>Sender</Type><Code>AccessDenied</Code><Message>Not authorized to perform sts:AssumeRoleWithWebIdentity with %s</Message></Error><RequestId>1</RequestId></ErrorResponse>`, theIdentity)
		return
	}
	fmt.Fprintf(w, `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><AssumeRoleWithWebIdentityResult><Audience>sts.amazonaws.com</Audience><Credentials><AccessKeyId>%s</AccessKeyId><SecretAccessKey>%s</SecretAccessKey><SessionToken>%s</SessionToken><Expiration>%s</Expiration></Credentials></AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`,
		k.id, k.secret, k.token, k.ends.UTC().Format(time.RFC3339))
}

func (s *Server) token(w http.ResponseWriter, r *http.Request) {
	var order map[string]string
	_ = json.NewDecoder(r.Body).Decode(&order) // what is none lacks all
	k, ok := s.make(order["audience"] == "//iam.googleapis.com/"+provider && order["grantType"] == "urn:ietf:params:oauth:grant-type:token-exchange" && order["subjectToken"] == theIdentity &&
		order["requestedTokenType"] == "urn:ietf:params:oauth:token-type:access_token" && order["subjectTokenType"] == "urn:ietf:params:oauth:token-type:jwt" && order["scope"] == "https://www.googleapis.com/auth/cloud-platform", "")
	if !ok {
		send(w, http.StatusBadRequest, map[string]string{"error": "invalid_target", "error_description": "the audience does not fit " + theIdentity})
		return
	}
	send(w, http.StatusOK, map[string]any{"access_token": k.token, "expires_in": time.Until(k.ends).Seconds(), "token_type": "Bearer", "issued_token_type": "urn:ietf:params:oauth:token-type:access_token"})
}

func (s *Server) impersonate(w http.ResponseWriter, r *http.Request) {
	var order struct{ Scope []string }
	_ = json.NewDecoder(r.Body).Decode(&order) // what is none lacks all
	k, ok := s.make(r.PathValue("call") == account+":generateAccessToken" && len(order.Scope) == 1 && s.holds(r), "")
	if !ok {
		send(w, http.StatusForbidden, map[string]any{"error": map[string]any{"code": 403, "message": "Permission 'iam.serviceAccounts.getAccessToken' denied", "status": "PERMISSION_DENIED"}})
		return
	}
	send(w, http.StatusOK, map[string]any{"accessToken": k.token, "expireTime": k.ends.UTC().Format(time.RFC3339Nano)})
}

// holds reports whether a request shows a token that is good.
func (s *Server) holds(r *http.Request) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(s.keys, func(k key) bool {
		return r.Header.Get("Authorization") == "Bearer "+k.token && time.Now().Before(k.ends)
	})
}

func (s *Server) vertex(w http.ResponseWriter, r *http.Request) {
	model, call, _ := strings.Cut(r.PathValue("call"), ":")
	body, err := io.ReadAll(r.Body)
	switch {
	case !s.holds(r):
		send(w, http.StatusUnauthorized, map[string]any{"error": map[string]any{"code": 401, "message": "Request had invalid authentication credentials.", "status": "UNAUTHENTICATED"}})
		return
	case err != nil || r.PathValue("project") != "project" || r.PathValue("location") != "us-east5" || call != "rawPredict" && call != "streamRawPredict" || r.URL.RawQuery != "":
		send(w, http.StatusNotFound, map[string]any{"error": map[string]any{"code": 404, "message": r.URL.String(), "status": "NOT_FOUND"}})
		return
	}
	res := s.ask(w, r, model, call == "streamRawPredict", body)
	if res == nil {
		return
	}
	defer res.Body.Close()
	w.Header().Set("Content-Type", res.Header.Get("Content-Type"))
	w.WriteHeader(res.StatusCode)
	_, _ = io.Copy(w, res.Body) // who asked may be gone
}

func (s *Server) bedrock(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	how := r.PathValue("how")
	if why := s.signed(r, body); why != "" || err != nil {
		w.Header().Set("X-Amzn-Errortype", "InvalidSignatureException")
		send(w, http.StatusForbidden, map[string]string{"message": why})
		return
	}
	res := s.ask(w, r, r.PathValue("model"), how == "invoke-with-response-stream", body)
	if res == nil {
		return
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK || how == "invoke" {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(res.StatusCode)
		_, _ = io.Copy(w, res.Body) // who asked may be gone
		return
	}
	w.Header().Set("Content-Type", "application/vnd.amazon.eventstream")
	w.Header().Set("X-Amzn-Bedrock-Content-Type", "application/json")
	s.mu.Lock()
	broken := s.how
	s.mu.Unlock()
	lines := bufio.NewScanner(res.Body)
	for n := 0; lines.Scan(); {
		event, is := bytes.CutPrefix(lines.Bytes(), []byte("data: "))
		if !is {
			continue
		}
		n++
		f := Frame(event)
		if n == 2 && broken.Broken {
			f[len(f)-1]++
		}
		if n == 2 && broken.Cut {
			_, _ = w.Write(f[:len(f)/2])
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler) // net/http's way to drop a connection in mid-answer
		}
		_, _ = w.Write(f)
		w.(http.Flusher).Flush()
	}
}

// ask asks a model, of which the body of a request says neither the name nor whether its answer streams.
func (s *Server) ask(w http.ResponseWriter, r *http.Request, model string, streams bool, body []byte) *http.Response {
	s.mu.Lock()
	s.asked = append(s.asked, model+" "+r.Header.Get("Authorization"))
	status := s.how.Status
	s.mu.Unlock()
	var asked map[string]json.RawMessage
	if err := json.Unmarshal(body, &asked); err != nil || asked["model"] != nil || asked["anthropic_version"] == nil {
		send(w, http.StatusBadRequest, map[string]string{"message": "Malformed input request"})
		return nil
	}
	if status != 0 {
		send(w, status, map[string]string{"message": "Too many requests, please wait before trying again."})
		return nil
	}
	asked["model"], _ = json.Marshal(model)
	asked["stream"], _ = json.Marshal(streams)
	whole, _ := json.Marshal(asked) // it was JSON
	order, _ := http.NewRequestWithContext(r.Context(), http.MethodPost, s.models+"/v1/messages", bytes.NewReader(whole))
	order.Header = r.Header.Clone()
	order.Header.Del("Accept-Encoding") // the transport reads it
	res, err := http.DefaultTransport.RoundTrip(order)
	if err != nil {
		send(w, http.StatusBadGateway, map[string]string{"message": err.Error()})
		return nil
	}
	return res
}

// signed says what is wrong with the signature of a request, by version 4 of AWS; "" if nothing is.
func (s *Server) signed(r *http.Request, body []byte) string {
	given := r.Header.Get("Authorization")
	part := func(name string) string {
		_, rest, _ := strings.Cut(given, name+"=")
		value, _, _ := strings.Cut(rest, ",")
		return value
	}
	id, scope, _ := strings.Cut(part("Credential"), "/")
	s.mu.Lock()
	at := slices.IndexFunc(s.keys, func(k key) bool { return k.id == id && k.token == r.Header.Get("X-Amz-Security-Token") })
	var k key
	if at >= 0 {
		k = s.keys[at]
	}
	s.mu.Unlock()
	when, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	switch {
	case at < 0:
		return "The security token included in the request is invalid."
	case time.Now().After(k.ends):
		return "The security token included in the request is expired"
	case err != nil || time.Since(when).Abs() > 5*time.Minute || scope != when.Format("20060102")+"/us-west-2/bedrock/aws4_request":
		return "Signature expired, or for another scope: " + scope
	}
	path, query, _ := strings.Cut(r.RequestURI, "?")
	var canonical strings.Builder
	fmt.Fprintf(&canonical, "%s\n", r.Method)
	for _, c := range []byte(path) {
		if strings.IndexByte("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/", c) >= 0 {
			canonical.WriteByte(c)
		} else {
			fmt.Fprintf(&canonical, "%%%02X", c)
		}
	}
	fmt.Fprintf(&canonical, "\n%s\n", query)
	names := strings.Split(part("SignedHeaders"), ";")
	for _, name := range names {
		value := r.Header.Get(name)
		if name == "host" {
			value = r.Host
		}
		fmt.Fprintf(&canonical, "%s:%s\n", name, value)
	}
	if !slices.IsSorted(names) || !slices.Contains(names, "host") || !slices.Contains(names, "x-amz-date") || !slices.Contains(names, "x-amz-security-token") {
		return "the signature leaves out what it has to have"
	}
	fmt.Fprintf(&canonical, "\n%s\n%x", part("SignedHeaders"), sha256.Sum256(body))
	sum := []byte("AWS4" + k.secret)
	for _, text := range append(strings.Split(scope, "/"), fmt.Sprintf("AWS4-HMAC-SHA256\n%s\n%s\n%x", r.Header.Get("X-Amz-Date"), scope, sha256.Sum256([]byte(canonical.String())))) {
		h := hmac.New(sha256.New, sum)
		io.WriteString(h, text)
		sum = h.Sum(nil)
	}
	if part("Signature") != fmt.Sprintf("%x", sum) {
		return "The request signature we calculated does not match the signature you provided."
	}
	return ""
}

// Frame gives an event of an answer as Bedrock sends it.
func Frame(event []byte) []byte {
	var headers []byte
	for _, h := range [][2]string{{":event-type", "chunk"}, {":content-type", "application/json"}, {":message-type", "event"}} {
		headers = append(append(headers, byte(len(h[0]))), h[0]...)
		headers = append(binary.BigEndian.AppendUint16(append(headers, 7), uint16(len(h[1]))), h[1]...)
	}
	carried, _ := json.Marshal(map[string]any{"bytes": event, "p": "abcdef"}) // bytes
	out := binary.BigEndian.AppendUint32(nil, uint32(16+len(headers)+len(carried)))
	out = binary.BigEndian.AppendUint32(out, uint32(len(headers)))
	out = binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out))
	out = append(append(out, headers...), carried...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(out))
}

func send(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // who asked may be gone
}

// With gives variables with another value of one of them; "" takes it away.
func With(env []string, name, value string) []string {
	env = slices.DeleteFunc(slices.Clone(env), func(kv string) bool { return strings.HasPrefix(kv, name+"=") })
	if value != "" {
		env = append(env, name+"="+value)
	}
	return env
}

package gate

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/internal/test/cloudtest"
	"github.com/reprise-ci/reprise/internal/test/testenv"
	"github.com/reprise-ci/reprise/metadata"
	"github.com/reprise-ci/reprise/pipelines"
)

// The signature is that of post-sts-header-before in the tests that AWS publishes for version 4.
func TestSignature(t *testing.T) {
	token := "AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA=="
	key := shortKey{Token: token, ID: "AKIDEXAMPLE", Secret: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"}
	at := time.Date(2015, 8, 30, 12, 36, 0, 0, time.UTC)
	got := key.sign(http.MethodPost, &url.URL{Scheme: "https", Host: "example.amazonaws.com", Path: "/"}, nil, "us-east-1", "service", at)
	want := http.Header{
		"X-Amz-Date": {"20150830T123600Z"}, "X-Amz-Security-Token": {token},
		"Authorization": {"AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/service/aws4_request, SignedHeaders=host;x-amz-date;x-amz-security-token, Signature=85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead"},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	// aws-sdk-go-v2 signs a path with a colon, and a body, so.
	got = shortKey{"tok/en==", "ASIA1", "secret+/x", at}.sign(http.MethodPost, &url.URL{Host: "bedrock-runtime.us-west-2.amazonaws.com", Path: "/model/us.anthropic.claude-haiku-4-5-20251001-v1:0/invoke-with-response-stream"},
		[]byte(`{"a":"é"}`), "us-west-2", "bedrock", time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC))
	if !strings.HasSuffix(got.Get("Authorization"), "=cd52ef4bd987459111acac138e01c09d258d3252a40622ef37cb6a673f0cd7a6") {
		t.Error(got)
	}
}

// awsFrame is one of the tests that AWS publishes for its streams.
const awsFrame = "\x00\x00\x00=\x00\x00\x00 \x07\xfd\x83\x96\x0ccontent-type\x07\x00\x10application/json{'foo':'bar'}\x8d\x9c\x08\xb1"

// Frames are those of the tests that AWS publishes for its streams.
func TestFrame(t *testing.T) {
	empty := "\x00\x00\x00\x10\x00\x00\x00\x00\x05\xc2H\xeb}\x98\xc8\xff"
	json := awsFrame
	for name, tt := range map[string]struct {
		data, carried string
		size          int
		good          bool
	}{
		"nothing":           {"", "", 0, true},
		"its beginning":     {json[:11], "", 0, true},
		"most of it":        {json[:60], "", 0, true},
		"empty":             {empty, "", 16, true},
		"one":               {json, "{'foo':'bar'}", 61, true},
		"two":               {json + empty, "{'foo':'bar'}", 61, true},
		"another length":    {"\x00\x00\x01" + json[3:], "", 0, false},
		"another payload":   {strings.Replace(json, "foo", "fou", 1), "", 0, false},
		"too short":         {"\x00\x00\x00\x0f\x00\x00\x00\x00\xe7\x72\x48\xb8", "", 0, false},
		"headers beyond it": {"\x00\x00\x00\x10\x00\x00\x00\x01\x72\xc5\x78\x7d\x00\x00\x00\x00", "", 0, false},
		"a page":            {"<html><body>no", "", 0, false},
	} {
		carried, size, good := frame([]byte(tt.data))
		if string(carried) != tt.carried || size != tt.size || good != tt.good {
			t.Errorf("%s: %q, %d, %v", name, carried, size, good)
		}
	}
}

// inFrames is a stream of events as Bedrock sends it.
func inFrames(text string) string {
	var out bytes.Buffer
	for line := range strings.Lines(text) {
		if event, is := strings.CutPrefix(line, "data: "); is {
			out.Write(cloudtest.Frame([]byte(strings.TrimSpace(event))))
		}
	}
	return out.String()
}

// What is in frames is counted however they come. Where one is damaged, nobody knows what came after it.
func TestFramesAreCounted(t *testing.T) {
	good := inFrames(anthropicStream)
	second := len(inFrames(anthropicStream[:strings.Index(anthropicStream, "event: content")]))
	damaged := good[:second+20] + "?" + good[second+21:]
	for name, tt := range map[string]struct {
		text        string
		output      int64
		whole, lost bool
	}{
		"all":          {good, 40, true, false},
		"cut in two":   {good[:len(good)-20], 40, false, false},
		"cut at first": {good[:second+30], 0, false, false},
		"damaged":      {damaged, 0, false, true},
		"no frame":     {"data: {}\n\n" + good, 0, false, true},
		"an exception": {good[:second] + awsFrame, 0, true, false},
	} {
		for _, size := range []int{1, 7, 1 << 20} {
			m := newMeter(Anthropic, true, newRoom())
			m.frames = true
			for piece := range bytesOf(tt.text, size) {
				m.write(piece)
			}
			whole := m.end()
			if got := m.tokens(); got.Output != tt.output || whole != tt.whole || m.lost != tt.lost || strings.HasPrefix(tt.text, good[:second]) && got.CacheRead != 20 {
				t.Errorf("%s by %d bytes: %+v, whole %v, lost %v", name, size, got, whole, m.lost)
			}
			if m.held.room.left.Load() != maxHeld {
				t.Errorf("%s keeps room", name)
			}
		}
	}
}

// job is a job without a stored key, whose models are in a cloud.
type job struct {
	*cloudtest.Server
	models *httptest.Server
	env    []string
	name   string // of the provider
	path   string // of an answer that streams
	whole  string // of one that does not
	stream string // as it comes through
}

func jobs(t *testing.T) []*job {
	t.Helper()
	var all []*job
	for _, name := range []string{"bedrock", "vertex"} {
		j := &job{name: name}
		j.models = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if body, _ := io.ReadAll(r.Body); bytes.Contains(body, []byte(`"stream":true`)) {
				stream(w, anthropicStream)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			io.WriteString(w, anthropicWhole)
		}))
		t.Cleanup(j.models.Close)
		j.Server = cloudtest.Start(j.models.URL)
		t.Cleanup(j.Close)
		j.env, j.path, j.whole, j.stream = j.Bedrock(), "/model/us.anthropic.claude-haiku-4-5-20251001-v1:0/invoke-with-response-stream", "/model/us.anthropic.claude-haiku-4-5-20251001-v1:0/invoke", inFrames(anthropicStream)
		if name == "vertex" {
			j.env, j.path, j.whole, j.stream = j.Vertex(), "/projects/project/locations/us-east5/publishers/anthropic/models/claude-haiku-4-5@20251001:streamRawPredict", "/projects/project/locations/us-east5/publishers/anthropic/models/claude-haiku-4-5@20251001:rawPredict", anthropicStream
		}
		all = append(all, j)
	}
	return all
}

// opened gives the passage of a call of the job, and what asks there.
func (j *job) opened(t *testing.T, c Call, learn func(string)) (*Passage, func(path, body string) (int, string)) {
	t.Helper()
	c.Agent, c.Env, c.Federation = "claude", slices.DeleteFunc(slices.Clone(j.env), func(kv string) bool {
		return strings.HasPrefix(kv, "ACTIONS_") || strings.HasPrefix(kv, "GCP_") || strings.HasPrefix(kv, "GITHUB_")
	}), Federate("claude", j.env, learn)
	p := openedPassage(t, c)
	base := process.Lookup(p.Env, map[string]string{"bedrock": "ANTHROPIC_BEDROCK_BASE_URL", "vertex": "ANTHROPIC_VERTEX_BASE_URL"}[j.name])
	return p, func(path, body string) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, base+path, strings.NewReader(body))
		testenv.Must(t, err)
		r.Header.Set("Authorization", "Bearer "+process.Lookup(p.Env, federatedKey))
		r.Header.Set("X-Amz-Date", "20000101T000000Z")
		r.Header.Set("Content-Type", "application/json")
		res := fetched(t, r)
		defer res.Body.Close()
		text, _ := io.ReadAll(res.Body) // as far as it comes
		return res.StatusCode, string(text)
	}
}

const inCloudBody = `{"anthropic_version":"x","max_tokens":100,"messages":[{"role":"user","content":"hi"}]}`

// A program in a cloud asks the gate, which shows a key that the program never has; what it uses counts, and limits hold.
func TestClouds(t *testing.T) {
	for _, j := range jobs(t) {
		t.Run(j.name, func(t *testing.T) {
			var learned []string
			p, ask := j.opened(t, Call{Turns: 3, Models: []string{"haiku"}, Network: pipelines.Network{Closed: true}}, func(s string) { learned = append(learned, s) })
			for _, unwanted := range append(j.Secrets(), "AWS_ROLE_ARN", "GCP_WORKLOAD_IDENTITY_PROVIDER", "ACTIONS_") {
				if strings.Contains(strings.Join(p.Env, "\n"), unwanted) {
					t.Errorf("the program has %s in %q", unwanted, p.Env)
				}
			}
			if len(p.call.hosts()) > 0 || !p.Hears(Anthropic) || process.Lookup(p.Env, "REPRISE_MODEL_URL") != p.gate.URL(j.name) {
				t.Errorf("hosts %q, %q", p.call.hosts(), p.Env)
			}
			if status, text := ask(j.path+"?a=b&$alt=c", inCloudBody); status != 200 || text != j.stream {
				t.Errorf("%d %q", status, text)
			}
			if status, text := ask(j.whole, inCloudBody); status != 200 || text != anthropicWhole {
				t.Errorf("%d %q", status, text)
			}
			for why, asked := range map[string][2]string{
				"does not name the model": {strings.Replace(j.path, "haiku", "opus", 1), inCloudBody},
				"names its model twice":   {j.path, `{"model":"haiku",` + inCloudBody[1:]},
				"agents may ask models":   {strings.NewReplacer("streamRawPredict", "serverStreamingPredict", "invoke-with-response-stream", "converse-stream").Replace(j.path), inCloudBody},
			} {
				if status, text := ask(asked[0], asked[1]); status < 400 || !strings.Contains(text, why) {
					t.Errorf("%s: %d %s", why, status, text)
				}
			}
			if status, text := ask(j.path, inCloudBody); status != 200 || len(text) == 0 {
				t.Errorf("%d %s", status, text)
			}
			if status, text := ask(j.path, inCloudBody); status != 400 || !strings.Contains(text, "used all of its turns") {
				t.Errorf("%d %s", status, text)
			}
			r := Told{}
			p.Complete(p.Close(), &r)
			used, _ := prices("claude-x", metadata.Usage{InputTokens: 3*10 + 3*30*5/4, CachedTokens: 60, OutputTokens: 120}, 0)
			if u := r.Usage; u.InputTokens != 120 || u.CachedTokens != 60 || u.OutputTokens != 120 || u.Turns != 3 || u.USD < used*0.99 || u.USD > used*1.01 || r.Limit != "turns" {
				t.Errorf("%+v, want $%v", r, used)
			}
			if asked := j.Asked(); len(asked) != 3 || strings.Contains(strings.Join(asked, "\n"), p.gate.Placeholder()) {
				t.Errorf("asked %q", asked)
			}
			for _, secret := range j.Secrets()[1:] {
				if !slices.Contains(learned, secret) {
					t.Errorf("%s is not masked, but %q", secret, learned)
				}
			}
		})
	}
}

// A budget ends a program in a cloud as well.
func TestBudgetInClouds(t *testing.T) {
	for _, j := range jobs(t) {
		p, ask := j.opened(t, Call{USD: 0.001}, func(string) {})
		ask(j.path, inCloudBody)
		if status, text := ask(j.path, inCloudBody); status != 400 || !strings.Contains(text, "used all of its budget") || <-p.Tell() != process.Done {
			t.Errorf("%s: %d %s", j.name, status, text)
		}
	}
}

// A key is made anew before it ends, and what a cloud says in place of a model or a key is told.
func TestKeysOfCloudsEnd(t *testing.T) {
	for _, j := range jobs(t) {
		t.Run(j.name, func(t *testing.T) {
			p, ask := j.opened(t, Call{}, func(string) {})
			good := func() {
				t.Helper()
				if status, text := ask(j.path, inCloudBody); status != 200 {
					t.Errorf("%d %s", status, text)
				}
			}
			good()
			made := len(j.Secrets())
			good()
			if len(j.Secrets()) != made {
				t.Error("each request has a key of its own")
			}
			f := p.call.Federation
			f.renew = time.Now() // it nears its end
			j.Set(cloudtest.How{Lasts: 2 * time.Second})
			good()
			if len(j.Secrets()) == made || time.Until(f.renew) > time.Second {
				t.Errorf("the key is not made anew, or kept until %v", f.renew)
			}
			time.Sleep(time.Until(f.ends)) // with it, the cloud would refuse
			good()
			j.Set(cloudtest.How{Refuses: true})
			f.renew = time.Now()
			good() // with the one that is still good
			f.renew, f.ends = time.Now(), time.Now()
			if status, text := ask(j.path, inCloudBody); status != 502 || !strings.Contains(text, "the identity of the job is not taken for a key: "+strings.TrimPrefix(j.URL, "http://")) {
				t.Errorf("%d %s", status, text)
			}
		})
	}
}

// A cloud that has no room, or does not work, is told of as any service is.
func TestTroubleOfClouds(t *testing.T) {
	for _, j := range jobs(t) {
		p, ask := j.opened(t, Call{}, func(string) {})
		for status, want := range map[int]metadata.Class{429: metadata.RateLimited, 403: metadata.Auth, 500: metadata.Network, 503: metadata.Network} {
			j.Set(cloudtest.How{Status: status})
			if got, text := ask(j.path, inCloudBody); got != status || !strings.Contains(text, "Too many requests") {
				t.Errorf("%s: %d %s", j.name, got, text)
			}
			if class, _, _ := MeaningOf("claude", fmt.Sprintf("HTTP %d, : no", status), time.Now()); class != want {
				t.Errorf("%d is %s", status, class)
			}
		}
		if trouble := p.Trouble(); trouble == nil || trouble.Status != 429 || p.Close().Turns != 0 {
			t.Errorf("%s: %+v", j.name, trouble)
		}
	}
}

// An answer in frames that breaks off costs what it may have come to until then, and one with a damaged frame all that
// the request allows.
func TestFramesThatBreak(t *testing.T) {
	for how, most := range map[cloudtest.How]int64{{Cut: true}: 0, {Broken: true}: 90_000} {
		j := jobs(t)[0]
		j.Set(how)
		p, ask := j.opened(t, Call{}, func(string) {})
		ask(j.path, strings.Replace(inCloudBody, "100", "90000", 1))
		u := p.Close().Usage["claude-x"]
		if u.Tokens.Input != 10 || u.Tokens.CacheRead != 20 || !u.Estimated || most > 0 && u.Tokens.Output != most || most == 0 && (u.Tokens.Output < 1 || u.Tokens.Output > 60_000) {
			t.Errorf("%+v: %+v", how, u)
		}
	}
}

// What is wrong with the settings, or with what gives a key, is said in one sentence, without what is secret.
func TestFederationInCloudsRefused(t *testing.T) {
	aws, google := jobs(t)[0], jobs(t)[1]
	for name, tt := range map[string]struct {
		j              *job
		variable, with string
		want           string
	}{
		"no region":               {aws, "AWS_REGION", "", "AWS_ROLE_ARN is set without AWS_REGION: set both"},
		"an odd region":           {aws, "AWS_REGION", "x.evil/", `AWS_REGION is no region: "x.evil/"`},
		"no permission":           {aws, "ACTIONS_ID_TOKEN_REQUEST_URL", "", "AWS_ROLE_ARN is set, and there is no identity to give for a key: give the job on GitHub the permission id-token: write"},
		"no token to ask":         {google, "ACTIONS_ID_TOKEN_REQUEST_TOKEN", "", "GCP_WORKLOAD_IDENTITY_PROVIDER is set, and there is no identity"},
		"another role":            {aws, "AWS_ROLE_ARN", "arn:aws:iam::1:role/x", "not taken for a key: HOST answers with 403: AccessDenied: Not authorized to perform sts:AssumeRoleWithWebIdentity with [the key]; the role has to trust this repository and the audience sts.amazonaws.com"},
		"STS without https":       {aws, "AWS_ENDPOINT_URL_STS", "http://sts.test", "has no https"},
		"STS nowhere":             {aws, "AWS_ENDPOINT_URL_STS", "x", "AWS_ENDPOINT_URL_STS is no address"},
		"models without https":    {aws, "ANTHROPIC_BEDROCK_BASE_URL", "http://models.test", "has no https"},
		"STS that is down":        {aws, "AWS_ENDPOINT_URL_STS", "http://127.0.0.1:1", "127.0.0.1:1 gives no answer: "},
		"STS that leads away":     {aws, "AWS_ENDPOINT_URL_STS", "REDIRECT", "answers with 307"},
		"STS that is none":        {aws, "AWS_ENDPOINT_URL_STS", "MODELS", "the answer has none"},
		"no project":              {google, "ANTHROPIC_VERTEX_PROJECT_ID", "", "GCP_WORKLOAD_IDENTITY_PROVIDER is set without ANTHROPIC_VERTEX_PROJECT_ID: set both"},
		"no location":             {google, "CLOUD_ML_REGION", "", "GCP_WORKLOAD_IDENTITY_PROVIDER is set without CLOUD_ML_REGION: set both"},
		"a region for one model":  {google, "VERTEX_REGION_CLAUDE_HAIKU_4_5", "us-east1", "VERTEX_REGION_CLAUDE_HAIKU_4_5 is set, and with GCP_WORKLOAD_IDENTITY_PROVIDER all models are asked in the region of CLOUD_ML_REGION: unset it"},
		"another provider":        {google, "GCP_WORKLOAD_IDENTITY_PROVIDER", "projects/2/x", "GitHub does not give the job its identity: HOST answers with 401"},
		"another service account": {google, "GCP_SERVICE_ACCOUNT", "x@y", "not taken for a key: HOST answers with 403: Permission 'iam.serviceAccounts.getAccessToken' denied; the provider has to take this repository, and the service account has to let it in"},
		"IAM without https":       {google, "GHA_ENDPOINT_OVERRIDE_iamcredentials", "http://iam.test", "has no https"},
	} {
		away := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/away" {
				t.Errorf("%s: the identity was sent on", name)
			}
			http.Redirect(w, r, "/away", http.StatusTemporaryRedirect)
		}))
		xml := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "<a/>") }))
		value := strings.NewReplacer("REDIRECT", away.URL, "MODELS", xml.URL).Replace(tt.with)
		f := Federate("claude", cloudtest.With(tt.j.env, tt.variable, value), func(string) {})
		if f == nil {
			t.Errorf("%s: no key is made", name)
			continue
		}
		err := f.Check()
		want := strings.ReplaceAll(tt.want, "HOST", strings.TrimPrefix(tt.j.URL, "http://"))
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") || slices.ContainsFunc(tt.j.Secrets(), func(s string) bool { return strings.Contains(err.Error(), s) }) || len(tt.j.Asked()) > 0 {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
		away.Close()
		xml.Close()
	}
	google.Set(cloudtest.How{Refuses: true})
	if err := Federate("claude", google.env, func(string) {}).Check(); err == nil || !strings.Contains(err.Error(), "invalid_target: the audience does not fit [the key]; the provider has to") {
		t.Error(err)
	}
}

// With a login of its own a program goes to a cloud as it would, and without the variable that leads there nobody asks for
// a key of it.
func TestOtherWaysToClouds(t *testing.T) {
	for _, j := range jobs(t) {
		own := map[string][]string{"bedrock": {"AWS_ACCESS_KEY_ID=a", "AWS_PROFILE=a", "AWS_WEB_IDENTITY_TOKEN_FILE=a", "AWS_BEARER_TOKEN_BEDROCK=a", "CLAUDE_CODE_SKIP_BEDROCK_AUTH=1"}, "vertex": {"GOOGLE_APPLICATION_CREDENTIALS=a", "CLAUDE_CODE_SKIP_VERTEX_AUTH=1"}}[j.name]
		for _, kv := range own {
			env := append(slices.Clone(j.env), kv)
			if Federate("claude", env, nil) != nil || len(heldBy("claude", env)) != 1 {
				t.Errorf("with %s, a key is made, or %q holds none", kv, heldBy("claude", env))
			}
			if p := openedPassage(t, Call{Agent: "claude", Env: env}); !slices.Equal(p.Env, env) {
				t.Errorf("with %s, the program has %q", kv, p.Env)
			}
		}
		if Federate("claude", cloudtest.With(j.env, "GITHUB_ACTIONS", ""), nil) != nil {
			t.Error("a key is made where there is no job")
		}
		leads := map[string]string{"bedrock": "CLAUDE_CODE_USE_BEDROCK", "vertex": "CLAUDE_CODE_USE_VERTEX"}[j.name]
		if Federate("claude", cloudtest.With(j.env, leads, ""), nil) != nil || Federate("codex", j.env, nil) != nil {
			t.Error("a key is made that nobody asks for")
		}
		for _, f := range LoginFiles("claude", "/home", j.env) {
			if strings.Contains(f.From, ".aws") || strings.Contains(f.From, "gcloud") {
				t.Errorf("the program is given %s", f.From)
			}
		}
		home := t.TempDir()
		testenv.Must(t, os.MkdirAll(filepath.Join(home, ".claude"), 0o700))
		testenv.Must(t, os.WriteFile(filepath.Join(home, ".claude/settings.json"), []byte("{}"), 0o600))
		if by := heldBy("claude", append(j.env, "HOME="+home)); len(by) > 0 {
			t.Errorf("the program holds %q", by)
		}
	}
}

// A key of Anthropic's is kept outside where a program asks a cloud.
func TestOtherKeysInClouds(t *testing.T) {
	for _, j := range jobs(t) {
		j.env = append(j.env, "ANTHROPIC_API_KEY=sesame")
		p, ask := j.opened(t, Call{}, func(string) {})
		if status, text := ask(j.path, inCloudBody); status != 200 || strings.Contains(strings.Join(p.Env, "\n"), "sesame") {
			t.Errorf("%d %s, %q", status, text, p.Env)
		}
	}
}

func TestAddressesOfClouds(t *testing.T) {
	for region, want := range map[string]string{
		"global": "https://aiplatform.googleapis.com/v1", "eu": "https://aiplatform.eu.rep.googleapis.com/v1", "us-east5": "https://us-east5-aiplatform.googleapis.com/v1",
	} {
		f := Federate("claude", []string{"GITHUB_ACTIONS=true", "CLAUDE_CODE_USE_VERTEX=1", "GCP_WORKLOAD_IDENTITY_PROVIDER=p", "CLOUD_ML_REGION=" + region}, nil)
		if at, err := f.base(); err != nil || at.String() != want {
			t.Errorf("%s: %v, %v", region, at, err)
		}
	}
	f := Federate("claude", []string{"GITHUB_ACTIONS=true", "CLAUDE_CODE_USE_BEDROCK=1", "AWS_ROLE_ARN=r", "AWS_REGION=eu-central-1"}, nil)
	if at, err := f.base(); err != nil || at.String() != "https://bedrock-runtime.eu-central-1.amazonaws.com" {
		t.Errorf("%v, %v", at, err)
	}
}

// A model has the name that it has at its maker.
func TestModelName(t *testing.T) {
	for name, want := range map[string]string{
		"us.anthropic.claude-sonnet-4-5-20250929-v1:0": "claude-sonnet-4-5-20250929", "anthropic.claude-3-haiku-20240307-v1:0": "claude-3-haiku-20240307",
		"global.anthropic.claude-opus-4-6-v1": "claude-opus-4-6", "anthropic.claude-opus-4-6": "claude-opus-4-6", "claude-opus-4-5@20251101": "claude-opus-4-5",
		"claude-opus-4-6@default": "claude-opus-4-6", "claude-haiku-4-5": "claude-haiku-4-5", "deepseek-v3": "deepseek-v3", "gpt-5": "gpt-5", "a@b": "a@b",
	} {
		if got := ModelName(name); got != want {
			t.Errorf("%s is %s", name, got)
		}
	}
	if !sameModel("haiku", "us.anthropic.claude-haiku-4-5-20251001-v1:0") || !sameModel("claude-haiku-4-5", "claude-haiku-4-5@20251001") || sameModel("claude-haiku-4-5", "us.anthropic.claude-opus-4-6-v1") {
		t.Error("models are not told apart")
	}
}

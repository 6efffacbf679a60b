package agents

import (
	"encoding/base64"
	"encoding/json"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/reprise-ci/reprise/internal/gate"
	"github.com/reprise-ci/reprise/internal/process"
	"github.com/reprise-ci/reprise/internal/sandbox"
)

// renewal says which fields of a login's file a program changes when it renews the login, see
// programs.yaml.
type renewal struct {
	Tokens, Free []string
	Clock        string
}

// renews reports whether the file after holds the login of the file before with newer tokens, and is else the same, as
// far as a file tells.
func (r renewal) renews(before, after []byte) bool {
	old, fresh := fieldsOfJSON(before), fieldsOfJSON(after)
	if old == nil || fresh == nil || !later(old[r.Clock], fresh[r.Clock]) {
		return false
	}
	for name := range fresh {
		if _, had := old[name]; !had && !slices.Contains(r.Free, name) {
			return false
		}
	}
	for name, was := range old {
		is := fresh[name]
		switch {
		case name == r.Clock || slices.Contains(r.Free, name):
		case slices.Contains(r.Tokens, name):
			if !sameKind(was, is) {
				return false
			}
		case !reflect.DeepEqual(was, is):
			return false
		}
	}
	return true
}

// fieldsOfJSON gives the fields of an object and of the objects in it, or nil
// for what is no object.
func fieldsOfJSON(data []byte) map[string]any {
	var object map[string]any
	if json.Unmarshal(data, &object) != nil {
		return nil
	}
	out := map[string]any{}
	var add func(prefix string, object map[string]any)
	add = func(prefix string, object map[string]any) {
		for name, value := range object {
			if inner, ok := value.(map[string]any); ok {
				add(prefix+name+".", inner)
			} else {
				out[prefix+name] = value
			}
		}
	}
	add("", object)
	return out
}

// later reports whether a time has moved on: a number, or text as RFC 3339 has it.
func later(before, after any) bool {
	switch was := before.(type) {
	case float64:
		is, ok := after.(float64)
		return ok && is > was
	case string:
		is, _ := after.(string)
		old, err1 := time.Parse(time.RFC3339, was)
		fresh, err2 := time.Parse(time.RFC3339, is)
		return err1 == nil && err2 == nil && fresh.After(old)
	}
	return false
}

// sameKind reports whether a token can be the next one of another.
func sameKind(before, after any) bool {
	was, ok1 := before.(string)
	is, ok2 := after.(string)
	if !ok1 || !ok2 || is == "" {
		return reflect.DeepEqual(before, after)
	}
	for _, prefix := range []string{"sk-ant-oat", "sk-ant-ort", "ya29.", "1//", "rt_"} {
		if strings.HasPrefix(was, prefix) != strings.HasPrefix(is, prefix) {
			return false
		}
	}
	return reflect.DeepEqual(account(was), account(is))
}

// account is whom a token is for if it is a JWT, else nil: who made it, for whom, and the account that OpenAI names.
func account(token string) []any {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil
	}
	data, err := base64.RawURLEncoding.DecodeString(parts[1])
	var claims map[string]any
	if err != nil || json.Unmarshal(data, &claims) != nil {
		return nil
	}
	openAI, _ := claims["https://api.openai.com/auth"].(map[string]any)
	return []any{claims["iss"], claims["sub"], openAI["chatgpt_account_id"]}
}

// minSecret is the length from which a text of a login is a secret, in bytes.
const minSecret = 16

// secretsIn lists the secrets in a login or in settings: all long texts of a login but for its kind, and in settings
// those whose name says so.
func secretsIn(f login, data []byte) (out []string) {
	note := func(name, value string) {
		if len(value) >= minSecret && (f.secret && !slices.Contains(plainFields(), strings.ToLower(name)) || namesSecret(name)) {
			out = append(out, value)
		}
	}
	var any any
	if json.Unmarshal(data, &any) == nil {
		eachText("", any, note)
		return out
	}
	for line := range strings.Lines(string(data)) { // as .aws/credentials and config.toml are written
		if name, value, ok := strings.Cut(line, "="); ok {
			note(strings.TrimSpace(name), strings.Trim(strings.TrimSpace(value), `"'`))
		}
	}
	return out
}

// eachText visits the texts of a JSON value with the names of their fields.
func eachText(name string, value any, visit func(name, value string)) {
	switch v := value.(type) {
	case string:
		visit(name, v)
	case []any:
		for _, one := range v {
			eachText(name, one, visit)
		}
	case map[string]any:
		for field, one := range v {
			eachText(field, one, visit)
		}
	}
}

// plainFields are those of a login whose texts may stand anywhere, in small
// letters.
func plainFields() []string {
	return []string{
		"scope", "scopes", "token_type", "subscriptiontype", "ratelimittier", "auth_mode", "type", "last_refresh",
		"client_id", "client_email", "project_id", "quota_project_id", "universe_domain", "account",
		"auth_uri", "token_uri", "auth_provider_x509_cert_url", "client_x509_cert_url", "region",
	}
}

func namesSecret(name string) bool {
	name = strings.ToUpper(name)
	return slices.ContainsFunc([]string{"KEY", "TOKEN", "SECRET", "PASSWORD"}, func(end string) bool { return strings.HasSuffix(name, end) })
}

// login is a file of the user's that a program needs in its own home.
type login struct {
	*sandbox.File
	secret bool // it is a login, and no settings
}

// logins lists the files of an agent: its login, and the settings that decide
// how it reaches its service.
func logins(agent, home string, env []string) (out []login) {
	for _, f := range gate.LoginFiles(agent, home, env) {
		file := &sandbox.File{From: f.From, To: f.To}
		if f.Renewed {
			file.Renews = programs()[agent].Renewal.renews
		}
		if agent == "gemini" && filepath.Base(f.From) == "settings.json" && process.Lookup(env, "GEMINI_API_KEY") != "" {
			file.Shape = chosenKey
		}
		out = append(out, login{file, f.Login})
	}
	return out
}

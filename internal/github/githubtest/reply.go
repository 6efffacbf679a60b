package githubtest

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
)

// docs is where GitHub explains its answers.
const docs = "https://docs.github.com/rest"

// object is a JSON object.
type object = map[string]any

// result is what becomes of a request.
type result struct {
	status      int
	value       any               // nil: no body
	header      map[string]string // besides the usual ones
	permissions string            // that would have let it in
}

func ok(value any) result      { return result{status: http.StatusOK, value: value} }
func created(value any) result { return result{status: http.StatusCreated, value: value} }
func nothing() result          { return result{status: http.StatusNoContent} }
func notFound() result         { return refuse(http.StatusNotFound, "Not Found") }

// refuse is what GitHub says when it does not do what was asked for.
func refuse(status int, message string) result {
	return result{status: status, value: object{"message": message, "documentation_url": docs, "status": fmt.Sprint(status)}}
}

// invalid refuses with the reasons that GitHub gives for what was sent.
func invalid(reasons ...object) result {
	r := refuse(http.StatusUnprocessableEntity, "Validation Failed")
	r.value.(object)["errors"] = reasons
	return r
}

// reply is an answer on its way out.
type reply struct {
	status int
	header map[string]string
	body   []byte
}

// reply makes a reply of a result.
func (v *visit) reply(r result) reply {
	out := reply{status: r.status, header: map[string]string{}}
	maps.Copy(out.header, r.header)
	if r.permissions != "" {
		out.header["X-Accepted-GitHub-Permissions"] = r.permissions
	}
	if r.value != nil {
		var err error
		if out.body, err = json.Marshal(r.value); err != nil {
			v.host.Errorf("githubtest: encode the answer to %s: %v", v.in.path, err)
		}
		out.header["Content-Type"] = "application/json; charset=utf-8"
	}
	return out
}

// ifNew adds the tag by which an answer can be asked for again, and takes the
// body away if the client has it.
func (r *reply) ifNew(in *incoming) {
	if in.method != http.MethodGet || r.status != http.StatusOK {
		return
	}
	tag := fmt.Sprintf(`W/"%x"`, sha256.Sum256(r.body))
	r.header["ETag"] = tag
	if strings.TrimPrefix(in.tag, "W/") == strings.TrimPrefix(tag, "W/") {
		r.status, r.body = http.StatusNotModified, nil
		delete(r.header, "Content-Type")
	}
}

func (r reply) send(w http.ResponseWriter) {
	for name, value := range r.header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(r.status)
	_, _ = w.Write(r.body) // the client may be gone
}

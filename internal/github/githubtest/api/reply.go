package api

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"strings"
)

// Reply is an answer on its way out.
type Reply struct {
	Status int
	Header map[string]string
	Body   []byte
}

// reply makes a reply of a result.
func (r Result) reply() (Reply, error) {
	out := Reply{Status: r.status, Header: map[string]string{}}
	maps.Copy(out.Header, r.header)
	if r.permissions != "" {
		out.Header["X-Accepted-GitHub-Permissions"] = r.permissions
	}
	if r.value == nil {
		return out, nil
	}
	out.Header["Content-Type"] = "application/json; charset=utf-8"
	var err error
	out.Body, err = json.Marshal(r.value)
	return out, err
}

// ifNew adds the tag by which an answer can be asked for again, and takes the
// body away if the client has it.
func (r *Reply) ifNew(in *Incoming) {
	if in.Method != http.MethodGet || r.Status != http.StatusOK {
		return
	}
	tag := fmt.Sprintf(`W/"%x"`, sha256.Sum256(r.Body))
	r.Header["ETag"] = tag
	if strings.TrimPrefix(in.Tag, "W/") == strings.TrimPrefix(tag, "W/") {
		r.Status, r.Body = http.StatusNotModified, nil
		delete(r.Header, "Content-Type")
	}
}

// Done reports whether what was asked for was done.
func (r Reply) Done() bool { return r.Status < 300 }

// Send sends it.
func (r Reply) Send(w http.ResponseWriter) {
	for name, value := range r.Header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(r.Status)
	_, _ = w.Write(r.Body) // the client may be gone
}

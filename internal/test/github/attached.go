package github

import (
	"fmt"
	"html"
	"net/http"
	"strings"
	"sync"
)

// Attached is what people have attached to the texts of a server: where it is had, and how that
// stands in the HTML of a text.
type Attached struct {
	server *Server
	host   Host

	mu    sync.Mutex
	files map[string][]byte // by path and query
	plain map[string]string // the signed addresses, by those that stand in texts
	asked []string          // in the order of requests
}

// Attach makes a server keep what is attached.
func Attach(host Host, s *Server) *Attached {
	a := &Attached{server: s, host: host, files: map[string][]byte{}, plain: map[string]string{}}
	s.Beside, s.Shown = a.answer, a.shown
	return a
}

// Add keeps a file, and gives its address as it stands in texts. Everybody gets it there, or if
// it is private at the address alone that the HTML of the text has.
func (a *Attached) Add(id string, data []byte, private bool) (address string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	path, signed := "/user-attachments/assets/"+id, "/signed/"+id+".png?jwt=key&v=1"
	a.files[signed] = data
	if !private {
		a.files[path] = data
	}
	a.plain[a.server.URL+path] = a.server.URL + signed
	return a.server.URL + path
}

// Remove forgets all files: their addresses lead nowhere.
func (a *Attached) Remove() {
	a.mu.Lock()
	defer a.mu.Unlock()
	clear(a.files)
}

// Asked lists the paths of files that were asked for.
func (a *Attached) Asked() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]string(nil), a.asked...)
}

// answer answers for files, and nothing else.
func (a *Attached) answer(w http.ResponseWriter, r *http.Request) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !strings.HasPrefix(r.URL.Path, "/user-attachments/") && !strings.HasPrefix(r.URL.Path, "/signed/") {
		return false
	}
	a.asked = append(a.asked, r.URL.Path)
	if r.Header.Get("Authorization") != "" {
		a.host.Errorf("githubtest: a token was sent to %s", r.URL.Path)
	}
	data, ok := a.files[r.URL.RequestURI()]
	if !ok {
		http.NotFound(w, r)
		return true
	}
	_, _ = w.Write(data)
	return true
}

// shown gives the HTML of a text, as far as it matters here.
func (a *Attached) shown(text string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := html.EscapeString(text)
	for plain, signed := range a.plain {
		out = strings.ReplaceAll(out, plain, fmt.Sprintf(`<img src="%s">`, html.EscapeString(signed)))
	}
	return "<p>" + out + "</p>"
}

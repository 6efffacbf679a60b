package git

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A remote that sends without end is told in a sentence, before git has taken much of the machine's memory: where the
// greeting has no end, and where the branches have none.
func TestARemoteThatFloods(t *testing.T) {
	packet := func(text string) string { return fmt.Sprintf("%04x%s", len(text)+4, text) }
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, ask *http.Request) {
		w.Header().Set("Content-Type", "application/x-git-upload-pack-"+map[string]string{"GET": "advertisement", "POST": "result"}[ask.Method])
		if ask.Method == "GET" && strings.HasPrefix(ask.URL.Path, "/branches/") {
			_, _ = io.WriteString(w, packet("# service=git-upload-pack\n")+"0000"+packet("version 2\n")+packet("ls-refs\n")+packet("object-format=sha1\n")+"0000")
			return
		}
		for n, err := 0, error(nil); err == nil && n < 300_000; n++ {
			_, err = io.WriteString(w, packet(fmt.Sprintf("%040x refs/heads/%d-%s\n", n, n, strings.Repeat("x", 900))))
		}
	}))
	defer server.Close()
	user := newUser(t, map[string]string{"a": "a"})
	src := found(t, user)
	for _, what := range []string{"greeting", "branches"} {
		at := server.URL + "/" + what + "/r.git"
		_, err := line{src: src, remote: &remote{name: "origin", fetch: at}, memory: 64 << 10}.do(t.Context(), call{Dir: user, Args: []string{"ls-remote", at}})
		if err == nil || err.Error() != "origin has sent more than git can hold: see what answers at its address, and start again" {
			t.Errorf("%s without end: %v", what, err)
		}
	}
}
